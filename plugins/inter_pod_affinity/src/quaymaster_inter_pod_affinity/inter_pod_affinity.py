"""Place pods near other pods, or away from them.

A pod's required affinity needs other pods around a node, its required anti-affinity
forbids them, and so does the required anti-affinity of running pods. Preferred terms,
the pod's and those of running pods that match it, rank the feasible nodes.

Mirrors ``InterPodAffinity`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/interpodaffinity/plugin.go``). The snapshot's
`quaymaster.counting.PodCounts` counts pods; upstream counts again for each pod.
"""

from collections.abc import Hashable, Mapping, Sequence
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
from quaymaster.counting import Namespaces, PerTemplate
from quaymaster.objects import Namespace
from quaymaster_inter_pod_affinity.args import InterPodAffinityArgs
from quaymaster_inter_pod_affinity.facts import AffinityFacts
from quaymaster_inter_pod_affinity.filtering import FilterState
from quaymaster_inter_pod_affinity.hints import (
    keys_of_pod_change,
    node_change_helps,
    pod_change_helps,
    waiting_keys,
)
from quaymaster_inter_pod_affinity.scoring import (
    ScoreSource,
    ScoreState,
    parts_of,
)
from quaymaster_inter_pod_affinity.terms import (
    NO_TERMS,
    affinity_terms,
    existing_anti_affinity,
    existing_preferences,
    matches_all,
    matches_any,
)

__all__ = ["InterPodAffinity"]

_FILTER_STATE: Final = StateKey[FilterState](
    "PreFilterInterPodAffinity",
    missing='error reading "PreFilterInterPodAffinity" from cycleState: not found',
)
_SCORE_STATE: Final = StateKey[ScoreState](
    "PreScoreInterPodAffinity",
    missing='failed to read "PreScoreInterPodAffinity" from cycleState: not found',
)


class InterPodAffinity:
    """Rejects and ranks nodes by the pods around them.

    Args:
        args: The weights of preferences.
        handle: The framework, for counts of pods and for namespaces.
    """

    Args = InterPodAffinityArgs
    scope = Scope.CLUSTER
    reads = (Namespace,)
    contract_opt_outs: ClassVar[Mapping[str, str]] = {
        "events": "as upstream's, the hint for nodes looks at the pod's own terms only"
    }

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._namespaces = Namespaces(handle.informers, handle.kubernetes)
        is_newer = handle.kubernetes.since("1.37")
        self._conflicts = matches_any if is_newer else matches_all
        self._filter_states: PerTemplate[FilterState] = PerTemplate()
        self._score_sources: PerTemplate[ScoreSource] = PerTemplate()

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_pod.assigned(
                Change.ADD | Change.UPDATE_POD_LABEL | Change.DELETE,
                self._after_pod_change,
            ).indexed(waiting_keys, keys_of_pod_change),
            on_pod.target(Change.UPDATE_POD_LABEL, self._after_pod_change),
            on_node(Change.ADD | Change.UPDATE_NODE_LABEL, _after_node_change),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        # Upstream signs no pod with terms. Here pods with equal terms have equal
        # results, because the counts are current in each cycle.
        terms, metadata = affinity_terms(pod), pod.metadata
        return (
            metadata.namespace,
            frozenset(metadata.labels.items()),
            terms.affinity,
            terms.anti_affinity,
            terms.preferences,
            terms.has_preferences,
            terms.problems,
        )

    @hookimpl
    def skips_depend_on(self, pod: Pod) -> Sequence[Revised] | None:
        # A Skip is cached while no pod has terms: the first pod with terms changes the
        # existing ones. If a pod has terms, the result also depends on where pods run.
        counts = self._handle.snapshot.counts
        if affinity_terms(pod) is not NO_TERMS:
            return None
        anti_affinity = counts.existing_terms(existing_anti_affinity)
        preferences = counts.existing_terms(existing_preferences)
        return None if anti_affinity or preferences else (anti_affinity, preferences)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        terms, counts = affinity_terms(pod), self._handle.snapshot.counts
        # Unresolvable in PreFilter and an error in PreScore, as upstream's two hooks
        # answer the same parsing error.
        if terms.problems:
            return Status.unresolvable(f"parsing pod: {terms.problem}")
        is_required = terms.affinity or terms.anti_affinity
        if not is_required and not counts.existing_terms(existing_anti_affinity):
            return Status.skip()
        namespaces = self._namespaces
        cached = self._filter_states.of(
            pod,
            terms,
            counts,
            lambda: FilterState(pod, counts, namespaces),
            namespaces.revision,
        )
        if cached.is_idle:
            return Status.skip()
        state[_FILTER_STATE] = cached.clone()
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
        facts = AffinityFacts(pod, self._handle.snapshot, self._namespaces)
        return facts.explain(state[_FILTER_STATE], node)

    @hookimpl
    def pre_score(self, state: CycleState, pod: Pod) -> Status | None:
        terms, args = affinity_terms(pod), self._args
        # Upstream skips by the presence of preferred terms in the spec, whatever these
        # match.
        if args.ignore_preferred_terms_of_existing_pods and not terms.has_preferences:
            return Status.skip()
        counts = self._handle.snapshot.counts
        if terms is NO_TERMS and not counts.existing_terms(existing_preferences):
            return Status.skip()
        if terms.problems:
            return Status.from_error(f"failed to parse pod: {terms.problem}")
        namespaces = self._namespaces
        hard_weight = args.hard_pod_affinity_weight
        source = self._score_sources.of(
            pod,
            terms,
            counts,
            lambda: ScoreSource(parts_of(pod, counts, namespaces, hard_weight)),
            namespaces.revision,
        )
        new_state = ScoreState(source)
        if new_state.is_idle:
            return Status.skip()
        state[_SCORE_STATE] = new_state
        return None

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        return state[_SCORE_STATE].score(node)

    @hookimpl
    def score_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        return state[_SCORE_STATE].score_rows(nodes, rows)

    @hookimpl
    def normalize_score(self, state: CycleState, scores: Int64Array) -> Int64Array:
        return state[_SCORE_STATE].normalize(scores)

    def _after_pod_change(
        self, pod: Pod, old: Pod | None, new: Pod | None
    ) -> QueueingHint:
        helps = pod_change_helps(pod, old, new, self._conflicts)
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _after_node_change(pod: Pod, old: Node | None, new: Node) -> QueueingHint:
    helps = node_change_helps(pod, old, new)
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP
