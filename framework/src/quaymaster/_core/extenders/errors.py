"""The errors of extenders."""

from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.cluster import UnknownOutcomeError

__all__ = ["ExtenderError", "LostAnswerError"]


class ExtenderError(QuaymasterError):
    """An extender cannot be reached, or reported a failure."""


class LostAnswerError(ExtenderError, UnknownOutcomeError):
    """An extender got a request, but sent no response that can be read."""
