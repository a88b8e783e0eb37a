"""The pods of a bench that wait on Permit."""

from collections import deque
from collections.abc import Callable

from quaymaster._core.binding.waiting_pods import WaitingPods
from quaymaster._core.contract.clock import Clock

__all__ = ["WaitingRoom"]


class WaitingRoom:
    """The waiting pods, and the calls by which a plugin allows and rejects them.

    As in an engine, these calls take effect after the hook that makes them.

    Args:
        clock: Runs the deadlines.
        plugin: The name of the only plugin.

    Attributes:
        pods: The waiting pods.
    """

    def __init__(self, clock: Clock, plugin: str) -> None:
        self._calls: deque[Callable[[], None]] = deque()
        self.pods = WaitingPods(clock, self._calls.append)
        self.pods.rejecting = frozenset([plugin])

    def settle(self) -> None:
        """Run the calls, and those that they lead to."""
        while self._calls:
            self._calls.popleft()()

    def drop(self) -> None:
        """Forget the calls."""
        self._calls.clear()
