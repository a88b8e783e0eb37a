"""A plugin that does something once, at an extension point of the test's choice."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import ClassVar

from quaymaster import Handle, Pod, Status, hookimpl
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER

__all__ = ["ERROR", "PHASES", "PROBING", "REJECTION", "Prober", "probed"]

REJECTION = Status.unschedulable("not yet")
ERROR = Status.from_error("broken")
PHASES = [
    "pre_enqueue",
    "pre_filter",
    "filter",
    "post_filter",
    "pre_score",
    "reserve",
    "permit",
    "pre_bind_pre_flight",
    "pre_bind",
    "bind",
    "post_bind",
]
"""The extension points at which a `Prober` can do something."""


def _before(last: str) -> dict[str, object]:
    enabled = [{"name": "Prober"}, {"name": last}]
    return {"disabled": [{"name": "*"}], "enabled": enabled}


PROBING: Mapping[str, object] = {
    "multiPoint": {"enabled": [{"name": "Prober"}]},
    "bind": _before("DefaultBinder"),
    "postFilter": _before("DefaultPreemption"),
}
"""The plugins of a profile that calls the prober first where the order matters."""


class Prober:
    """Acts once at one extension point for the pod 'p', and returns the result there.

    Attributes:
        act: Acts, and returns the hook's result.
        is_over: Whether it has acted.
        refused: The status for all nodes, after the first node was rejected.
        made: The number of probers so far.
        held: Number of the prober and uid -> how many places it has reserved for the
            pod.
        unreserved: The pods whose places were given back, in order.
    """

    phase: ClassVar[str]
    act: ClassVar[Callable[[], Status | None]]
    is_over: ClassVar[bool]
    refused: ClassVar[Status | None]
    made: ClassVar[int]
    held: ClassVar[Counter[tuple[int, str]]]
    unreserved: ClassVar[list[str]]

    def __init__(self, args: None, handle: Handle) -> None:
        Prober.made += 1
        self.number = Prober.made

    def act_at(self, phase: str, pod: Pod) -> Status | None:
        """Act if this is the extension point, and return the result."""
        if pod.name != "p" or Prober.is_over:
            return None
        if phase == "filter" and Prober.phase == "post_filter":
            return REJECTION
        if phase != Prober.phase:
            return None
        Prober.is_over = True
        return Prober.act()

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> None:
        self.act_at("pre_enqueue", pod)

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        Prober.refused = None
        return self.act_at("pre_filter", pod)

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        Prober.refused = Prober.refused or self.act_at("filter", pod)
        return Prober.refused

    @hookimpl
    def post_filter(self, pod: Pod) -> Status:
        return self.act_at("post_filter", pod) or REJECTION

    @hookimpl
    def pre_score(self, pod: Pod) -> Status | None:
        return self.act_at("pre_score", pod)

    @hookimpl
    def score(self) -> int:
        return 0

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        Prober.held[self.number, pod.uid] += 1
        return self.act_at("reserve", pod)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        Prober.held[self.number, pod.uid] -= 1
        Prober.unreserved.append(pod.name)

    @hookimpl
    def permit(self, pod: Pod) -> Status | None:
        return self.act_at("permit", pod)

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod) -> Status | None:
        return self.act_at("pre_bind_pre_flight", pod)

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status | None:
        return self.act_at("pre_bind", pod)

    @hookimpl
    def bind(self, pod: Pod) -> Status:
        return self.act_at("bind", pod) or Status.skip()

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.act_at("post_bind", pod)


def probed(
    phase: str,
    act: Callable[[SchedulerHarness], Status | None],
    *,
    config: Mapping[str, object] | None = None,
    prober: type[Prober] = Prober,
) -> SchedulerHarness:
    """Make a cluster of two nodes; the pod 'p' is the next to be scheduled.

    Args:
        phase: The extension point at which the prober acts.
        act: Acts, and returns the hook's result.
        config: The configuration; by default one profile with the prober.
        prober: The plugin's class.

    Returns:
        The harness.
    """
    Prober.phase, Prober.is_over, Prober.refused = phase, False, None
    Prober.made, Prober.held, Prober.unreserved = 0, Counter(), []
    harness = SchedulerHarness(
        [make_node(name="a"), make_node(name="b")],
        plugins={"Prober": prober},
        config=config or {**HEADER, "profiles": [{"plugins": PROBING}]},
    )
    Prober.act = staticmethod(lambda: act(harness))
    harness.cluster.create(make_pod(name="p", uid="first"))
    return harness
