"""A plugin that lends the licences of nodes to pods, and mistakes in it."""

from collections.abc import Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    CycleState,
    Handle,
    NodeInfo,
    Pod,
    QueueingHint,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["LICENCE_MISTAKES", "OWN", "Licences"]

OFFERED, NEEDS, LENT = "example.com/licences", "example.com/needs", "example.com/lent"
NONE_LEFT = Status.unschedulable("node(s) had no licence left")


def _needs(pod: Pod) -> bool:
    return pod.labels.get(NEEDS) == "licence"


def _offered(node: NodeInfo) -> Sequence[str]:
    text = node.node.metadata.annotations.get(OFFERED, "")
    return [name for name in text.split(",") if name]


class Licences(Plugin):
    """Correct: each pod gets a licence, which its annotation names."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.lent: dict[str, dict[str, str]] = {}
        handle.informers.on_change(Pod, self._follow)

    def _follow(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and old.node_name:
            self.lent.get(old.node_name, {}).pop(old.uid, None)
        if new is not None and new.node_name and _needs(new):
            licence = new.annotations.get(LENT)
            if licence is not None:
                self.lent.setdefault(new.node_name, {})[new.uid] = licence

    def used(self, node: NodeInfo) -> int:
        """Count the licences in use."""
        return sum(map(_needs, node.pods.values()))

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        is_full = _needs(pod) and self.used(node) >= len(_offered(node))
        return NONE_LEFT if is_full else None

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return min(100, len(_offered(node)))

    def choose(self, free: Sequence[str]) -> str:
        """Return one of the free licences."""
        return min(free)

    def annotate(self, state: CycleState, licence: str, free: Sequence[str]) -> None:
        """Write the choice."""
        state.annotate(LENT, licence)

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        node = self.handle.snapshot.get(node_name)
        if node is None or not _needs(pod):
            return None
        lent = self.lent.setdefault(node_name, {})
        free = [name for name in _offered(node) if name not in lent.values()]
        if not free:
            return NONE_LEFT
        lent[pod.uid] = self.choose(free)
        self.annotate(state, lent[pod.uid], free)
        return None

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid != pod.uid or not stored.node_name:
            self.lent.get(node_name, {}).pop(pod.uid, None)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_ANNOTATION),
            on_pod(Change.DELETE | Change.UPDATE_POD_LABEL, self.after_change),
        ]

    def after_change(self, pod: Pod, old: Pod, new: Pod | None) -> QueueingHint:
        """Queue pods after a pod that may have given a licence back."""
        is_own = new is not None and new.uid == pod.uid
        return QueueingHint.QUEUE if is_own or _needs(old) else QueueingHint.SKIP


class TakesLicencesOfBoundPods(Licences):
    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        self.lent.get(node_name, {}).pop(pod.uid, None)


class FiltersByItsLedger(Licences):
    def used(self, node: NodeInfo) -> int:
        return len(self.lent.get(node.name, {}))


class AnnotatesAnotherLicence(Licences):
    def annotate(self, state: CycleState, licence: str, free: Sequence[str]) -> None:
        state.annotate(LENT, free[-1])


class KeepsAnAnnotatedLicence(Licences):
    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        licence = pod.annotations.get(LENT)
        if licence is None:
            return super().reserve(state, pod, node_name)
        self.lent.setdefault(node_name, {})[pod.uid] = licence
        state.annotate(LENT, licence)
        return None


class ForgetsLabelsThatGo(Licences):
    def after_change(self, pod: Pod, old: Pod, new: Pod | None) -> QueueingHint:
        if new is None:
            return super().after_change(pod, old, new)
        return QueueingHint.QUEUE if new.uid == pod.uid else QueueingHint.SKIP


class ChoosesFromASet(Licences):
    def choose(self, free: Sequence[str]) -> str:
        return next(iter(set(free)))


class ScoresByCalls(Licences):
    calls = 0

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        self.calls += 1
        return self.calls % 100


class KeepsLabelsThatGo(Licences):
    """Its ledger ignores that a running pod no longer needs a licence."""

    def _follow(self, old: Pod | None, new: Pod | None) -> None:
        if old is None or new is None:
            super()._follow(old, new)

    def used(self, node: NodeInfo) -> int:
        return len(self.lent.get(node.name, {}))


OWN = clusters(
    nodes=nodes(
        {"annotations": {OFFERED: "rose,iris,lily,aster"}},
        {"annotations": {OFFERED: "oak,elm,yew"}},
        {"annotations": {OFFERED: "fir"}},
    ),
    pods=pods(
        {"labels": {NEEDS: "licence"}},
        {"labels": {NEEDS: "licence"}, "annotations": {LENT: "oak"}},
        {"labels": {NEEDS: "licence"}, "annotations": {LENT: "rose"}},
    ),
)


class CountsThePodItself(Licences):
    """Its reserve asks its filter again, and the pod is on the node by then."""

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        node = self.handle.snapshot.get(node_name)
        if node is not None and self.filter(pod, node) is not None:
            return NONE_LEFT
        return super().reserve(state, pod, node_name)


LICENCE_MISTAKES: Sequence[Mistake] = (
    Mistake(TakesLicencesOfBoundPods, ["pod endings"], OWN),
    Mistake(FiltersByItsLedger, ["imagining"], OWN),
    Mistake(AnnotatesAnotherLicence, ["choices"], OWN),
    Mistake(KeepsAnAnnotatedLicence, ["choices"], OWN),
    Mistake(ForgetsLabelsThatGo, ["events"], OWN),
    Mistake(ChoosesFromASet, ["other process"], OWN),
    Mistake(ScoresByCalls, ["determinism"], OWN),
    Mistake(KeepsLabelsThatGo, ["imagining", "staleness"], OWN),
    Mistake(CountsThePodItself, ["assumed pods"], OWN),
)
