"""Changes that add nodes to the topology domains in which a group was tried."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._base.errors import counted
from quaymaster._base.natural_order import natural_key
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.simulation.explained_groups import (
    GroupAttempt,
    TriedPlacement,
)
from quaymaster._studies.why.candidates import suitable_first
from quaymaster._studies.why.changes import (
    Candidate,
    ChangeKind,
    Effect,
    SuggestedChange,
)
from quaymaster._studies.why.new_nodes import added_copies
from quaymaster._studies.why.node_facts import is_control_plane
from quaymaster._studies.why.usable_nodes import usable_nodes

__all__ = ["nodes_in_domains"]

_DOMAINS: Final = 8
"""How many domains are tried with one more node."""
_SERIES: Final = 3
"""How many domains are tried with several more nodes."""
_MOST: Final = 500
"""How many nodes are added at most."""


def nodes_in_domains(
    pod: Pod, key: str, attempt: GroupAttempt, cluster: InMemoryCluster
) -> Iterator[Candidate]:
    """Offer more nodes in each domain, first where most pods of the group fit.

    Args:
        pod: The pod that stops the group.
        key: The label whose values are the domains.
        attempt: An attempt of the group.
        cluster: The cluster in which it is pending.
    """
    nodes = cluster.list(Node).items
    models = {
        placement.name: model
        for placement in _nearest(attempt)[:_DOMAINS]
        if (model := _model(pod, key, placement.name, cluster)) is not None
    }
    lacking = {
        placement.name: len(attempt.tried) - len(placement.assigned)
        for placement in attempt.placements
    }
    added = partial(_added, nodes, key)
    for domain, model in models.items():
        yield _candidate(partial(added, model, domain), 1, 1)
    for domain, model in list(models.items())[:_SERIES]:
        most = min(_MOST, lacking[domain])
        if most > 1:
            yield _candidate(partial(added, model, domain), 2, most)


def _nearest(attempt: GroupAttempt) -> list[TriedPlacement]:
    """Return the domains, first those in which most pods fit."""

    def rank(placement: TriedPlacement) -> tuple[int, object]:
        return -len(placement.assigned), natural_key(placement.name)

    return sorted((each for each in attempt.placements if each.name), key=rank)


def _model(pod: Pod, key: str, domain: str, cluster: InMemoryCluster) -> Node | None:
    """Return the node of a domain that a new one may be like, or None."""
    nodes = [
        node
        for node in suitable_first(pod, cluster)
        if node.labels.get(key) == domain and not is_control_plane(node)
    ]
    usable = usable_nodes(pod, nodes)
    return usable[0] if usable else None


def _candidate(add: partial[SuggestedChange], least: int, most: int) -> Candidate:
    """Offer a range of numbers of nodes."""
    return Candidate(
        kind=ChangeKind.ADD_NODE,
        effect=Effect.ADDS_ROOM,
        levels=most - least + 1,
        # Level 0 is the largest change, as the search goes from there to smaller ones.
        at=lambda level: add(most - level),
    )


def _added(
    nodes: Sequence[Node], key: str, model: Node, domain: str, count: int
) -> SuggestedChange:
    change = added_copies(nodes, model, {key: domain}, count)
    plan = "; 'quaymaster plan' looks for the cheapest nodes" if count > 1 else ""
    amount = counted(count, "more node")
    text = f"add {amount} in {domain}, like {model.name} ({key}={domain}){plan}"
    return attrs.evolve(change, text=text)
