"""Keep pods off nodes whose taints they do not tolerate.

A node with an untolerated taint of the effect NoSchedule or NoExecute is rejected.
Among the others, those with the fewest untolerated PreferNoSchedule taints are the
best; only tolerations with that effect, or without an effect, count here. With the
feature gate TaintTolerationComparisonOperators, tolerations may compare numbers.

Mirrors ``TaintToleration`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go``).
"""

from collections.abc import Hashable, Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    CycleState,
    Handle,
    Int64Array,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    default_normalize,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.hookspecs import since_kubernetes
from quaymaster.objects import Taint, Toleration, find_untolerated_taint, is_tolerated
from quaymaster_taint_toleration.facts import explain_taints

__all__ = ["TaintToleration"]

_COMPARISONS = "TaintTolerationComparisonOperators"
_PREFER_NO_SCHEDULE = "PreferNoSchedule"
_SOFT_TOLERATIONS = StateKey[Sequence[Toleration]](
    "PreScoreTaintToleration",
    missing='failed to read "PreScoreTaintToleration" from cycleState: not found',
)

_UNTOLERATED = Status.unresolvable("node(s) had untolerated taint(s)")


class TaintToleration:
    """Rejects nodes with untolerated taints, and prefers those with few soft taints."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, _args: None, handle: Handle) -> None:
        """Create the plugin; a feature gate enables numeric tolerations."""
        self._compares_numbers = handle.kubernetes.enabled(_COMPARISONS)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_TAINT, self._after_node_change),
            on_pod.target(Change.UPDATE_POD_TOLERATION, _after_toleration_change),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return frozenset(
            # Without tolerationSeconds, which is read only when running pods are
            # evicted.
            (toleration.key, toleration.operator, toleration.value, toleration.effect)
            for toleration in pod.spec.tolerations
        )

    @hookimpl
    @since_kubernetes("1.37")
    def pre_filter(self) -> None:
        """Do nothing; upstream uses it with a feature gate that is off by default."""

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return _UNTOLERATED if self._is_closed(node.taints, pod) else None

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        closed = nodes.taints.test(
            lambda taints: self._is_closed(taints or (), pod), rows
        )
        return NodeVerdicts.reject_where(closed, _UNTOLERATED)

    @hookimpl
    def explain_filter(self, pod: Pod, node: NodeInfo) -> Sequence[str]:
        tolerations = pod.spec.tolerations
        return explain_taints(
            node.taints, tolerations, compares_numbers=self._compares_numbers
        )

    @hookimpl
    def pre_score(self, state: CycleState, pod: Pod) -> None:
        state[_SOFT_TOLERATIONS] = tuple(
            toleration
            for toleration in pod.spec.tolerations
            # An empty effect tolerates all effects.
            if toleration.effect in ("", _PREFER_NO_SCHEDULE)
        )

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        return self._count_soft(node.taints, state[_SOFT_TOLERATIONS])

    @hookimpl
    def score_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        tolerations = state[_SOFT_TOLERATIONS]
        return nodes.taints.map(
            lambda taints: self._count_soft(taints or (), tolerations), rows
        )

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return default_normalize(scores, reverse=True)

    def _is_closed(self, taints: Sequence[Taint], pod: Pod) -> bool:
        taint = find_untolerated_taint(
            taints, pod.spec.tolerations, compares_numbers=self._compares_numbers
        )
        return taint is not None

    def _count_soft(
        self, taints: Sequence[Taint], tolerations: Sequence[Toleration]
    ) -> int:
        compares = self._compares_numbers
        return sum(
            taint.effect == _PREFER_NO_SCHEDULE
            and not is_tolerated(taint, tolerations, compares_numbers=compares)
            for taint in taints
        )

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        """Queue the pod if a new or changed node has only tolerated taints now."""
        was_closed = old is None or self._is_closed(old.spec.taints, pod)
        if was_closed and not self._is_closed(new.spec.taints, pod):
            return QueueingHint.QUEUE
        return QueueingHint.SKIP


def _after_toleration_change(pod: Pod, _old: Pod, new: Pod) -> QueueingHint:
    """Queue the pod if it has changed itself, whatever it tolerates now."""
    return QueueingHint.QUEUE if new.uid == pod.uid else QueueingHint.SKIP
