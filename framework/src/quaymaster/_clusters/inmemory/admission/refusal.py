"""The refusal of a pod or claim by a rule of the cluster."""

from quaymaster._base.errors import QuaymasterError

__all__ = ["Refusal"]


class Refusal(QuaymasterError):
    """An admission plugin rejects an object."""
