"""Plays recorded solves of Karpenter."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from quaymaster import ApiObject
from quaymaster.objects import KINDS, Quantity, Time, from_wire
from tests.autoscale.cases import Tree
from tests.kit.internals.karpenter import (
    KWOK_RESTRICTED_DOMAINS,
    KWOK_WELL_KNOWN_LABELS,
    RESERVATION_ID,
    ClusterState,
    InstanceType,
    KarpenterOptions,
    NodeClaim,
    NodeOverlay,
    NodePool,
    Offering,
    ProposedClaim,
    Requirement,
    Requirements,
    as_created,
    kwok_offering,
    kwok_type,
    pods_to_schedule,
    solve,
)

__all__ = [
    "answer_to_solve",
    "claim_tree",
    "options_of",
    "state_of",
    "type_of_case",
]

_KINDS: Final[dict[str, type[ApiObject]]] = {
    **KINDS,
    "NodeClaim": NodeClaim,
    "NodeOverlay": NodeOverlay,
    "NodePool": NodePool,
}
_INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"


def answer_to_solve(case: Tree, seed: int | None) -> Tree:
    """Return our answer to a case.

    Args:
        case: The case.
        seed: Draws where upstream leaves the choice to chance; None draws nothing.
    """
    state, options = state_of(case), options_of(case, seed)
    pods = pods_to_schedule(state, options)
    result = solve(state, pods.all_pods, options)
    answer = {
        "new": [claim_tree(as_created(c, options), options) for c in result.new_claims],
        "existing": {
            name: sorted(pod.key for pod in placed)
            for name, placed in sorted(result.existing.items())
        },
        "errors": {key: result.errors[key] for key in sorted(result.errors)},
    }
    return {"id": case["id"], "answers": [answer]}


def state_of(case: Tree) -> ClusterState:
    """Return the cluster of a case."""
    return ClusterState.from_objects(
        [_object(tree) for tree in case["objects"]],
        [
            type_of_case(tree, reserves=case.get("reserved", False))
            for tree in case["types"]
        ],
        now=Time.parse(case["now"]),
    )


def options_of(case: Tree, seed: int | None) -> KarpenterOptions:
    """Return the options that the flags of a case set."""
    flags = frozenset(case.get("flags") or ())
    gates = {gate for flag in flags for gate in flag.partition("=")[2].split(",")}
    reserved = {RESERVATION_ID} if case.get("reserved") else frozenset()
    return KarpenterOptions(
        ignore_preferences="--preference-policy=Ignore" in flags,
        best_effort_min_values="--min-values-policy=BestEffort" in flags,
        spot_to_spot_consolidation="SpotToSpotConsolidation=true" in gates,
        node_overlay="NodeOverlay=true" in gates,
        reserved_capacity="ReservedCapacity=false" not in gates,
        well_known_labels=KWOK_WELL_KNOWN_LABELS | reserved,
        restricted_domains=KWOK_RESTRICTED_DOMAINS,
        seed=seed,
    )


def _object(tree: Tree) -> ApiObject:
    return from_wire(tree, _KINDS[tree["kind"]])


def type_of_case(tree: Tree, *, reserves: bool = False) -> InstanceType:
    """Return an instance type of a case.

    Args:
        tree: The type as it was recorded.
        reserves: Whether the cloud has reservations, so that each offering names its
            own or none.
    """
    made = kwok_type(
        name=tree["name"],
        arch=tree["arch"],
        systems=[tree["os"]] if isinstance(tree["os"], str) else tree["os"],
        capacity={name: Quantity(text) for name, text in tree["capacity"].items()},
        offerings=[_offering(row, reserves=reserves) for row in tree["offerings"]],
    )
    return attrs.evolve(made, volume_limits=tree.get("volumes", {}))


def _offering(row: Sequence[Any], *, reserves: bool) -> Offering:
    zone, kind, price, *rest = row
    available = rest[0] if rest else True
    name, count = rest[1:] or ("", 0)
    offering = kwok_offering(zone, kind, price, available=available)
    if not reserves:
        return offering
    requirements = offering.requirements.copy()
    operator = "In" if name else "DoesNotExist"
    requirements.add([Requirement.of(RESERVATION_ID, operator, [name] if name else [])])
    return attrs.evolve(
        offering,
        requirements=requirements,
        reservation_id=name,
        reservation_capacity=count,
    )


def claim_tree(claim: ProposedClaim, options: KarpenterOptions) -> Tree:
    """Return a claim in the form of the recordings."""
    return {
        "pool": claim.pool.name,
        "pods": sorted(pod.key for pod in claim.pods),
        "types": [each.name for each in claim.instance_types],
        "requirements": [*_requirements(claim)],
        "requests": {name: str(amount) for name, amount in claim.requests.items()},
        "labels": dict(claim.labels),
        "taints": None,
        "cheapest": _cheapest(
            claim.instance_types, claim.requirements, options.well_known_labels
        ),
    }


def _requirements(claim: ProposedClaim) -> Iterator[Tree]:
    """Yield the requirements; of that on types only how many there must be."""
    for tree in claim.requirement_trees():
        if tree["key"] != _INSTANCE_TYPE:
            yield tree
        elif "minValues" in tree:
            yield {key: tree[key] for key in tree if key != "values"}


def _cheapest(
    types: Sequence[InstanceType],
    requirements: Requirements,
    well_known: frozenset[str],
) -> list[list[object]]:
    """Return the offerings that a launch by price may choose."""
    offered = [
        (offering.price, each.name, offering.zone, offering.capacity_type)
        for each in types
        for offering in each.offerings
        if offering.is_launchable
        and requirements.compatible(offering.requirements, well_known)
    ]
    lowest = min(offered, default=(0.0,))[0]
    return [[n, z, c, p] for p, n, z, c in sorted(offered) if p == lowest]
