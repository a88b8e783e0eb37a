"""Machines are the same, whether kept up to date or read at once."""

import random
from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.objects import PodAffinityTerm, Time
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.karpenter import (
    BoundPods,
    MachineStates,
    NodeClaim,
    NodeGroups,
    StateNode,
    groups_of,
)

STEPS = 60
NAMES = tuple(f"n{number}" for number in range(5))
AWAY = PodAffinityTerm(topology_key="kubernetes.io/hostname")
LABELS = {
    "karpenter.sh/nodepool": "general",
    "node.kubernetes.io/instance-type": "small",
    "karpenter.sh/registered": "true",
}


def node(chance: random.Random, name: str) -> Node:
    """Draw a node; some have no labels yet, or the ID of another machine."""
    made = make_node(name=name, labels=chance.choice((LABELS, LABELS, {})))
    provider_id = chance.choice((f"id-{name}", f"id-{name}", "id-n0", ""))
    made = replace(made, spec=replace(made.spec, provider_id=provider_id))
    if chance.random() < 0.2:
        metadata = replace(made.metadata, deletion_timestamp=Time(1.0))
        made = replace(made, metadata=metadata)
    return made


def claim(chance: random.Random, name: str) -> NodeClaim:
    """Draw a claim; some are not launched yet."""
    made = NodeClaim()
    metadata = replace(made.metadata, name=name, labels=LABELS)
    provider_id = chance.choice((f"id-{name}", f"id-{name}", "id-n1", ""))
    status = replace(made.status, provider_id=provider_id)
    return replace(made, metadata=metadata, status=status)


def shown(machines: Sequence[StateNode]) -> list[object]:
    return [
        (each.node, each.claim, [*each.pods], each.marked, each.nominated_until)
        for each in machines
    ]


@pytest.mark.parametrize("seed", range(12))
def test_machines_follow_all_changes(seed: int) -> None:
    chance = random.Random(seed)
    nodes: dict[str, Node] = {}
    claims: dict[str, NodeClaim] = {}
    pods: dict[str, Pod] = {}
    bound = BoundPods()
    machines = MachineStates(bound)
    earlier, groups = [machines.read(frozenset(), {})], None
    for _ in range(STEPS):
        name, kind = chance.choice(NAMES), chance.choice(("node", "claim", "pod"))
        if kind == "node" and name in nodes and chance.random() < 0.3:
            del nodes[name]
            machines.drop_node(name)
        elif kind == "node":
            nodes[name] = node(chance, name)
            machines.put_node(nodes[name])
        elif kind == "claim" and name in claims and chance.random() < 0.3:
            del claims[name]
            machines.drop_claim(name)
        elif kind == "claim":
            claims[name] = claim(chance, name)
            machines.put_claim(claims[name])
        else:
            pod = pods[f"default/{name}"] = make_pod(
                name=name,
                node=chance.choice((None, *NAMES)),
                pod_anti_affinity=[AWAY] * (chance.random() < 0.3),
            )
            bound.put(pod)
        marked = frozenset(chance.sample(NAMES, chance.randint(0, 1)))
        nominated = {each: 10.0 for each in NAMES if chance.random() < 0.2}
        ours = machines.read(marked, nominated)
        fresh = read_at_once(nodes, claims, pods, marked, nominated)
        assert shown(ours) == shown(fresh)
        assert machines.read(marked, nominated) is ours
        before = chance.choice(earlier)
        assert ours.changes_since(before) == ({*before} - {*ours}, {*ours} - {*before})
        assert [*ours] == sorted(ours, key=lambda each: each.place)
        # Not always: groups are often brought up to date by several changes at once.
        if chance.random() < 0.6:
            groups = groups_of(ours, groups)
            assert parts(groups) == parts(groups_of(ours, None))
        earlier.append(ours)


def parts(groups: NodeGroups) -> list[object]:
    counts = {key: count for key, count in groups.counts.items() if count}
    return [groups.by_name, counts, [*groups.leaving], [*groups.keeping_away]]


def read_at_once(
    nodes: Mapping[str, Node],
    claims: Mapping[str, NodeClaim],
    pods: Mapping[str, Pod],
    marked: frozenset[str],
    nominated: Mapping[str, float],
) -> Sequence[StateNode]:
    machines = MachineStates(BoundPods(pods.values()))
    for each in nodes.values():
        machines.put_node(each)
    for other in claims.values():
        machines.put_claim(other)
    return machines.read(marked, nominated)


def test_a_machine_that_is_the_same_is_the_same_object() -> None:
    machines = MachineStates(BoundPods())
    for name in NAMES:
        machines.put_node(make_node(name=name))
    before = machines.read(frozenset(), {})
    machines.put_node(make_node(name=NAMES[1]))
    after = machines.read(frozenset(), {})
    same = [old is new for old, new in zip(before, after, strict=True)]
    assert same == [True, False, True, True, True]
