"""A plugin that gives pods numbered berths of a harbour, and mistakes in it.

Nodes offer any number of them, but the pods of a harbour share its numbers.
"""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    CycleState,
    EventsOf,
    Handle,
    NodeInfo,
    Pod,
    PreFilterResult,
    QueueingHint,
    StateKey,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.scheduler import Timer
from quaymaster.testing import clusters, make_metadata, make_pod, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = [
    "BERTH_MISTAKES",
    "OWN",
    "SHIPS_ON_NODES",
    "Berths",
    "FewBerths",
    "OpensLate",
]

HARBOUR, BERTH = "example.com/harbour", "example.com/berth"
CLOSED = Status.unresolvable("the harbour is closed")
FULL = Status.unschedulable("the node has too many ships")
MOST = 2


class Harbour(ApiObject, frozen=True, kw_only=True):
    """A harbour that is open, on some nodes."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Harbour"
    plural: ClassVar[str] = "harbours"
    namespaced: ClassVar[bool] = False

    nodes: tuple[str, ...] = ()


class Ships:
    """The number of ships on each node, which is copied with the state."""

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts

    def clone(self) -> "Ships":
        return Ships(dict(self.counts))


SHIPS = StateKey[Ships]("Berths/ships")


class Ledger:
    """The berth of each pod, by its uid."""

    def __init__(self) -> None:
        self.berths: dict[str, int | None] = {}


class Berths(Plugin):
    """Correct: ships wait for their harbour, and get its lowest free number."""

    kinds = (Harbour,)
    opens_gates_itself = True

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.berths = handle.shared(Ledger, Ledger).berths
        handle.informers.on_change(Pod, self.follow)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Read a change of a pod."""
        if old is not None and (new is None or new.uid != old.uid):
            self.berths.pop(old.uid, None)
        if new is not None and new.node_name:
            if new.is_finished or HARBOUR not in new.labels:
                self.berths.pop(new.uid, None)
            else:
                self.berths[new.uid] = self.berth_of(new)

    def berth_of(self, pod: Pod) -> int | None:
        """Return the berth of a pod that runs."""
        text = pod.annotations.get(BERTH, "")
        return int(text) if text in ("0", "1", "2", "3", "4") else None

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return CLOSED if HARBOUR in pod.labels and not self.harbour(pod) else None

    def harbour(self, pod: Pod) -> Harbour | None:
        """Return the harbour of a pod."""
        return self.handle.informers.get(Harbour, pod.labels.get(HARBOUR, ""))

    @hookimpl
    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> PreFilterResult | Status | None:
        if HARBOUR not in pod.labels:
            return Status.skip()
        harbour = self.harbour(pod)
        if harbour is None:
            return CLOSED
        state[SHIPS] = Ships(
            {
                info.name: sum(self.is_counted(each) for each in info.pods.values())
                for info in self.handle.snapshot
            }
        )
        return self.nodes(pod, harbour)

    def is_counted(self, pod: Pod) -> bool:
        """Return whether a pod takes room at its node."""
        return HARBOUR in pod.labels

    def nodes(self, pod: Pod, harbour: Harbour) -> PreFilterResult | None:
        """Return the nodes of a harbour; None for all nodes."""
        names = frozenset(harbour.nodes)
        return PreFilterResult(node_names=names) if names else None

    @hookimpl
    def add_pod(self, state: CycleState, pod_to_add: Pod, node: NodeInfo) -> None:
        state[SHIPS].counts[node.name] += HARBOUR in pod_to_add.labels

    @hookimpl
    def remove_pod(self, state: CycleState, pod_to_remove: Pod, node: NodeInfo) -> None:
        state[SHIPS].counts[node.name] -= HARBOUR in pod_to_remove.labels

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        return FULL if state[SHIPS].counts[node.name] >= MOST else None

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod) -> None:
        if HARBOUR in pod.labels:
            taken = {self.berths[uid] for uid in self.berths if uid != pod.uid}
            berth = next(number for number in range(100) if number not in taken)
            self.berths[pod.uid] = berth
            state.annotate(BERTH, str(berth))

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid != pod.uid or not stored.node_name:
            self.berths.pop(pod.uid, None)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            EventsOf(Harbour)(Change.ADD | Change.UPDATE),
            on_pod(Change.DELETE | Change.UPDATE_POD_LABEL),
            on_node(Change.ADD),
        ]


class ForgetsNumbers(Berths):
    """Reads of a running pod only that it has a berth."""

    def berth_of(self, pod: Pod) -> int | None:
        return None


class Logbook:
    """The ships that have come in, by their uids; shared by profiles."""

    def __init__(self) -> None:
        self.berths: dict[str, str] = {}


class LogsShipsForEver(Berths):
    """Takes ships out of its log that have finished, but not those that are deleted."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.log = handle.shared(Logbook, Logbook).berths
        super().__init__(args, handle)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        super().follow(old, new)
        if new is not None and new.is_finished:
            self.log.pop(new.uid, None)
        elif new is not None and new.node_name and BERTH in new.annotations:
            self.log[new.uid] = new.annotations[BERTH]


class CountsNoShipsThatLeave(Berths):
    """Its pre_filter ignores terminating pods, but remove_pod does not."""

    def is_counted(self, pod: Pod) -> bool:
        return HARBOUR in pod.labels and not pod.is_terminating


class KeepsNodesOfTheGate(Berths):
    """Uses the nodes that the harbour had when the pod entered the queue."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.names: dict[str, tuple[str, ...]] = {}
        super().__init__(args, handle)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        super().follow(old, new)
        if old is not None:
            self.names.pop(old.uid, None)

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        harbour = self.harbour(pod)
        if harbour is not None:
            self.names[pod.uid] = harbour.nodes
        return super().pre_enqueue(pod)

    def nodes(self, pod: Pod, harbour: Harbour) -> PreFilterResult | None:
        names = frozenset(self.names.get(pod.uid, harbour.nodes))
        return PreFilterResult(node_names=names) if names else None


