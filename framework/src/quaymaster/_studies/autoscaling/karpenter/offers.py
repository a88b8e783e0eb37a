"""The nodes that Karpenter may launch, as offers to a plan.

A plan tries combinations of offers, and a cloud has hundreds of types in several zones.
So an offer is left out if another one is at least as good for all pods of the cluster:
it has as much of each resource that they request, the same labels that they depend on,
the same taints, and costs no more.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node, NodeSpec, NodeStatus, ObjectMeta
from quaymaster._api.objects.meta import ApiObject
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts, amounts_of
from quaymaster._studies.autoscaling.karpenter.claim_objects import (
    quantities,
    single_values,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    Offering,
    compatible_offerings,
    launchable,
)
from quaymaster._studies.autoscaling.karpenter.labels import INSTANCE_TYPE, NODE_POOL
from quaymaster._studies.autoscaling.karpenter.objects import NodePool
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.solve.templates import (
    SIMULATED_LABELS,
    PoolTemplate,
    supply_of,
)
from quaymaster._studies.autoscaling.used_labels import used_labels, used_resources
from quaymaster._studies.simulation.autoscaler import NodeOffer

__all__ = ["node_offers"]

_NODES: Final = "nodes"
_UNIT: Final = 10**9
_MOST_NODES: Final = 5_000
"""Without limits; groups of plans have no more."""


@attrs.frozen(kw_only=True, eq=False)
class _Candidate:
    """An offering of a type in a pool.

    Attributes:
        pool: The pool.
        instance_type: The type.
        offering: The offering.
        labels: The labels of its nodes.
        key: What all pods of the cluster see of it, apart from resources.
        room: What its nodes have of the resources that are requested.
        most: How many of its nodes the limits of its pool allow.
    """

    pool: NodePool
    instance_type: InstanceType
    offering: Offering
    labels: Mapping[str, str]
    key: object
    room: Sequence[int]
    most: int

    def is_as_good_as(self, other: "_Candidate") -> bool:
        """Return whether it replaces another candidate of the same key and price."""
        return self.most >= other.most and all(
            own >= needed for own, needed in zip(self.room, other.room, strict=True)
        )


def node_offers(
    types: Sequence[InstanceType],
    pools: Sequence[NodePool],
    options: KarpenterOptions,
    objects: Sequence[ApiObject],
) -> Sequence[NodeOffer]:
    """Return the nodes that Karpenter may launch, without those that others replace.

    Args:
        types: The types that the cloud offers to every pool.
        pools: Pools that the input need not have.
        options: The options of Karpenter.
        objects: The objects of the cluster.
    """
    present = {obj.name for obj in objects if isinstance(obj, NodePool)}
    every = [*objects, *(pool for pool in pools if pool.name not in present)]
    state = ClusterState.from_objects(every, types, now=0.0)
    labels, resources = used_labels(objects), sorted(used_resources(objects))
    candidates = [
        candidate
        for template in supply_of(state, options).templates
        for candidate in _candidates(template, labels, resources, options, objects)
    ]
    return _offers(_without_replaced(candidates))


def _candidates(
    template: PoolTemplate,
    labels: frozenset[str],
    resources: Sequence[str],
    options: KarpenterOptions,
    objects: Iterable[ApiObject],
) -> Iterator[_Candidate]:
    left = _left_of(template.pool, objects)
    taints = frozenset(template.taints)
    for each in template.type_filter.index.members(template.types):
        room = tuple(each.allocatable.get(name, 0) for name in resources)
        most = _most_within(left, each.capacity)
        matching = compatible_offerings(
            launchable(each.offerings), template.requirements, options.well_known_labels
        )
        for offering in matching:
            own = _labels(template, each, offering)
            seen = frozenset((key, own.get(key)) for key in labels)
            yield _Candidate(
                pool=template.pool,
                instance_type=each,
                offering=offering,
                labels=own,
                key=(seen, taints),
                room=room,
                most=most,
            )


def _labels(
    template: PoolTemplate, instance_type: InstanceType, offering: Offering
) -> dict[str, str]:
    """Return the labels of a node, as it will have them at least."""
    labels = {
        **template.labels,
        **single_values(template.requirements),
        INSTANCE_TYPE: instance_type.name,
        **single_values(instance_type.requirements),
        **single_values(offering.requirements),
    }
    return {key: labels[key] for key in labels if key not in SIMULATED_LABELS}


def _left_of(pool: NodePool, objects: Iterable[ApiObject]) -> Amounts:
    """Return what the limits of a pool leave beside the nodes of the input."""
    left = amounts_of(pool.spec.limits)
    if not left:
        return left
    for obj in objects:
        if isinstance(obj, Node) and obj.labels.get(NODE_POOL) == pool.name:
            used = {**amounts_of(obj.status.capacity), _NODES: _UNIT}
            left = {name: left[name] - used.get(name, 0) for name in left}
    return left


def _most_within(left: Amounts, capacity: Amounts) -> int:
    sizes = {**capacity, _NODES: _UNIT}
    counts = (left[name] // sizes[name] for name in left if sizes.get(name))
    return max(0, min(counts, default=_MOST_NODES))


def _without_replaced(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """Return the candidates that no other one replaces, in the order of their price."""
    kept: defaultdict[object, list[_Candidate]] = defaultdict(list)
    # Of equally cheap ones, the largest is first, and so replaces the others.
    order = sorted(candidates, key=lambda each: (each.offering.price, _negated(each)))
    for each in order:
        better = kept[each.key]
        if each.most and not any(other.is_as_good_as(each) for other in better):
            better.append(each)
    return [each for members in kept.values() for each in members]


def _negated(candidate: _Candidate) -> Sequence[int]:
    return [-amount for amount in candidate.room]


def _offers(candidates: Sequence[_Candidate]) -> Sequence[NodeOffer]:
    short = [_short_name(each) for each in candidates]
    counts = Counter(short)
    return [
        NodeOffer(
            name=name if counts[name] == 1 else f"{name}-{each.offering.zone}",
            group=each.pool.name,
            template=_node(each),
            most=each.most,
            price=each.offering.price,
        )
        for name, each in zip(short, candidates, strict=True)
    ]


def _short_name(candidate: _Candidate) -> str:
    offering = candidate.offering
    parts = (candidate.pool.name, candidate.instance_type.name, offering.capacity_type)
    return "-".join(part for part in parts if part)


def _node(candidate: _Candidate) -> Node:
    instance_type = candidate.instance_type
    taints = candidate.pool.spec.template.spec.taints
    return Node(
        metadata=ObjectMeta(name=instance_type.name, labels=dict(candidate.labels)),
        spec=NodeSpec(taints=taints),
        status=NodeStatus(
            capacity=quantities(instance_type.capacity),
            allocatable=quantities(instance_type.allocatable),
        ),
    )
