"""Plays recorded phases of the real Karpenter with its kwok provider."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.objects import StatefulSet, from_wire
from quaymaster.simulation import Simulation
from tests.autoscale.cases import Tree
from tests.autoscale.solve_player import type_of_case
from tests.kit.internals.karpenter import (
    KWOK_RESTRICTED_DOMAINS,
    KWOK_WELL_KNOWN_LABELS,
    KarpenterOptions,
    NodeClaim,
    NodePool,
)
from tests.kit.internals.karpenter_control import KarpenterSetup

__all__ = ["LivePlayer", "answer_to_live", "launchable", "recorded_nodes", "shapes"]

_POOL: Final = "karpenter.sh/nodepool"

_TYPE: Final = "node.kubernetes.io/instance-type"
_LABELS: Final = (
    _POOL,
    _TYPE,
    "topology.kubernetes.io/zone",
    "karpenter.sh/capacity-type",
)
_STEP: Final = 1.0
_LONGEST: Final = 300.0

Nodes = list[tuple[str, ...]]
"""Pool, type, zone and capacity type of each node, in order."""


def answer_to_live(case: Tree) -> Tree:
    """Return the claims at the end of each phase, in the form of the recordings."""
    phases = []
    with LivePlayer(case) as player:
        for changes in case["do"]:
            player.begin(changes)
            player.settle()
            phases.append({"settled": {"claims": player.claims()}})
    return {"id": case["id"], "phases": phases}


def recorded_nodes(phase: Tree) -> Nodes:
    """Return the nodes at the end of a recorded phase."""
    nodes = phase["settled"]["nodes"].values()
    return sorted(_shape(node["labels"]) for node in nodes)


def shapes(nodes: list[Tree]) -> Nodes:
    """Return the pool, type, zone and capacity type of each node, in order."""
    return sorted(_shape(node["metadata"]["labels"]) for node in nodes)


def launchable(claims: list[Tree]) -> list[tuple[str, list[str]]]:
    """Return the pool of each claim and the types that it may have, in order."""
    return sorted(
        (claim["pool"], sorted(spec["values"]))
        for claim in claims
        for spec in claim["requirements"]
        if spec["key"] == _TYPE
    )


def _shape(labels: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(labels[key] for key in _LABELS)


class LivePlayer:
    """Plays the phases of one case in virtual time.

    Args:
        case: The case.
    """

    def __init__(self, case: Tree) -> None:
        setup = KarpenterSetup(
            types=[type_of_case(tree) for tree in case["types"]],
            pools=[from_wire(tree, NodePool) for tree in case["pools"]],
            options=KarpenterOptions(
                well_known_labels=KWOK_WELL_KNOWN_LABELS,
                restricted_domains=KWOK_RESTRICTED_DOMAINS,
            ),
        )
        self._simulation = Simulation([], autoscaler=setup)

    def __enter__(self) -> "LivePlayer":
        self._simulation.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._simulation.close()

    def begin(self, changes: list[Tree | list[object]]) -> None:
        """Apply the changes of a phase: new objects, or other numbers of replicas."""
        cluster = self._simulation.cluster
        for change in changes:
            if isinstance(change, dict):
                cluster.create(from_wire(change, StatefulSet))
                continue
            name, size = change
            owner = cluster.get(StatefulSet, f"default/{name}")
            assert isinstance(size, int)
            spec = replace(owner.spec, replicas=size)
            cluster.update(replace(owner, spec=spec))

    def settle(self) -> Nodes:
        """Return the nodes after Karpenter has nothing more to do."""
        self._simulation.settle()
        return self.nodes()

    def states(self) -> Iterator[Nodes]:
        """Yield the nodes every second while all pods have one, for some minutes."""
        end = self._simulation.now + _LONGEST
        while self._simulation.now < end:
            self._simulation.run_until(self._simulation.now + _STEP)
            pods = self._simulation.cluster.list(Pod).items
            if all(pod.node_name for pod in pods):
                yield self.nodes()

    def nodes(self) -> Nodes:
        """Return the nodes now."""
        nodes = self._simulation.cluster.list(Node).items
        return sorted(_shape(node.labels) for node in nodes)

    def claims(self) -> list[Tree]:
        """Return the pool and the requirements of each claim that is there now."""
        return [
            {
                "pool": claim.labels[_POOL],
                "requirements": [
                    {"key": spec.key, "operator": spec.operator, "values": spec.values}
                    for spec in claim.spec.requirements
                ],
            }
            for claim in self._simulation.cluster.list(NodeClaim).items
        ]
