"""Spread pods evenly over zones, hosts and other topology domains.

A hard constraint rejects the nodes on which one more pod would make its domain exceed
the emptiest one by more than ``maxSkew`` pods. Soft ones prefer nodes in domains with
few pods. Pods without constraints get default ones, if a service or controller selects
them.

Mirrors ``PodTopologySpread`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/podtopologyspread/plugin.go``). The snapshot's
`quaymaster.counting.PodCounts` counts pods; upstream counts again for each pod.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import ClassVar, Final

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
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.columns import Revised
from quaymaster.counting import DomainCounts, PerTemplate
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from quaymaster_pod_topology_spread.args import DefaultingType, PodTopologySpreadArgs
from quaymaster_pod_topology_spread.constraints import (
    Action,
    Constraint,
    compile_constraints,
    constraints_of,
)
from quaymaster_pod_topology_spread.defaults import (
    SYSTEM_CONSTRAINTS,
    DefaultSelectors,
)
from quaymaster_pod_topology_spread.facts import explain_spread
from quaymaster_pod_topology_spread.filtering import FilterState, counts_for
from quaymaster_pod_topology_spread.hints import (
    is_involved,
    keys_of_pod_change,
    node_change_helps,
    pod_change_helps,
    waiting_keys,
)
from quaymaster_pod_topology_spread.scoring import Counted, ScoreState, counted

__all__ = ["PodTopologySpread"]

_COMPARISONS: Final = "TaintTolerationComparisonOperators"
_FILTER_STATE: Final = StateKey[FilterState](
    "PreFilterPodTopologySpread",
    missing='reading "PreFilterPodTopologySpread" from cycleState: not found',
)
_SCORE_STATE: Final = StateKey[ScoreState](
    "PreScorePodTopologySpread",
    missing='error reading "PreScorePodTopologySpread" from cycleState: not found',
)


class PodTopologySpread:
    """Rejects nodes in crowded domains, and prefers those in empty ones.

    Args:
        args: The default constraints.
        handle: The framework, for counts of pods, services and controllers.
    """

    Args = PodTopologySpreadArgs
    scope = Scope.CLUSTER
    reads = (ReplicaSet, ReplicationController, Service, StatefulSet)
    contract_opt_outs: ClassVar[Mapping[str, str]] = {
        "terminating pods": (
            "as upstream's: pre_filter ignores terminating pods, but not add_pod and "
            "remove_pod"
        )
    }

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        self._handle = handle
        self._selectors = DefaultSelectors(handle.informers)
        self._filtered: PerTemplate[Sequence[DomainCounts]] = PerTemplate()
        self._scored: PerTemplate[Sequence[Counted]] = PerTemplate()
        self._is_system = args.defaulting_type is DefaultingType.SYSTEM
        defaults = SYSTEM_CONSTRAINTS if self._is_system else args.default_constraints
        self._defaults = {
            action: tuple(
                constraint
                for constraint in defaults
                if constraint.when_unsatisfiable == action.value
            )
            for action in Action
        }
        self._compares_numbers = handle.kubernetes.enabled(_COMPARISONS)
        self._has_hard_defaults = bool(self._defaults[Action.DO_NOT_SCHEDULE])

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_pod.assigned(
                Change.ADD | Change.UPDATE_POD_LABEL | Change.DELETE,
                self._after_pod_change,
            ).indexed(self._waiting_keys, keys_of_pod_change),
            on_pod.target(
                Change.UPDATE_POD_TOLERATION | Change.UPDATE_POD_LABEL,
                self._after_pod_change,
            ),
            on_node(
                Change.ADD
                | Change.DELETE
                | Change.UPDATE_NODE_LABEL
                | Change.UPDATE_NODE_TAINT,
                self._after_node_change,
            ),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        # Upstream signs no pod with constraints. Here equal constraints have equal
        # results, because the counts are current in each cycle.
        try:
            hard = self._constraints(pod, Action.DO_NOT_SCHEDULE)
            soft = self._constraints(pod, Action.SCHEDULE_ANYWAY)
        except SelectorError:
            return None
        if not hard and not soft:
            return ()
        metadata = pod.metadata
        return metadata.namespace, frozenset(metadata.labels.items()), hard, soft

    @hookimpl
    def skips_depend_on(self, pod: Pod) -> Sequence[Revised]:
        if pod.spec.topology_spread_constraints or not any(self._defaults.values()):
            return ()
        return self._selectors.revised(pod)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        try:
            constraints = self._constraints(pod, Action.DO_NOT_SCHEDULE)
        except SelectorError as error:
            return _broken(pod, "get constraints from pod", "hard", error)
        if not constraints:
            return Status.skip()
        counts = self._handle.snapshot.counts
        looked_at = self._filtered.of(
            pod, constraints, counts, lambda: counts_for(constraints, counts)
        )
        state[_FILTER_STATE] = FilterState(pod, constraints, looked_at)
        return None

    @hookimpl
    def add_pod(self, state: CycleState, pod_to_add: Pod, node: NodeInfo) -> None:
        state[_FILTER_STATE].imagine(pod_to_add, node.node, 1)

    @hookimpl
    def remove_pod(self, state: CycleState, pod_to_remove: Pod, node: NodeInfo) -> None:
        state[_FILTER_STATE].imagine(pod_to_remove, node.node, -1)

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        return state[_FILTER_STATE].judge(node)

    @hookimpl
    def filter_nodes(self, state: CycleState, rows: Rows) -> NodeVerdicts | None:
        return state[_FILTER_STATE].judge_rows(rows)

    @hookimpl
    def explain_filter(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Sequence[str]:
        return explain_spread(
            pod,
            node,
            self._handle.snapshot.nodes,
            state[_FILTER_STATE],
            compares_numbers=self._compares_numbers,
        )

    @hookimpl
    def pre_score(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Status | None:
        if not len(nodes):
            return Status.skip()
        try:
            constraints = self._constraints(pod, Action.SCHEDULE_ANYWAY)
        except SelectorError as error:
            return _broken(pod, "calculating preScoreState", "soft", error)
        if not constraints:
            return Status.skip()
        counts = self._handle.snapshot.counts
        looked_at = self._scored.of(
            pod, constraints, counts, lambda: counted(constraints, counts)
        )
        # Identity: any other table has nodes that extenders have returned.
        is_snapshot = nodes is self._handle.snapshot.nodes
        state[_SCORE_STATE] = ScoreState(
            looked_at,
            nodes,
            rows,
            require_all_keys=self._requires_all_keys(pod),
            is_snapshot=is_snapshot,
        )
        return None

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        return state[_SCORE_STATE].score(node)

    @hookimpl
    def score_nodes(self, state: CycleState, rows: Rows) -> Int64Array:
        return state[_SCORE_STATE].score_rows(rows)

    @hookimpl
    def normalize_score(
        self, state: CycleState, scores: Int64Array, rows: Rows
    ) -> Int64Array:
        return state[_SCORE_STATE].normalize(scores, rows)

    def _constraints(self, pod: Pod, action: Action) -> tuple[Constraint, ...]:
        """Return the pod's own constraints, or the default ones if it has none."""
        if pod.spec.topology_spread_constraints:
            return constraints_of(pod, action, compares_numbers=self._compares_numbers)
        defaults = self._defaults[action]
        if not defaults:
            return ()
        selector = self._selectors.of(pod)
        if selector.matches_everything:
            return ()
        every = action is Action.DO_NOT_SCHEDULE or self._requires_all_keys(pod)
        return compile_constraints(
            pod,
            defaults,
            selector,
            require_all_keys=every,
            compares_numbers=self._compares_numbers,
        )

    def _requires_all_keys(self, pod: Pod) -> bool:
        """Whether the score ignores nodes that lack a topology key."""
        return not self._is_system or bool(pod.spec.topology_spread_constraints)

    def _waiting_keys(self, pod: Pod) -> Iterable[Hashable] | None:
        if not pod.spec.topology_spread_constraints and self._has_hard_defaults:
            return None  # default constraints depend on services and controllers
        try:
            return waiting_keys(pod, self._constraints(pod, Action.DO_NOT_SCHEDULE))
        except SelectorError:
            return None

    def _after_pod_change(
        self, pod: Pod, old: Pod | None, new: Pod | None
    ) -> QueueingHint:
        for changed in (old, new):
            if changed is not None and not is_involved(changed, pod):
                return QueueingHint.SKIP
        constraints = self._constraints(pod, Action.DO_NOT_SCHEDULE)
        helps = pod_change_helps(pod, old, new, constraints)
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def _after_node_change(
        self, pod: Pod, old: Node | None, new: Node | None
    ) -> QueueingHint:
        constraints = self._constraints(pod, Action.DO_NOT_SCHEDULE)
        helps = node_change_helps(old, new, constraints)
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _broken(pod: Pod, doing: str, kind: str, error: SelectorError) -> Status:
    """Make the Error for the pod's own selectors; default selectors are valid."""
    assert pod.spec.topology_spread_constraints
    texts = {
        "hard": "obtaining pod's hard topology spread constraints",
        "soft": "obtaining pod's soft topology spread constraints",
    }
    return Status.from_error(f"{doing}: {texts[kind]}: {error}")
