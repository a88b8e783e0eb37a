"""The error of trials."""

from quaymaster._base.errors import QuaymasterError

__all__ = ["TrialError"]


class TrialError(QuaymasterError):
    """A state that a trial cannot save, or a call that a trial does not allow."""
