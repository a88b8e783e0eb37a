"""The filters of a profile, as preemption runs them on trial states of the cluster.

Mirrors the methods of ``Handle`` that run filters (k8s.io/kube-scheduler v0.36,
``framework/interface.go``).
"""

from collections.abc import Collection
from typing import Protocol

import msgspec

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.results import FilteredRows
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import BoolArray, Rows
from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["FilterRunner", "LastingFilters"]


class LastingFilters(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The filters of an attempt whose verdicts are the same for each pod of a kind.

    Their verdict on a node depends on the node, the pods on it and the pods nominated
    to it. It stays valid until one of these changes.

    Attributes:
        kind: The same object for pods of the same kind, while the verdicts are valid.
        plugins: The plugins of these filters.
        others: The plugins of the other filters of the attempt, which have to run for
            each pod. None of them reads the pods on a node.
        nominated: The log of rows whose nominated pods have changed, of those that the
            pod must leave room for. None if there have been none yet.
    """

    kind: object
    plugins: frozenset[str]
    others: frozenset[str]
    nominated: ChangeLog[int] | None


class FilterRunner(Protocol):
    """Runs the filters of one profile on trial states of the cluster.

    With it, preemption finds the nodes where a pod would fit without some other pods.
    It works once all plugins of the profile have been built, so only within hooks.
    """

    def run(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Run the Filter plugins on one node; return the first rejection."""

    def run_with_nominated_pods(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status | None:
        """Run them with the nominated pods of equal or higher priority in place."""

    def run_on_rows(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        pod_use: PodUse | None = None,
        among: Collection[str] | None = None,
    ) -> FilteredRows | Status:
        """Run the Filter plugins on many nodes, without nominated pods.

        Args:
            state: The pod's scratch space.
            pod: The pod being scheduled.
            nodes: The snapshot's table, or a trial table (`NodeTable.imagined`). The
                latter needs `pod_use` below PODS.
            rows: The rows to filter.
            pod_use: If set, only plugins with this use of pods run.
            among: If set, only plugins with these names run.

        Returns:
            The rows that passed with the statuses of the others, or the Error of a
            plugin.
        """

    def imagine_nominated_pods(self, pod: Pod) -> tuple[NodeTable, BoolArray] | None:
        """Add the pods that a pod must leave room for to a copy of the table.

        They are the other nominated pods of equal or higher priority.

        Args:
            pod: The pod that needs room.

        Returns:
            The trial table, and which rows have such pods, shape ``(C,)`` like its
            columns. None if one of them requests a resource that has no column in the
            table: then only `run_with_nominated_pods` gives the right result.
        """

    def pod_use(self, state: CycleState) -> PodUse:
        """Return how much the Filter plugins of an attempt read of pods."""

    def is_local(self, state: CycleState) -> bool:
        """Whether verdicts on a node depend on that node and the pods on it alone.

        Then no ``add_pod``, ``remove_pod`` or Reserve plugin has anything to do.

        Args:
            state: The pod's scratch space after filtering.
        """

    def lasting(self, state: CycleState, pod: Pod) -> LastingFilters | None:
        """Return the filters whose verdicts may be cached, for repeated trials.

        Args:
            state: The pod's scratch space after filtering.
            pod: The pod being scheduled.

        Returns:
            The filters. None if no results of the attempt are cached, if a filter reads
            pods and its verdicts may not be cached, or if the pod itself is nominated
            to a node.
        """

    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> Status | None:
        """Run ``add_pod`` of the PreFilter plugins: one more pod is on the node."""

    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> Status | None:
        """Run ``remove_pod`` of the PreFilter plugins: a pod has left the node."""
