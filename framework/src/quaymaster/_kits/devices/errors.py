"""The errors that end an allocation without a result."""

from quaymaster._base.errors import QuaymasterError

__all__ = ["AllocationError", "InvalidPoolsError", "StepLimitError", "VerdictError"]


class AllocationError(QuaymasterError):
    """A claim cannot be allocated on any node: the whole attempt fails."""


class InvalidPoolsError(QuaymasterError):
    """No devices were found on a node, and one of its pools contradicts itself."""

    def __init__(self) -> None:
        super().__init__("invalid resource pools were encountered")


class StepLimitError(QuaymasterError):
    """The search for devices on a node took more steps than it may.

    Attributes:
        steps: The limit.
    """

    def __init__(self, steps: int) -> None:
        super().__init__(f"no devices were found within {steps} steps")
        self.steps = steps


class VerdictError(QuaymasterError):
    """A selector cannot be compiled, or fails for a device.

    Attributes:
        depends_on_device: Whether it may succeed for another device.
    """

    def __init__(self, problem: str, *, depends_on_device: bool = True) -> None:
        super().__init__(problem)
        self.depends_on_device = depends_on_device
