"""A plugin that hands out the slots of nodes, and mistakes in it."""

from collections.abc import Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    CycleState,
    Handle,
    Int64Array,
    NodeInfo,
    Pod,
    QueuedPodInfo,
    Scope,
    Status,
    default_normalize,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "SLOT_MISTAKES", "Slots"]

SLOTS, SLOT, WEIGHT = "example.com/slots", "example.com/slot", "example.com/weight"
FULL = Status.unschedulable("node(s) had no free slot")


def _needs_slot(pod: Pod) -> bool:
    return SLOT in pod.labels


class Slots(Plugin):
    """Correct: each pod gets a slot of its node, and keeps it as an annotation."""

    scope = Scope.NODE
    full = FULL

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.taken: dict[str, dict[str, int]] = {}
        handle.informers.on_change(Pod, self._follow)

    def _follow(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and (new is None or new.node_name != old.node_name):
            self._release(old, old.node_name)
        if new is not None and new.node_name and SLOT in new.annotations:
            slots = self.taken.setdefault(new.node_name, {})
            slots[new.uid] = int(new.annotations[SLOT])

    def _release(self, pod: Pod, node_name: str) -> None:
        self.taken.get(node_name, {}).pop(pod.uid, None)

    @hookimpl
    def sign_pod(self, pod: Pod) -> bool:
        return _needs_slot(pod)

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        return None if _needs_slot(pod) else Status.skip()

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        used = sum(map(_needs_slot, node.pods.values()))
        has_room = used < int(node.labels.get(SLOTS, "0"))
        return None if has_room or not _needs_slot(pod) else self.full

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return int(node.labels.get(WEIGHT, "0"))

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return default_normalize(scores)

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        node = self.handle.snapshot.get(node_name)
        if node is None or not _needs_slot(pod):
            return None
        taken = self.taken.setdefault(node_name, {})
        numbers = range(int(node.labels.get(SLOTS, "0")))
        free = [number for number in numbers if number not in taken.values()]
        if not free:
            return self.full
        taken[pod.uid] = free[0]
        state.annotate(SLOT, str(free[0]))
        return None

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid != pod.uid or not stored.node_name:
            self._release(pod, node_name)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_LABEL),
            on_pod(Change.DELETE | Change.UPDATE_POD_LABEL),
        ]


class ReleasesAllSlots(Slots):
    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        self.taken.pop(node_name, None)


class ReleasesSlotsOfBoundPods(Slots):
    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        self._release(pod, node_name)


class NumbersPodsForEver(Slots):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.numbers: dict[str, int] = {}

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        answer = super().reserve(state, pod, node_name)
        if pod.uid in self.taken.get(node_name, {}):
            self.numbers[pod.uid] = self.taken[node_name][pod.uid]
        return answer


class KeepsSlotsOfDeletedPods(Slots):
    def _follow(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None:
            super()._follow(old, new)


class LearnsNoExistingPods(Slots):
    def _follow(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None:
            super()._follow(old, new)


class CallsFullUnresolvable(Slots):
    full = Status.unresolvable("node(s) had no free slot")


class BreaksTiesByPosition(Slots):
    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        normalized = default_normalize(scores)
        for at in range(len(normalized)):
            normalized[at] = max(0, normalized[at] - at)
        return normalized


class SkipsEveryPod(Slots):
    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        return Status.skip()


class FollowsArrivals(Plugin):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float]:
        waiting = [pod for pod in self.handle.informers.list(Pod) if not pod.node_name]
        return -len(waiting), queued.timestamp


OWN = clusters(
    nodes=nodes(
        {"labels": {SLOTS: "2"}},
        {"labels": {SLOTS: "3", WEIGHT: "4"}},
        {"labels": {SLOTS: "1", WEIGHT: "4"}},
    ),
    pods=pods(
        {"labels": {SLOT: "yes"}},
        {"labels": {SLOT: "yes"}, "annotations": {SLOT: "0"}},
        {"labels": {SLOT: "yes"}, "annotations": {SLOT: "1"}},
    ),
)


class RejectsByASnapshot(Slots):
    """Its reserve counts all pods of the node, and needs room for one more."""

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        node = self.handle.snapshot.get(node_name)
        if node is not None and _needs_slot(pod):
            taken = sum(map(_needs_slot, node.pods.values()))
            if taken + 1 > int(node.labels.get(SLOTS, "0")):
                return FULL
        return super().reserve(state, pod, node_name)


SLOT_MISTAKES: Sequence[Mistake] = (
    Mistake(ReleasesAllSlots, ["unreserve"], OWN),
    Mistake(ReleasesSlotsOfBoundPods, ["pod endings"], OWN),
    Mistake(NumbersPodsForEver, ["memory"], OWN),
    Mistake(KeepsSlotsOfDeletedPods, ["staleness"], OWN),
    Mistake(LearnsNoExistingPods, ["choices", "staleness"], OWN),
    Mistake(CallsFullUnresolvable, ["unresolvable"], OWN),
    Mistake(BreaksTiesByPosition, ["normalisation"], OWN),
    Mistake(SkipsEveryPod, ["skipped filter"], OWN),
    Mistake(FollowsArrivals, ["sort keys"]),
    Mistake(RejectsByASnapshot, ["assumed pods"], OWN),
)
