"""Places pods on nodes and on claims for new nodes.

Mirrors ``scheduler.go`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.amounts import (
    NODES,
    Amounts,
    amounts_of,
    largest,
    subtracted,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.go_sort import sort_slice
from quaymaster._studies.autoscaling.karpenter.instance_types import truncated
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import has_device_claims
from quaymaster._studies.autoscaling.karpenter.solve.chance import Chance
from quaymaster._studies.autoscaling.karpenter.solve.claims import (
    OpenClaim,
    ProposedClaim,
)
from quaymaster._studies.autoscaling.karpenter.solve.default_spread import (
    with_default_spread,
)
from quaymaster._studies.autoscaling.karpenter.solve.existing_nodes import (
    ExistingNodes,
)
from quaymaster._studies.autoscaling.karpenter.solve.node_facts import nodes_of_solve
from quaymaster._studies.autoscaling.karpenter.solve.plain_pods import (
    PodKind,
    pod_kinds,
)
from quaymaster._studies.autoscaling.karpenter.solve.pod_data import PodData, pod_data
from quaymaster._studies.autoscaling.karpenter.solve.preferences import relaxed
from quaymaster._studies.autoscaling.karpenter.solve.queue import PodQueue
from quaymaster._studies.autoscaling.karpenter.solve.refusals import (
    Cause,
    PoolRefusal,
    Refusal,
)
from quaymaster._studies.autoscaling.karpenter.solve.reservations import Reservations
from quaymaster._studies.autoscaling.karpenter.solve.templates import (
    PoolTemplate,
    supply_of,
)
from quaymaster._studies.autoscaling.karpenter.solve.topology import Topology
from quaymaster._studies.autoscaling.karpenter.solve.topology_constraints import (
    Constraints,
)
from quaymaster._studies.autoscaling.karpenter.solve.volumes import (
    VolumeError,
    has_claims,
    volume_alternatives,
    volumes_of,
)

__all__ = ["POOL_PROBLEMS", "SolveResult", "claim_of_pool", "solve"]

_NO_TYPES = "nodepool requirements filtered out all available instance types"
_NO_POOLS = "no dynamic nodepools found"
POOL_PROBLEMS = frozenset({_NO_TYPES})
"""Why no pod gets a new node, in upstream's words, if the reason is in the pools."""

_NO_DEVICES = (
    "pod has Dynamic Resource Allocation requirements "
    "that are not yet supported by Karpenter"
)


@attrs.frozen(kw_only=True)
class SolveResult:
    """Where pods go.

    Attributes:
        new_claims: The claims to make.
        existing: The pods that each node gets, by its name.
        errors: Why the other pods go nowhere, by their keys.
        problem: Why no pod was looked at: no pool can be used. Empty otherwise. As
            upstream, pods have no errors of their own then.
        refusals: The same for each pool, where it depends on the pool.
        deferred: The keys of those that only wait for reserved capacity.
        final: The keys of those that Karpenter does not serve at all.
        pools_left_out: Why no claim can be of some pools, by their names.
        remaining: What the limits of each pool leave after the new claims.
        draws: From how many equal domains one was drawn for a pod that failed. Another
            solve takes the next one; 1 if another solve would fail in the same way.
        is_given_up: Whether it has ended before all pods were placed.
    """

    new_claims: Sequence[ProposedClaim] = ()
    existing: Mapping[str, Sequence[Pod]] = attrs.field(factory=dict)
    errors: Mapping[str, str] = attrs.field(factory=dict)
    problem: str = ""
    refusals: Mapping[str, Mapping[str, PoolRefusal]] = attrs.field(factory=dict)
    deferred: frozenset[str] = frozenset()
    final: frozenset[str] = frozenset()
    pools_left_out: Mapping[str, str] = attrs.field(factory=dict)
    remaining: Mapping[str, Amounts] = attrs.field(factory=dict)
    draws: int = 1
    is_given_up: bool = False


