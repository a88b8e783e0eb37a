"""Mistakes in a plugin with cached answers over an object for each node."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    EventsOf,
    Handle,
    NodeInfo,
    PermitWait,
    Pod,
    PodUse,
    Scope,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.objects import ApiValue
from quaymaster.testing import clusters, make_metadata, make_node
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OFTEN_FULL", "OWN", "RACK_MISTAKES", "Racks", "Requeues"]


class RackSpec(ApiValue, frozen=True, kw_only=True):
    """The state of a rack."""

    free: int = 0


class NodeRack(ApiObject, frozen=True, kw_only=True):
    """The rack of the node of the same name."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "NodeRack"
    plural: ClassVar[str] = "noderacks"
    namespaced: ClassVar[bool] = False

    spec: RackSpec = RackSpec()
    notes: dict[str, object] = {}


def _rack(name: str, free: int) -> ApiObject:
    return NodeRack(
        metadata=make_metadata(NodeRack, name=name), spec=RackSpec(free=free)
    )


OWN = clusters(
    objects=st.builds(
        _rack, st.sampled_from(["n0", "n1", "n2", "n3"]), st.integers(0, 4)
    )
)


OFTEN_FULL = clusters(
    objects=st.builds(_rack, st.sampled_from(["n0", "n1"]), st.integers(0, 1))
)


NARROW = clusters(
    nodes=st.just(make_node()), objects=st.builds(_rack, st.just("n0"), st.just(1))
)


class Racks(Plugin):
    """Correct: follows the objects by a callback."""

    kinds: Sequence[type[ApiObject]] = (NodeRack,)
    reads: Sequence[type[ApiObject]] = ()
    scope = Scope.NODE
    pod_use = PodUse.NONE

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.free: dict[str, int] = {}
        handle.informers.on_change(NodeRack, self.learn)

    def learn(self, old: NodeRack | None, new: NodeRack | None) -> None:
        """Update the index."""
        if new is not None:
            self.free[new.name] = new.spec.free
            self.report(new.name)
        elif old is not None:
            self.free.pop(old.name, None)
            self.report(old.name)

    def report(self, name: str) -> None:
        """Report the change."""
        self.handle.changed(nodes=[name], requeue=False)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [EventsOf(NodeRack)(Change.ALL), on_node(Change.ADD)]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return ""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        free = self.free.get(node.name, 1)
        return None if free else Status.unresolvable("the rack is full")

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self.free.get(node.name, 0)


class Requeues(Racks):
    """Correct: requeues its pods by the handle, and registers no event."""

    def report(self, name: str) -> None:
        """Report the change, and requeue pods."""
        self.handle.changed(nodes=[name])

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD)]


class Permits(Racks):
    """Correct: pods wait for a while on nodes with a rack that is almost full."""

    @hookimpl
    def permit(self, node_name: str) -> PermitWait | None:
        return PermitWait(30) if self.free.get(node_name) == 1 else None


class ForgetsToReport(Racks):
    def report(self, name: str) -> None:
        pass


class ForgetsDeletions(Racks):
    def learn(self, old: NodeRack | None, new: NodeRack | None) -> None:
        if new is not None:
            super().learn(old, new)


class PermitsByDeletedRacks(Permits):
    def __init__(self, args: object, handle: Handle) -> None:
        self.narrow: set[str] = set()
        super().__init__(args, handle)

    def learn(self, old: NodeRack | None, new: NodeRack | None) -> None:
        super().learn(old, new)
        if new is not None:
            change = self.narrow.add if new.spec.free == 1 else self.narrow.discard
            change(new.name)

    @hookimpl
    def permit(self, node_name: str) -> PermitWait | None:
        return PermitWait(30) if node_name in self.narrow else None


class ReportsAnotherNode(Racks):
    def report(self, name: str) -> None:
        self.handle.changed(nodes=["n0"], requeue=False)


class RaisesOnDeletion(Racks):
    def learn(self, old: NodeRack | None, new: NodeRack | None) -> None:
        self.free[new.name] = new.spec.free  # type: ignore[union-attr]  # the mistake


class WritesObject(Racks):
    def learn(self, old: NodeRack | None, new: NodeRack | None) -> None:
        super().learn(old, new)
        if new is not None:
            new.notes["seen"] = True


class NeitherEventNorRequeue(Requeues):
    def report(self, name: str) -> None:
        self.handle.changed(nodes=[name], requeue=False)


class SignsByObjects(Racks):
    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return sum(self.free.values())


class CountsAllRacks(Racks):
    """The answer for one node depends on all racks, and only one is reported."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return sum(self.free.values())


RACK_MISTAKES: Sequence[Mistake] = (
    Mistake(ForgetsToReport, ["object changes"], OWN),
    Mistake(ForgetsDeletions, ["staleness"], OWN),
    Mistake(PermitsByDeletedRacks, ["staleness"], NARROW),
    Mistake(ReportsAnotherNode, ["object changes"], OWN),
    Mistake(RaisesOnDeletion, ["object changes"], OWN),
    Mistake(WritesObject, ["object changes"], OWN),
    Mistake(NeitherEventNorRequeue, ["events"], OWN),
    Mistake(SignsByObjects, ["object changes"], OWN),
    Mistake(CountsAllRacks, ["object changes"], OWN),
)
