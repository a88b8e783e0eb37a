"""Observations of attempts, as values of the product."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import attrs

from quaymaster import Int64Array, NodeInfo, PostFilterResult, PreFilterResult, Status
from quaymaster.preemption import Candidate
from tests.kit.internals.cycle import PluginScores, PreFilterOutcome
from tests.parity.cases import Json

__all__ = [
    "Answers",
    "Examination",
    "NodeSums",
    "Observation",
    "Outcome",
    "Preemption",
    "Scores",
]

Outcome: TypeAlias = Literal[
    "scheduled",
    "unschedulable",
    "gated",
    "error",
    "ignored",
    "held",
    "bindingFailed",
    "finished",
    "applied",
]
"""The ends of an attempt, as the records name them."""

Answers: TypeAlias = Mapping[str, Mapping[str, Status | None]]
"""Node -> plugin -> its status, or None for success."""


@attrs.frozen(kw_only=True)
class NodeSums:
    """The sum of the requests of a node's pods, or the requests of one pod.

    Attributes:
        scalars: The other resources, without those with a sum of 0.
    """

    milli_cpu: int
    memory: int
    ephemeral_storage: int
    scalars: Mapping[str, int]
    non_zero_milli_cpu: int
    non_zero_memory: int
    pods: int

    @classmethod
    def of(cls, info: NodeInfo) -> "NodeSums":
        """Copy the sums of a node."""
        used = info.requested
        return cls(
            milli_cpu=used.milli_cpu,
            memory=used.memory,
            ephemeral_storage=used.ephemeral_storage,
            scalars={name: value for name, value in used.scalars.items() if value},
            non_zero_milli_cpu=info.non_zero_milli_cpu,
            non_zero_memory=info.non_zero_memory,
            pods=len(info.pods),
        )


@attrs.frozen(eq=False, kw_only=True)
class Scores:
    """The scores of the feasible nodes; all arrays are in the order of ``nodes``.

    A single feasible node is scored for the record only. If that fails, the pod gets
    the node nevertheless, and the record has no numbers.

    Attributes:
        nodes: The feasible nodes.
        skipped: The plugins whose PreScore returned Skip.
        plugins: Each plugin's scores.
        total: The sums of the weighted scores.
        error: Why a single node could not be scored.
    """

    nodes: Sequence[str]
    skipped: frozenset[str]
    plugins: Sequence[PluginScores]
    total: Int64Array
    error: str = ""


@attrs.frozen(eq=False, kw_only=True)
class Examination:
    """An examined attempt, station by station.

    Attributes:
        pre_filter: The result of all PreFilter plugins together.
        skipped_filters: The plugins whose Filter is skipped.
        alone_pre_filter: The result of each PreFilter plugin alone.
        alone_filter: The status of each Filter plugin for each node, for the plugins
            whose own PreFilter succeeded.
        filter: Node -> the first rejection, with nominated pods; None if PreFilter
            rejected the pod.
        excluded: The nodes that PreFilter left out.
        via_nominated_node: Whether only the pod's nominated node was tried.
        feasible: The feasible nodes, sorted.
        fit_error: Why no node fits, before PostFilter; empty if a node fits.
        unschedulable_plugins: The plugins that rejected the pod, if no node fits.
        scores: The feasible nodes' scores, or None without nodes or after an error.
        volumes: Feasible node -> the plan for the pod's volumes, as recorded.
        allocations: Node -> claim -> its allocated devices, as recorded.
    """

    pre_filter: PreFilterOutcome
    skipped_filters: frozenset[str]
    alone_pre_filter: Mapping[str, PreFilterResult | Status | None]
    alone_filter: Answers
    filter: Mapping[str, Status | None] | None
    excluded: Sequence[str]
    via_nominated_node: bool
    feasible: Sequence[str]
    fit_error: str
    unschedulable_plugins: frozenset[str]
    scores: Scores | None
    volumes: Mapping[str, Json]
    allocations: Mapping[str, Json]


@attrs.define(eq=False, kw_only=True)
class Preemption:
    """The results of PostFilter for a pod that fits nowhere.

    Attributes:
        result: The result of its plugins together.
        candidates: All nodes on which eviction makes room.
        dry_run: Node that was tried -> why it is not a candidate, or None.
        cleared: The pods that lost their nomination to the chosen node.
    """

    result: PostFilterResult
    candidates: Sequence[Candidate] = ()
    dry_run: Mapping[str, Status | None] = attrs.field(factory=dict)
    cleared: Sequence[str] = ()


@attrs.define(eq=False, kw_only=True)
class Observation:
    """One attempt to schedule one pod.

    Attributes:
        pod: The pod's key.
        outcome: How it ended.
        retry: Whether an earlier attempt was made.
        error: Why it failed or was ignored.
        pre_enqueue: The status of the first PreEnqueue plugin that rejected it.
        nominated_pods: Node -> the pods that were nominated to it at that time.
        node_sums: Node -> its sums at that time, if the case records them.
        pod_sums: The pod's own requests.
        examination: The examined attempt, or None if it did not reach PreFilter.
        has_score_plugins: Whether the profile has score plugins.
        winner: The chosen node.
        reserve: Why Reserve failed.
        fit_error: Why no node fits, before PostFilter.
        final_fit_error: The same with the text of PostFilter; empty if it did not run.
        preemption: The results of PostFilter, or None if it did not run.
        operation: ``finish`` or ``apply``, if the entry is not an attempt.
        pre_bind: The result of PreBind; None if all plugins skipped, or it did not run.
        failed_after: The station after which the case made the binding fail.
        claims: The claims that have changed, as recorded.
        extended_resources: The pod's status of extended resources, as recorded.
        in_flight: The claims in flight after Reserve.
        unavailable: The claims with devices that a node could not use, if none fits.
        deallocatable: Those of them that PostFilter may deallocate.
        calls: The API calls about claims, in order.
    """

    pod: str
    outcome: Outcome = "ignored"
    retry: bool = False
    error: str = ""
    pre_enqueue: Status | None = None
    nominated_pods: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    node_sums: Mapping[str, NodeSums] | None = None
    pod_sums: NodeSums | None = None
    examination: Examination | None = None
    has_score_plugins: bool = True
    winner: str = ""
    reserve: Status | None = None
    fit_error: str = ""
    final_fit_error: str = ""
    preemption: Preemption | None = None
    operation: str = ""
    pre_bind: Json | None = None
    failed_after: str = ""
    claims: Json = attrs.field(factory=dict)
    extended_resources: Json = attrs.field(factory=dict)
    in_flight: Sequence[str] = ()
    unavailable: Sequence[str] = ()
    deallocatable: Sequence[str] = ()
    calls: Sequence[str] = ()