def solve(
    state: ClusterState,
    pods: Sequence[Pod],
    options: KarpenterOptions,
    *,
    exclude_nodes: Collection[str] = (),
    consolidates: bool = False,
    strict_reservations: bool = True,
    reservation_credits: Mapping[str, int] | None = None,
    failed_draws: int = 0,
    needing_started: Collection[str] = (),
) -> SolveResult:
    """Return where pods go: on which nodes, and on which claims for new ones.

    Args:
        state: The cluster.
        pods: The pods to place; where they run now does not count.
        options: The options.
        exclude_nodes: Names of nodes that get no pods, as they will be gone.
        consolidates: Whether a consolidation is simulated: nodes whose pods have
            changed lately get no pods of candidates.
        strict_reservations: Whether a pod waits rather than leaves reserved capacity.
        reservation_credits: Nodes that reservations get back.
        failed_draws: How many solves before this one failed by a draw.
        needing_started: Keys of pods; once one of them gets a node that has not
            started, the solve ends.
    """
    supply = supply_of(state, options)
    if not supply.pools:
        return SolveResult(problem=_NO_POOLS, pools_left_out=supply.left_out)
    scheduler = _Scheduler(
        state,
        pods,
        options,
        exclude_nodes=frozenset(exclude_nodes),
        consolidates=consolidates,
        reservations=Reservations(
            supply.reserved, reservation_credits or {}, strict=strict_reservations
        ),
        failed_draws=failed_draws,
        needing_started=needing_started,
    )
    return scheduler.solve()


def claim_of_pool(
    state: ClusterState, pod: Pod, options: KarpenterOptions, pool: str
) -> ProposedClaim | Refusal:
    """Return the claim that one pod alone would get of a pool, or why it gets none.

    Args:
        state: The cluster.
        pod: The pod; preferences that cannot be met do not count.
        options: The options.
        pool: The name of a pool that can have some type.
    """
    supply = supply_of(state, options)
    [template] = [each for each in supply.templates if each.name == pool]
    scheduler = _Scheduler(
        state,
        [pod],
        options,
        exclude_nodes=frozenset(),
        consolidates=False,
        reservations=Reservations(supply.reserved, {}, strict=False),
    )
    return scheduler.claim_of(template)


