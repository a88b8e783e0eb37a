"""Mistakes in a plugin that reads an object for each node."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np
from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    EventsOf,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.columns import ObjectColumn
from quaymaster.objects import ApiValue, pod_request_list
from quaymaster.testing import clusters, make_metadata, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["ZONE_MISTAKES", "Zones"]

NO_ZONE = Status.unresolvable("no zone has room")


class ZoneSpec(ApiValue, frozen=True, kw_only=True):
    """The largest zone of a node."""

    cpu: int = 0


class NodeZones(ApiObject, frozen=True, kw_only=True):
    """The zones of the node of the same name."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "NodeZones"
    plural: ClassVar[str] = "nodezones"
    namespaced: ClassVar[bool] = False

    spec: ZoneSpec = ZoneSpec()


def _node_zones(name: str, cpu: int) -> ApiObject:
    return NodeZones(
        metadata=make_metadata(NodeZones, name=name), spec=ZoneSpec(cpu=cpu)
    )


OWN = clusters(
    nodes=nodes({"labels": {"kind": "numa"}}),
    pods=pods({"requests": {"cpu": "1"}}, {"requests": {"cpu": "3"}}),
    objects=st.builds(
        _node_zones, st.sampled_from(["n0", "n1", "n2", "n3"]), st.integers(0, 4)
    ),
)


def wish_of(pod: Pod) -> int:
    cpu = pod_request_list(pod).get("cpu")
    return 0 if cpu is None else cpu.milli_value // 1000


class Zones(Plugin):
    """Correct: follows the objects by a column."""

    kinds: Sequence[type[ApiObject]] = (NodeZones,)
    reads: Sequence[type[ApiObject]] = ()
    pod_use = PodUse.NONE

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.column: ObjectColumn[NodeZones, int] = ObjectColumn(
            handle.informers, NodeZones, lambda zones: zones.spec.cpu
        )

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            EventsOf(NodeZones)(Change.ALL),
            on_node(Change.ADD),
            on_pod.target(Change.UPDATE_POD_SCALE_DOWN),
        ]

    def _cpu_of(self, node: NodeInfo) -> int | None:
        zones = self.handle.informers.get(NodeZones, node.name)
        return None if zones is None else zones.spec.cpu

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        cpu = self._cpu_of(node)
        return NO_ZONE if cpu is not None and cpu < wish_of(pod) else None

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        wish = wish_of(pod)
        full = self.column.of(nodes).map(
            lambda cpu: int(cpu is not None and cpu < wish), rows
        )
        return NodeVerdicts.reject_where(np.asarray(full, dtype=np.bool_), NO_ZONE)

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self._cpu_of(node) or 0

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return np.asarray(self.column.of(nodes).map(lambda cpu: cpu or 0, rows))


class DeclaresNode(Zones):
    scope = Scope.NODE

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return wish_of(pod)


class ForgetsObjects(Zones):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD), on_pod.target(Change.UPDATE_POD_SCALE_DOWN)]


class ForgetsUpdates(Zones):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            EventsOf(NodeZones)(Change.ADD),
            on_node(Change.ADD),
            on_pod.target(Change.UPDATE_POD_SCALE_DOWN),
        ]


class NeverRenews(Zones):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.cache: dict[str, int | None] = {}

    def _cpu_of(self, node: NodeInfo) -> int | None:
        if node.name not in self.cache:
            self.cache[node.name] = super()._cpu_of(node)
        return self.cache[node.name]


class TwinNeverRenews(Zones):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.scores: dict[str, int] = {}

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        fresh = zip(nodes.names_at(rows), super().score_nodes(nodes, rows), strict=True)
        scores = [self.scores.setdefault(name, int(score)) for name, score in fresh]
        return np.array(scores, dtype=np.int64)


class WritesColumns(Zones):
    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        nodes.requested[0, rows] += 1
        return super().filter_nodes(pod, nodes, rows)


class AlwaysSkips(Zones):
    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        return Status.skip()


class TwinWithOtherDefault(Zones):
    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return np.asarray(
            self.column.of(nodes).map(lambda cpu: 1 if cpu is None else cpu, rows)
        )


ZONE_MISTAKES: Sequence[Mistake] = (
    Mistake(DeclaresNode, ["scope"], OWN),
    Mistake(ForgetsObjects, ["events"], OWN),
    Mistake(ForgetsUpdates, ["events"], OWN),
    Mistake(NeverRenews, ["staleness"], OWN),
    Mistake(TwinNeverRenews, ["twin"], OWN),
    Mistake(WritesColumns, ["purity"], OWN),
    Mistake(AlwaysSkips, ["effects"], OWN),
    Mistake(TwinWithOtherDefault, ["twin"], OWN),
)
