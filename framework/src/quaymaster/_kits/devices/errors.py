"""What keeps an allocation from an answer."""

from quaymaster._base.errors import QuaymasterError

__all__ = ["AllocationError", "InvalidPoolsError", "StepLimitError", "VerdictError"]


class AllocationError(QuaymasterError):
    """A claim cannot be tried at all: an attempt fails, whatever other nodes say."""


class InvalidPoolsError(QuaymasterError):
    """Nothing was found on a node, and some pool of it contradicts itself."""

    def __init__(self) -> None:
        super().__init__("invalid resource pools were encountered")


class StepLimitError(QuaymasterError):
    """The search for devices on a node took more steps than it may.

    Attributes:
        steps: How many it may take.
    """

    def __init__(self, steps: int) -> None:
        super().__init__(f"no devices were found within {steps} steps")
        self.steps = steps


class VerdictError(QuaymasterError):
    """An expression cannot be compiled, or has no value for a device.

    Attributes:
        depends_on_device: Whether it may have a value for another device.
    """

    def __init__(self, problem: str, *, depends_on_device: bool = True) -> None:
        super().__init__(problem)
        self.depends_on_device = depends_on_device
