"""The errors of extenders."""

from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.cluster import UnknownOutcomeError

__all__ = ["ExtenderError", "LostAnswerError"]


class ExtenderError(QuaymasterError):
    """An extender cannot be reached, or says that it failed."""


class LostAnswerError(ExtenderError, UnknownOutcomeError):
    """An extender was asked, but gave no answer that can be read."""
