"""When a rule of the cluster keeps a pod or claim out."""

from quaymaster._errors import QuaymasterError

__all__ = ["Refusal"]


class Refusal(QuaymasterError):
    """What an admission plugin says of an object that it does not let in."""
