"""The pods of a bench that wait on Permit."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from quaymaster._core.binding.waiting_pods import WaitingPods
from quaymaster._core.contract.clock import Clock

__all__ = ["OTHER_WAIT_SECONDS", "WaitingRoom"]

OTHER_WAIT_SECONDS: Final = 300.0
"""The timeout of the other Permit plugin."""

_OTHER: Final = "AnotherPermitPlugin"


class WaitingRoom:
    """The waiting pods, and the calls by which a plugin allows and rejects them.

    As in an engine, these calls take effect after the hook that makes them.

    Args:
        clock: Runs the deadlines.
        plugin: The name of the plugin under test.
        has_other: Whether another Permit plugin lets every pod wait.

    Attributes:
        pods: The waiting pods.
        other_waits: The other plugin -> its timeout; empty without it.
    """

    def __init__(self, clock: Clock, plugin: str, *, has_other: bool = False) -> None:
        self.other_waits: Mapping[str, float] = (
            {_OTHER: OTHER_WAIT_SECONDS} if has_other else {}
        )
        self._calls: deque[Callable[[], None]] = deque()
        self.pods = WaitingPods(clock, self._calls.append)
        self.pods.rejecting = frozenset([plugin])

    def end_other_wait(self) -> None:
        """Let the other plugin allow the pod that has waited longest."""
        for waiting in self.pods:
            for plugin in self.other_waits:
                waiting.allow(plugin)
            break
        self.settle()

    def settle(self) -> None:
        """Run the calls, and those that they lead to."""
        while self._calls:
            self._calls.popleft()()

    def drop(self) -> None:
        """Forget the calls."""
        self._calls.clear()