class _Scheduler:
    def __init__(
        self,
        state: ClusterState,
        pods: Sequence[Pod],
        options: KarpenterOptions,
        *,
        exclude_nodes: frozenset[str],
        consolidates: bool,
        reservations: Reservations,
        failed_draws: int = 0,
        needing_started: Collection[str] = (),
    ) -> None:
        self._supply = supply_of(state, options)
        self._options = options
        self._chance = Chance(options.seed, failed_draws)
        self._reservations = reservations
        named = [pod if pod.uid else _with_uid(pod) for pod in pods]
        self._pods = with_default_spread(state, named, options.default_constraints)
        self._originals = {
            pod.uid: original for pod, original in zip(named, pods, strict=True)
        }
        self._claims: list[OpenClaim] = []
        self._hosts = 0
        self._data: dict[str, PodData] = {}
        counted: list[Pod] = []
        uncounted: list[Pod] = []
        for pod in self._pods:
            (counted if self._read(state, pod) else uncounted).append(pod)
        nodes = nodes_of_solve(state, options, self._supply, exclude_nodes)
        constraints = Constraints(
            state,
            self._supply.domains,
            self._chance,
            ignores_preferences=options.ignore_preferences,
        )
        self._topology = Topology(state, nodes, constraints, counted, uncounted)
        self._nodes = ExistingNodes(
            state,
            nodes,
            self._topology,
            consolidates=consolidates,
            needing_started=needing_started,
            kinds=self._kinds(state),
        )
        self._remaining = {
            pool.name: subtracted(
                amounts_of(pool.spec.limits), nodes.capacity(pool.name)
            )
            for pool in self._supply.pools
        }

    def _kinds(self, state: ClusterState) -> Mapping[str, PodKind] | None:
        """Return the kinds of all pods by uid, or None if one is not plain."""
        kinds = pod_kinds(state, self._options, self._supply)
        by_uid: dict[str, PodKind] = {}
        for pod in self._pods if kinds is not None else ():
            kind = kinds and kinds.kind_of(pod)
            if not kind:
                return None
            by_uid[pod.uid] = kind
        return None if kinds is None else by_uid

    def _read(self, state: ClusterState, pod: Pod) -> bool:
        """Read what a pod needs; return whether its volumes exist."""
        data = pod_data(pod, ignores_preferences=self._options.ignore_preferences)
        exist = True
        if has_claims(pod):
            try:
                places = volume_alternatives(state, pod)
            except VolumeError:
                places, exist = (), False
            data = attrs.evolve(data, volume_alternatives=places)
            try:
                data = attrs.evolve(data, volumes=volumes_of(state, pod))
            except VolumeError as error:
                data = attrs.evolve(data, volume_problem=error.problem)
        self._data[pod.uid] = data
        return exist

    def solve(self) -> SolveResult:
        """Place all pods that can be placed, in rounds."""
        queue = PodQueue(self._pods, lambda pod: self._data[pod.uid].requests)
        refusals: dict[str, Refusal] = {}
        failures: Counter[str] = Counter()
        draws: dict[str, int] = {}
        while (pod := queue.pop()) is not None:
            self._chance.begin(failures[pod.key])
            refusal = self._place(pod)
            if refusal is None:
                refusals.pop(pod.key, None)
                draws.pop(pod.key, None)
                if self._nodes.is_given_up:
                    return SolveResult(is_given_up=True)
                continue
            refusals[pod.key] = refusal
            draws[pod.key] = self._chance.most
            failures[pod.key] += 1
            self._set(pod)
            queue.push(pod)
        self._chance.begin(0)
        return attrs.evolve(
            self._result(refusals), draws=max(draws.values(), default=1)
        )

    def claim_of(self, template: PoolTemplate) -> ProposedClaim | Refusal:
        """Return the claim of a pool for the only pod, or why there is none."""
        [pod] = self._pods
        while True:
            data = self._data[pod.uid]
            refusal = self._basic_refusal(data) or self._open_of(template, data)
            if refusal is None:
                return self._claims[0].completed(self._chance)
            less = relaxed(pod, tolerates_preferences=self._supply.prefers_no_pods)
            if refusal.is_final or less is None:
                return refusal
            pod = less
            self._set(pod)

    def _set(self, pod: Pod) -> None:
        """Read a pod again whose preferences have changed."""
        before = self._data[pod.uid]
        # Identity: an equal pod has the same constraints.
        if before.pod is pod:
            return
        self._topology.update(pod)
        self._data[pod.uid] = pod_data(
            pod, ignores_preferences=self._options.ignore_preferences, base=before
        )

    def _place(self, pod: Pod) -> Refusal | None:
        """Place a pod, with fewer and fewer preferences; return why it fails."""
        while True:
            refusal = self._add(self._data[pod.uid])
            # Preferences are not given up for reserved capacity, which may become free,
            # nor for what no preference can change (``trySchedule``).
            if refusal is None or refusal.is_deferral or refusal.is_final:
                return refusal
            less = relaxed(pod, tolerates_preferences=self._supply.prefers_no_pods)
            if less is None:
                return refusal
            pod = less
            self._set(pod)

    def _basic_refusal(self, data: PodData) -> Refusal | None:
        """Return why a pod goes nowhere, whatever nodes there are, or None."""
        if has_device_claims(data.pod):
            return Refusal(_NO_DEVICES.__str__, is_final=True)
        if data.volume_problem:
            return Refusal.of(data.volume_problem)
        return None

    def _add(self, data: PodData) -> Refusal | None:
        refusal = self._basic_refusal(data)
        if refusal is not None:
            return refusal
        if self._nodes.place(data) or self._join(data):
            return None
        if not self._supply.templates:
            return Refusal.of(_NO_TYPES)
        return self._open(data)

    def _join(self, data: PodData) -> bool:
        """Let a pod join the first claim that it fits, those with few pods first."""
        # The claim with the fewest pods grows first. Beyond 12 elements Go's sort is
        # not stable, and its order among equals decides which claim gets the pod.
        self._claims = sort_slice(self._claims, lambda claim: len(claim.pods))
        for claim in self._claims:
            if not claim.has_room(data):
                continue
            joining = claim.try_pod(data, relax_min_values=False)
            if not isinstance(joining, Refusal):
                claim.join(data, joining)
                return True
        return False

    def _open(self, data: PodData) -> Refusal | None:
        """Make a claim of the first pool that can hold a pod."""
        refusals: dict[str, Refusal] = {}
        # By weight, then by name from z to a. The first pool that can make a node does;
        # the prices of pools are not compared.
        for template in self._supply.templates:
            refusal = self._open_of(template, data)
            if refusal is None:
                return None
            refusals[template.name] = refusal
            # A pool of less weight must not take the pod while it waits for reserved
            # capacity.
            if refusal.is_deferral:
                break
        return Refusal(
            lambda: "; ".join(map(str, refusals.values())),
            is_deferral=any(refusal.is_deferral for refusal in refusals.values()),
            by_pool=refusals,
        )

    def _open_of(self, template: PoolTemplate, data: PodData) -> Refusal | None:
        types, problem = self._types_within_limits(template)
        if problem:
            text = f"{problem} for nodepool (NodePool={template.name})"
            return Refusal.of(text, Cause.LIMITS)
        self._hosts += 1
        claim = OpenClaim(
            template,
            f"hostname-placeholder-{self._hosts:04}",
            types,
            self._topology,
            self._reservations,
            self._options,
        )
        best_effort = self._options.best_effort_min_values
        joining = claim.try_pod(data, relax_min_values=best_effort)
        if isinstance(joining, Refusal):
            return joining
        claim.relaxes_min_values = any(
            (requirement.min_values or 0)
            < (claim.requirements.get(requirement.key).min_values or 0)
            for requirement in joining.requirements
        )
        claim.join(data, joining)
        self._claims.append(claim)
        self._charge(claim)
        return None

    def _types_within_limits(self, template: PoolTemplate) -> tuple[int, str]:
        """Return the types that the limits of a pool leave, or why there are none."""
        remaining = self._remaining[template.name]
        if remaining.get(NODES) == 0:
            return 0, "node limits have been exhausted"
        types = template.types
        if remaining:
            types &= template.type_filter.index.within(remaining)
        return types, "" if types else "all available instance types exceed limits"

    def _charge(self, claim: OpenClaim) -> None:
        """Subtract the largest type of a claim from the limits of its pool."""
        name = claim.template.name
        remaining = self._remaining[name]
        if remaining:
            types = claim.template.type_filter.index.members(claim.types)
            # The cloud may launch the largest type, so the limit of the pool must have
            # room for it. What it leaves unused is given back in the next round
            # (``subtractMax``).
            most: Amounts = largest(each.capacity for each in types)
            self._remaining[name] = subtracted(remaining, most)

    def _result(self, refusals: Mapping[str, Refusal]) -> SolveResult:
        errors = {key: str(refusal) for key, refusal in refusals.items()}
        claims = []
        # Upstream returns copies without the preferences that were given up.
        originals = self._originals
        for claim in self._claims:
            proposed = claim.completed(self._chance)
            own = tuple(originals[pod.uid] for pod in proposed.pods)
            proposed = attrs.evolve(proposed, pods=own)
            types, problem = truncated(
                proposed.instance_types,
                proposed.requirements,
                self._options.max_instance_types,
                best_effort=self._options.best_effort_min_values,
                well_known=self._options.well_known_labels,
            )
            if problem:
                text = (
                    "pod didn’t schedule because NodePool couldn’t meet minValues "  # noqa: RUF001  # upstream's text
                    f"requirements, {problem} (NodePool={proposed.pool.name})"
                )
                errors.update({pod.key: text for pod in proposed.pods})
            else:
                claims.append(attrs.evolve(proposed, instance_types=types))
        return SolveResult(
            new_claims=claims,
            existing={
                name: [originals[pod.uid] for pod in pods]
                for name, pods in self._nodes.placed.items()
            },
            errors=errors,
            refusals={
                key: {pool: each.of_pool() for pool, each in refusal.by_pool.items()}
                for key, refusal in refusals.items()
                if refusal.by_pool
            },
            deferred=frozenset(k for k, r in refusals.items() if r.is_deferral),
            final=frozenset(k for k, r in refusals.items() if r.is_final),
            pools_left_out=self._supply.left_out,
            remaining=self._remaining,
        )


def _with_uid(pod: Pod) -> Pod:
    """Return a pod of a manifest, which has no uid yet, with one of its own."""
    return replace(pod, metadata=replace(pod.metadata, uid=pod.key))
