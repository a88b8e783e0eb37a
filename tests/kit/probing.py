"""A plugin that does something at one moment of an attempt, whichever a test likes."""

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
"""The plugins of a profile in which the prober is asked first where that matters."""


class Prober:
    """Does something at one extension point, once, for the pod 'p'; and answers there.

    Attributes:
        phase: The extension point.
        act: What it does, and the answer.
        is_over: Whether it has done so.
        refused: What it says of all nodes, once it has said so of one.
        made: How many there have been.
        held: Number of the prober and uid -> how often a place is reserved for the pod.
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

    def told(self, phase: str, pod: Pod) -> Status | None:
        """Act if this is the moment, and answer."""
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
        self.told("pre_enqueue", pod)

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        Prober.refused = None
        return self.told("pre_filter", pod)

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        Prober.refused = Prober.refused or self.told("filter", pod)
        return Prober.refused

    @hookimpl
    def post_filter(self, pod: Pod) -> Status:
        return self.told("post_filter", pod) or REJECTION

    @hookimpl
    def pre_score(self, pod: Pod) -> Status | None:
        return self.told("pre_score", pod)

    @hookimpl
    def score(self) -> int:
        return 0

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        Prober.held[self.number, pod.uid] += 1
        return self.told("reserve", pod)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        Prober.held[self.number, pod.uid] -= 1
        Prober.unreserved.append(pod.name)

    @hookimpl
    def permit(self, pod: Pod) -> Status | None:
        return self.told("permit", pod)

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod) -> Status | None:
        return self.told("pre_bind_pre_flight", pod)

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status | None:
        return self.told("pre_bind", pod)

    @hookimpl
    def bind(self, pod: Pod) -> Status:
        return self.told("bind", pod) or Status.skip()

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.told("post_bind", pod)


def probed(
    phase: str,
    act: Callable[[SchedulerHarness], Status | None],
    *,
    config: Mapping[str, object] | None = None,
    prober: type[Prober] = Prober,
) -> SchedulerHarness:
    """A cluster of two nodes, on which the pod 'p' is about to be tried.

    Args:
        phase: When the prober does something.
        act: What it does, and the answer that it gives.
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
