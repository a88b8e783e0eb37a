"""Match a pod's node selector and node affinity against labels and names of nodes.

Mirrors ``NodeAffinity`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go``). Selectors are
compiled once per pod template, not in PreFilter and PreScore as in upstream. So the
other hooks work without these two.
"""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Int64Array,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    PreFilterResult,
    QueueingHint,
    Rows,
    Scope,
    Status,
    default_normalize,
    hookimpl,
    on_node,
)
from quaymaster.objects import (
    NodeMatcher,
    PreferredTerms,
    RequiredNodeAffinity,
    compile_node_selector,
    compile_preferred_terms,
)
from quaymaster_node_affinity.args import NodeAffinityArgs
from quaymaster_node_affinity.columns import (
    affinity_matches,
    matcher_matches,
    preference_scores,
)
from quaymaster_node_affinity.facts import explain_matcher, explain_required
from quaymaster_node_affinity.terms import node_affinity_terms

__all__ = ["NodeAffinity"]

_MISMATCH: Final = Status.unresolvable(
    "node(s) didn't match Pod's node affinity/selector"
)
_NOT_ENFORCED: Final = Status.unresolvable(
    "node(s) didn't match scheduler-enforced node affinity"
)
_CONFLICT: Final = Status.unresolvable("pod affinity terms conflict")


class NodeAffinity:
    """Rejects nodes that do not match a pod's node affinity, and ranks the others.

    Args:
        args: The additional node affinity of all pods of the profile.
        _handle: Not used.
    """

    Args = NodeAffinityArgs
    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, args: NodeAffinityArgs, _handle: Handle) -> None:
        self._enforced = _added_selector(args)
        self._added_preferences = _added_preferences(args)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        changes = Change.ADD | Change.UPDATE_NODE_LABEL
        return [on_node(changes, self._after_node_change)]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return node_affinity_terms(pod).fragment

    @hookimpl
    def pre_filter(self, pod: Pod) -> PreFilterResult | Status | None:
        terms = node_affinity_terms(pod)
        if not terms.has_required and self._enforced is None:
            return Status.skip()
        if terms.node_names is None:
            return None
        # Only the named nodes are filtered: without this, each pod of a DaemonSet would
        # be compared with all nodes.
        return PreFilterResult(terms.node_names) if terms.node_names else _CONFLICT

    @hookimpl
    def explain_pre_filter(self, pod: Pod) -> Sequence[str]:
        affinity = node_affinity_terms(pod).required.affinity
        terms = () if affinity is None else affinity.terms
        return [
            f"no node can have all of these names: {', '.join(map(str, term.fields))}"
            for term in terms
        ]

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        # The profile's affinity first: a node that fails both has the reason that users
        # cannot change.
        if self._enforced is not None and not self._enforced.matches(node.node):
            return _NOT_ENFORCED
        return (
            None if node_affinity_terms(pod).required.matches(node.node) else _MISMATCH
        )

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        codes = ~affinity_matches(node_affinity_terms(pod).required, nodes, rows)
        if self._enforced is None:
            return NodeVerdicts.reject_where(codes, _MISMATCH)
        enforced = matcher_matches(self._enforced, nodes, rows)
        return NodeVerdicts(
            np.where(enforced, codes, np.int8(2)),
            lambda code: _MISMATCH if code == 1 else _NOT_ENFORCED,
        )

    @hookimpl
    def explain_filter(self, pod: Pod, node: NodeInfo) -> Sequence[str]:
        enforced = self._enforced
        if enforced is not None and not enforced.matches(node.node):
            return explain_matcher("the profile's addedAffinity", enforced, node)
        return explain_required(node_affinity_terms(pod).required, node)

    @hookimpl
    def pre_score(self, pod: Pod) -> Status | None:
        terms = node_affinity_terms(pod)
        if terms.problem is not None:
            return Status.from_error(terms.problem)
        if terms.preferred is None and self._added_preferences is None:
            return Status.skip()
        return None

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int | Status:
        terms = node_affinity_terms(pod)
        if terms.problem is not None:
            return Status.from_error(terms.problem)
        parts = (self._added_preferences, terms.preferred)
        return sum(part.score(node.node) for part in parts if part is not None)

    @hookimpl
    def score_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array | Status:
        terms = node_affinity_terms(pod)
        if terms.problem is not None:
            return Status.from_error(terms.problem)
        scores: Int64Array = np.zeros(nodes.count(rows), dtype=np.int64)
        for part in (self._added_preferences, terms.preferred):
            if part is not None:
                scores += preference_scores(part, nodes, rows)
        return scores

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return default_normalize(scores)

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        """Queue the pod if a new or relabelled node matches it now.

        As in upstream, the added affinity is not evaluated for the old node.
        """
        if self._enforced is not None and not self._enforced.matches(new):
            return QueueingHint.SKIP
        required = node_affinity_terms(pod).required
        if not required.matches(new):
            return (
                QueueingHint.QUEUE if _has_failed(required, new) else QueueingHint.SKIP
            )
        if old is None:
            return QueueingHint.QUEUE
        return QueueingHint.SKIP if required.matches(old) else QueueingHint.QUEUE


def _has_failed(required: RequiredNodeAffinity, node: Node) -> bool:
    """Return whether a node was rejected only because the affinity is invalid."""
    affinity = required.affinity
    if affinity is None or not affinity.problems:
        return False
    return required.selector.matches(node.labels)


def _added_selector(args: NodeAffinityArgs) -> NodeMatcher | None:
    if args.added_affinity is None:
        return None
    required = args.added_affinity.required_during_scheduling_ignored_during_execution
    return None if required is None else compile_node_selector(required)


def _added_preferences(args: NodeAffinityArgs) -> PreferredTerms | None:
    if args.added_affinity is None:
        return None
    terms = args.added_affinity.preferred_during_scheduling_ignored_during_execution
    return compile_preferred_terms(terms) if terms else None
