"""The errors of extenders."""

from quaymaster._contract.cluster import UnknownOutcomeError
from quaymaster._errors import QuaymasterError

__all__ = ["ExtenderError", "LostAnswerError"]


class ExtenderError(QuaymasterError):
    """An extender cannot be reached, or says that it failed."""


class LostAnswerError(ExtenderError, UnknownOutcomeError):
    """An extender was asked, but gave no answer that can be read."""
