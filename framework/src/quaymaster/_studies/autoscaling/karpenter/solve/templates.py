"""What the new nodes of each pool can be.

Mirrors ``nodeclaimtemplate.go`` and the start of ``NewScheduler``
(sigs.k8s.io/karpenter v1.15, ``pkg/controllers/provisioning``).
"""

import functools
import operator
from bisect import bisect_left
from collections.abc import Mapping, Sequence

import attrs

from quaymaster._api.objects import DaemonSet, Taint
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    UNKNOWN_PRICE,
    InstanceType,
    Offering,
    launchable,
    satisfies_min_values,
)
from quaymaster._studies.autoscaling.karpenter.label_rules import (
    pool_problems,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    INITIALIZED,
    NODE_POOL,
    REGISTERED,
    RESERVED,
    node_class_label,
)
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeOverlay,
    NodePool,
    condition,
)
from quaymaster._studies.autoscaling.karpenter.offered_types import offered_types
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.daemon_groups import DaemonPods
from quaymaster._studies.autoscaling.karpenter.solve.reservations import (
    reserved_offerings,
)
from quaymaster._studies.autoscaling.karpenter.solve.topology_domains import (
    DomainGroup,
    domain_groups,
)
from quaymaster._studies.autoscaling.karpenter.solve.type_filter import TypeFilter
from quaymaster._studies.autoscaling.karpenter.solve.type_index import (
    TypeIndex,
    places_of,
)

__all__ = [
    "NO_TYPES_REASONS",
    "SIMULATED_LABELS",
    "PoolTemplate",
    "Supply",
    "supply_of",
    "template_of",
    "types_of_pools",
]

_NO_TYPES = "NodePool requirements filtered out all compatible available instance types"
_TOO_FEW_VALUES = f"{_NO_TYPES} due to minValues incompatibility"

NO_TYPES_REASONS = frozenset({_NO_TYPES, _TOO_FEW_VALUES})
"""Why a pool is left out that can have no type, in upstream's words."""

SIMULATED_LABELS = frozenset({REGISTERED, INITIALIZED})
"""Labels of nodes that have started, which claims do not require."""


@attrs.frozen(kw_only=True, eq=False)
class PoolTemplate:
    """A pool with the types that it can have.

    Attributes:
        pool: The pool.
        labels: The labels of its nodes.
        requirements: What their labels can be.
        types: The types that it can have, as bits of the index of the filter.
        type_filter: Filters them.
    """

    pool: NodePool
    labels: Mapping[str, str]
    requirements: Requirements
    types: int
    type_filter: TypeFilter

    @property
    def name(self) -> str:
        """The name of the pool."""
        return self.pool.name

    @functools.cached_property
    def _by_floor(self) -> tuple[list[float], list[int]]:
        """Lowest prices of types in order, and the types below each, as bits."""
        floors = {
            place: min(
                (
                    offering.price
                    for offering in launchable(
                        self.type_filter.index.types[place].offerings
                    )
                    if _may_be_launched(offering, self.requirements)
                ),
                default=UNKNOWN_PRICE,
            )
            for place in places_of(self.types)
        }
        places = sorted(floors, key=floors.__getitem__)
        below = [0]
        for place in places:
            below.append(below[-1] | 1 << place)
        return [floors[place] for place in places], below

    def may_hold_for_less(self, requests: Amounts, price: float) -> bool:
        """Return whether a new node may hold requests and cost less than a price."""
        floors, below = self._by_floor
        cheaper = below[bisect_left(floors, price)]
        return bool(cheaper) and self.type_filter.index.have_room(requests, cheaper)

    @property
    def taints(self) -> Sequence[Taint]:
        """The taints of its nodes."""
        return self.pool.spec.template.spec.taints


@attrs.frozen(kw_only=True, eq=False)
class Supply:
    """The pools that new nodes can be of.

    Attributes:
        pools: The pools, the one to try first in front.
        types: The types that the cloud offers to each.
        reserved: The reserved offerings of these types.
        templates: Those of them that can have some type.
        domains: The values that their nodes can have, by label.
        daemons: The pods of DaemonSets.
        prefers_no_pods: Whether a pool has a taint that only prefers.
        left_out: Why no node can be of other pools, by their names.
        sources: The objects that all of this follows from.
    """

    pools: Sequence[NodePool]
    types: Mapping[str, Sequence[InstanceType]]
    reserved: Sequence[Offering]
    templates: Sequence[PoolTemplate]
    domains: Mapping[str, DomainGroup]
    daemons: DaemonPods
    prefers_no_pods: bool
    left_out: Mapping[str, str]
    sources: Sequence[object]


def _may_be_launched(offering: Offering, requirements: Requirements) -> bool:
    """Return whether a claim of a pool may get an offering.

    Args:
        offering: The offering.
        requirements: Those of the pool; a claim may have more.
    """
    # A claim with reserved capacity requires another capacity type than its pool.
    if offering.capacity_type == RESERVED:
        return True
    return all(
        own is None or own.intersects(each) or (own.is_negative and each.is_negative)
        for each in offering.requirements
        for own in (requirements.by_key.get(each.key),)
    )


def supply_of(state: ClusterState, options: KarpenterOptions) -> Supply:
    """Return the pools of a cluster and what they can have; computed once."""
    key = ("supply", options)
    if key not in state.cache:
        sources, latest = _sources(state), state.latest.get(key)
        if not isinstance(latest, Supply) or not _are_same(latest.sources, sources):
            latest = state.latest[key] = _supply(state, options, sources)
        state.cache[key] = latest
    supply = state.cache[key]
    assert isinstance(supply, Supply)
    return supply