class OpensAfterAnHour(Berths):
    """Opens its gate by the clock, and nothing asks it again."""

    def has_waited(self, pod: Pod) -> bool:
        """Return whether a pod has waited long enough."""
        created = pod.metadata.creation_timestamp
        return created is not None and self.handle.clock.now() - created > 3600

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return None if self.has_waited(pod) else super().pre_enqueue(pod)


class OpensByTheFlush(OpensAfterAnHour):
    """Its pods wait for the flush, and with Kubernetes 1.36 for ever."""

    opens_gates_itself = False


class OpensLate(OpensAfterAnHour):
    """Correct: a timer wakes the pod when its gate opens."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.timers: dict[str, Timer] = {}
        super().__init__(args, handle)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Cancel the timers of pods that are gone."""
        super().follow(old, new)
        if old is not None and (new is None or new.uid != old.uid):
            timer = self.timers.pop(old.uid, None)
            if timer is not None:
                timer.cancel()

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        answer, created = super().pre_enqueue(pod), pod.metadata.creation_timestamp
        if answer is not None and created is not None:
            self.open_at(pod, created + 3601)
        return answer

    def open_at(self, pod: Pod, due: float) -> None:
        """Set the timer of a pod, unless it has one."""
        if pod.uid not in self.timers:
            clock = self.handle.clock
            self.timers[pod.uid] = clock.call_at(due, self.handle.changed)


class SetsOneTimer(OpensLate):
    """Pods that come while it waits for the first one get no timer."""

    def open_at(self, pod: Pod, due: float) -> None:
        if not self.timers:
            super().open_at(pod, due)


class WakesTheFirstPod(OpensLate):
    """Of several pods whose gates open at one time, it wakes the first."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.times: set[float] = set()
        super().__init__(args, handle)

    def open_at(self, pod: Pod, due: float) -> None:
        if due not in self.times:
            self.times.add(due)
            self.handle.clock.call_at(due, partial(self.handle.activate, [pod]))


class WakesTooEarly(OpensLate):
    """Its timer is due before the gate opens, and it sets no other."""

    def open_at(self, pod: Pod, due: float) -> None:
        super().open_at(pod, due - 2)


class OpensInTheBackground(OpensLate):
    """A simulation does not wait for its timers."""

    def open_at(self, pod: Pod, due: float) -> None:
        if pod.uid not in self.timers:
            changed = self.handle.changed
            timer = self.handle.clock.call_at(due, changed, background=True)
            self.timers[pod.uid] = timer


class SetsATimerForEachAttempt(OpensLate):
    def open_at(self, pod: Pod, due: float) -> None:
        self.handle.clock.call_at(due, self.handle.changed, background=True)


def _after_pod(pod: Pod, old: Pod, new: Pod | None) -> QueueingHint:
    """Wake pods if another one leaves, or its own labels change."""
    helps = new is None or old.uid == pod.uid
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


class FewBerths(Plugin):
    """Correct: a node has room for the ships whose lengths its annotations name."""

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        lengths = [len(each.annotations.get(BERTH, "")) for each in node.pods.values()]
        need = len(pod.annotations.get(BERTH, ""))
        return FULL if need and sum(lengths) + need > MOST else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod(Change.DELETE | Change.UPDATE), on_node(Change.ADD)]


class WakesOnlyWhenPodsLeave(FewBerths):
    """Its hint skips running pods that need less from now on."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        on_pods = on_pod(Change.DELETE | Change.UPDATE, _after_pod)
        return [on_pods, on_node(Change.ADD)]


def _harbour(name: str, names: tuple[str, ...]) -> Harbour:
    return Harbour(metadata=make_metadata(Harbour, name=name), nodes=names)


OWN = clusters(
    pods=pods({"labels": {HARBOUR: "red"}}),
    objects=st.builds(
        _harbour,
        st.sampled_from(["red", "blue"]),
        st.sampled_from([(), ("n0",), ("n1",)]),
    ),
)
SHIPS_ON_NODES = clusters(
    pods=st.builds(
        make_pod, annotations=st.sampled_from([{BERTH: "0"}, {BERTH: "10"}, {}])
    )
)
BERTH_MISTAKES: Sequence[Mistake] = (
    Mistake(ForgetsNumbers, ["choices"], OWN),
    Mistake(LogsShipsForEver, ["memory"], OWN),
    Mistake(CountsNoShipsThatLeave, ["terminating pods"], OWN),
    Mistake(KeepsNodesOfTheGate, ["staleness"], OWN),
    Mistake(OpensAfterAnHour, ["timed gates"], OWN),
    Mistake(OpensByTheFlush, ["timed gates"], OWN),
    Mistake(OpensInTheBackground, ["timed gates"], OWN),
    Mistake(SetsOneTimer, ["timed gates"], OWN),
    Mistake(WakesTheFirstPod, ["timed gates"], OWN),
    Mistake(WakesTooEarly, ["timed gates"], OWN),
    Mistake(SetsATimerForEachAttempt, ["registrations"], OWN),
    Mistake(WakesOnlyWhenPodsLeave, ["events"], SHIPS_ON_NODES),
)
