"""The CompositePodGroups above a PodGroup, and what else in their tree does not fit."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from quaymaster._api.objects.groups import CompositePodGroup, GroupObject, PodGroup
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.simulation.explained_groups import GroupAttempt, GroupParent

__all__ = ["misfits", "parents"]


def parents(group: PodGroup, cluster: InMemoryCluster) -> tuple[GroupParent, ...]:
    """Return the CompositePodGroups above a group, from its parent to the root."""
    composites = _composites(cluster)
    return tuple(
        GroupParent(
            group=composite.key,
            min_group_count=composite.min_count if _is_gang(composite) else None,
        )
        for composite in _above(group, composites)
    )


def misfits(
    group: PodGroup,
    cluster: InMemoryCluster,
    attempts_of: Callable[[str], Sequence[GroupAttempt]],
) -> tuple[str, ...]:
    """Return the other PodGroups of the tree whose last attempt found no placement.

    Args:
        group: A group.
        cluster: The cluster.
        attempts_of: Returns the attempts of a group by its key.
    """
    composites = _composites(cluster)
    root = _root(group, composites)
    if not group.parent_key:
        return ()
    return tuple(
        other.key
        for other in cluster.list(PodGroup).items
        if other.key != group.key
        and _root(other, composites) == root
        and _fits_nowhere(attempts_of(other.key))
    )


def _composites(cluster: InMemoryCluster) -> dict[str, CompositePodGroup]:
    return {each.entity_key: each for each in cluster.list(CompositePodGroup).items}


def _above(
    group: GroupObject, composites: Mapping[str, CompositePodGroup]
) -> Iterator[CompositePodGroup]:
    """Yield the existing groups above a group; a loop of parents ends the list."""
    passed: set[str] = set()
    parent = composites.get(group.parent_key)
    while parent is not None and parent.key not in passed:
        yield parent
        passed.add(parent.key)
        parent = composites.get(parent.parent_key)


def _root(group: GroupObject, composites: Mapping[str, CompositePodGroup]) -> str:
    root = group.entity_key
    for composite in _above(group, composites):
        root = composite.entity_key
    return root


def _is_gang(composite: CompositePodGroup) -> bool:
    return composite.spec.scheduling_policy.gang is not None


def _fits_nowhere(attempts: Sequence[GroupAttempt]) -> bool:
    return bool(attempts) and not any(
        placement.is_feasible for placement in attempts[-1].placements
    )
