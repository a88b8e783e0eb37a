"""A plugin whose tenants do not share halls, and mistakes in its PreFilter."""

from collections import Counter
from collections.abc import Sequence

import attrs

from quaymaster import (
    Change,
    ClusterEventWithHint,
    CycleState,
    NodeInfo,
    NodeTable,
    Pod,
    StateKey,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["HALL_MISTAKES", "OWN", "Halls"]

HALL, TENANT = "example.com/hall", "example.com/tenant"
TAKEN = Status.unschedulable("node(s) were in a hall of another tenant")


@attrs.define
class Others:
    """The pods of other tenants, by hall."""

    by_hall: Counter[str]

    def clone(self) -> "Others":
        """Copy the counts."""
        return Others(self.by_hall.copy())


OTHERS = StateKey[Others]("Halls")


class Halls(Plugin):
    """Correct: skips pods without a tenant, whatever runs elsewhere."""

    @hookimpl
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable
    ) -> Status | None:
        if TENANT not in pod.labels:
            return Status.skip()
        state[OTHERS] = others = Others(Counter())
        for node in nodes:
            for there in node.pods.values():
                self.count(others, pod, there, node, 1)
        return self.prepared(others)

    def prepared(self, others: Others) -> Status | None:
        """Return the answer of PreFilter."""
        return None

    def count(
        self, others: Others, pod: Pod, there: Pod, node: NodeInfo, by: int
    ) -> None:
        """Count a pod of another tenant."""
        tenant = there.labels.get(TENANT)
        if HALL in node.labels and tenant and tenant != pod.labels[TENANT]:
            others.by_hall[node.labels[HALL]] += by

    @hookimpl
    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> None:
        self.count(state[OTHERS], pod, pod_to_add, node, 1)

    @hookimpl
    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> None:
        self.count(state[OTHERS], pod, pod_to_remove, node, -1)

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        hall = node.labels.get(HALL, "")
        return TAKEN if state[OTHERS].by_hall[hall] > 0 else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_pod(Change.DELETE | Change.UPDATE_POD_LABEL),
            on_node(Change.ADD | Change.DELETE | Change.UPDATE_NODE_LABEL),
        ]


class SkipsWhileNobodyElseRuns(Halls):
    def prepared(self, others: Others) -> Status | None:
        return None if others.by_hall else Status.skip()


OWN = clusters(
    nodes=nodes({"labels": {HALL: "a"}}, {"labels": {HALL: "b"}}),
    pods=pods({"labels": {TENANT: "red"}}, {"labels": {TENANT: "blue"}}),
)
HALL_MISTAKES: Sequence[Mistake] = (
    Mistake(SkipsWhileNobodyElseRuns, ["skipped filter"], OWN),
)