def _sources(state: ClusterState) -> list[object]:
    daemon_sets = state.all_of(DaemonSet)
    return [
        *state.pools.values(),
        *state.all_of(NodeOverlay),
        *daemon_sets,
        *map(state.newest_daemon_pod, daemon_sets),
        *(state.instance_types.get(name) for name in state.pools),
    ]


def _are_same(before: Sequence[object], now: Sequence[object]) -> bool:
    # Identity: an object of the cluster that has changed is another object.
    return len(before) == len(now) and all(map(operator.is_, before, now))


def types_of_pools(
    state: ClusterState, options: KarpenterOptions, pools: Sequence[NodePool]
) -> Mapping[str, Sequence[InstanceType]]:
    """Return the types of some pools, without those that have none."""
    offered = offered_types(state, options)
    return {
        pool.name: listed for pool in pools if (listed := offered.get(pool.name, ()))
    }


def _supply(
    state: ClusterState, options: KarpenterOptions, sources: Sequence[object]
) -> Supply:
    pools, left_out = _usable_pools(state, options)
    types = types_of_pools(state, options, pools)
    daemons = DaemonPods(state)
    indexes: dict[int, TypeIndex] = {}
    templates = []
    for pool in pools:
        listed = types.get(pool.name, ())
        # Pools mostly share one list of types, and so its index.
        index = indexes.get(id(listed))
        if index is None:
            index = TypeIndex(listed, options.well_known_labels)
            indexes[id(listed)] = index
        template = template_of(pool, index, daemons, options)
        if isinstance(template, str):
            left_out[pool.name] = template
        else:
            templates.append(template)
    return Supply(
        pools=pools,
        types=types,
        reserved=reserved_offerings(types),
        templates=templates,
        domains=domain_groups({pool.name: pool for pool in pools}, types),
        daemons=daemons,
        prefers_no_pods=any(
            taint.effect == "PreferNoSchedule"
            for pool in pools
            for taint in pool.spec.template.spec.taints
        ),
        left_out=left_out,
        sources=sources,
    )


def _usable_pools(
    state: ClusterState, options: KarpenterOptions
) -> tuple[list[NodePool], dict[str, str]]:
    """Return the pools that new nodes can be of, and why others are left out.

    They are in order of weight, and then of their names from z to a.
    """
    left_out = {
        pool.name: reason
        for pool in state.pools.values()
        if (reason := _why_left_out(pool, options))
    }
    pools = [pool for name, pool in state.pools.items() if name not in left_out]
    pools.sort(key=lambda pool: (pool.weight, pool.name), reverse=True)
    return pools, left_out


def _why_left_out(pool: NodePool, options: KarpenterOptions) -> str:
    """Return why new nodes cannot be of a pool, or empty."""
    classes = options.node_classes
    if pool.is_static:
        return "it has a fixed number of nodes, spec.replicas"
    if pool.metadata.deletion_timestamp is not None:
        return "it is being deleted"
    if classes is not None and _class_of(pool) not in classes:
        return "its node class belongs to another provider"
    ready = condition(pool.status.conditions, "Ready")
    if ready is not None:
        why = ready.message or ready.reason or f"Ready is {ready.status}"
        return "" if ready.status == "True" else f"it is not ready: {why}"
    # A manifest has no status yet, so what upstream would find out is found out here.
    return "; ".join(pool_problems(pool, options))


def _class_of(pool: NodePool) -> tuple[str, str]:
    reference = pool.spec.template.spec.node_class_ref
    return reference.group, reference.kind


def template_of(
    pool: NodePool, index: TypeIndex, daemons: DaemonPods, options: KarpenterOptions
) -> PoolTemplate | str:
    """Return the template of a pool, or why it can have no type."""
    labels = _labels(pool)
    requirements = Requirements.from_conditions(pool.spec.template.spec.requirements)
    requirements.add(Requirements.from_labels(labels))
    requirements.add(Requirement.of(key, "In", ("true",)) for key in SIMULATED_LABELS)
    types = index.filtered(requirements, {}, index.everything).all_met
    if not types:
        return _NO_TYPES
    if _lacks_values(requirements, index.members(types), options):
        return _TOO_FEW_VALUES
    groups = daemons.groups(
        requirements,
        pool.spec.template.spec.taints,
        index.types,
        [*places_of(types)],
        options.well_known_labels,
    )
    return PoolTemplate(
        pool=pool,
        labels=labels,
        requirements=requirements,
        types=types,
        type_filter=TypeFilter(index=index, groups=groups),
    )


def _lacks_values(
    requirements: Requirements,
    types: Sequence[InstanceType],
    options: KarpenterOptions,
) -> bool:
    """Return whether the types of a pool have fewer values than it says."""
    if options.best_effort_min_values:
        return False
    return bool(satisfies_min_values(types, requirements).missing)


def _labels(pool: NodePool) -> dict[str, str]:
    labels = {**pool.spec.template.metadata.labels, NODE_POOL: pool.name}
    reference = pool.spec.template.spec.node_class_ref
    # Pools that are written for a simulation may lack the class.
    if reference.kind:
        labels[node_class_label(reference.group, reference.kind)] = reference.name
    return labels
