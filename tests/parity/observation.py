"""Observations of attempts, in the product's own values."""

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
"""How an attempt ended, in the words of the records."""

Answers: TypeAlias = Mapping[str, Mapping[str, Status | None]]
"""Node -> plugin -> what it said, None for success."""


@attrs.frozen(kw_only=True)
class NodeSums:
    """What the pods on a node request, or one pod alone.

    Attributes:
        scalars: The other resources, without those of which nothing is requested.
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
    the node nevertheless, and there are no numbers.

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
        pre_filter: What all PreFilter plugins said together.
        skipped_filters: The plugins whose Filter is skipped.
        alone_pre_filter: What each PreFilter plugin said on its own.
        alone_filter: What each Filter plugin said of each node on its own, for the
            plugins whose own PreFilter succeeded.
        filter: Every node -> the first rejection, nominated pods considered; None
            when PreFilter rejected the pod.
        excluded: The nodes that PreFilter left out.
        via_nominated_node: Whether only the pod's nominated node was looked at.
        feasible: The feasible nodes, sorted.
        fit_error: Why no node fits, before PostFilter; empty if some does.
        unschedulable_plugins: The plugins that rejected the pod, if no node fits.
        scores: The feasible nodes' scores; None if there are none or scoring failed.
        volumes: Feasible node -> what would be done for the pod's volumes, as recorded.
        allocations: Node -> claim -> the devices that were found for it, as recorded.
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
        result: What its plugins said together.
        candidates: All nodes that room could be made on.
        dry_run: The nodes that were tried -> why they are no candidates, or None.
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
        retry: Whether the pod had been tried before.
        error: Why it failed or was ignored.
        pre_enqueue: What the first PreEnqueue plugin said that refused it.
        nominated_pods: Node -> the pods nominated to it at that time.
        node_sums: Node -> its sums at that time, if the case wants them.
        pod_sums: What the pod itself would add to a node.
        examination: The attempt, examined; None if it did not come to PreFilter.
        has_score_plugins: Whether the profile scores at all.
        winner: The node it was given.
        reserve: Why Reserve failed.
        fit_error: Why no node fits, before PostFilter.
        final_fit_error: The same with what PostFilter added; empty if none ran.
        preemption: What PostFilter did; None if it did not run.
        operation: What happened instead of an attempt: ``finish`` or ``apply``.
        pre_bind: What PreBind said; None if all plugins skipped, or it did not run.
        failed_after: The station after which the binding was made to fail.
        claims: The claims that have changed, as recorded.
        told: What the pod was told of its extended resources, as recorded.
        in_flight: The claims in flight after Reserve.
        unavailable: The claims with devices that some node could not use, if none fits.
        deallocatable: Those of them that PostFilter may free.
        calls: What was asked of the API server about claims, in order.
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
    told: Json = attrs.field(factory=dict)
    in_flight: Sequence[str] = ()
    unavailable: Sequence[str] = ()
    deallocatable: Sequence[str] = ()
    calls: Sequence[str] = ()
