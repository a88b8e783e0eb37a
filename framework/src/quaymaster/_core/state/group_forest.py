"""The objects of groups: flat, or as trees with groups of groups.

Mirrors ``workloadForest`` (Kubernetes v1.37,
``pkg/scheduler/backend/queue/workload_forest.go``), and the links from parents to
children in ``pkg/scheduler/backend/cache/cache.go``. Where upstream iterates over a
map, children are in the order of their keys.
"""

import math
from collections.abc import Iterator, Sequence

from quaymaster._api.objects.groups import CompositePodGroup, GroupObject, PodGroup

__all__ = ["FlatForest", "TreeForest", "children_in_turn"]


class FlatForest:
    """PodGroups without parents: each is a tree of its own.

    Without the feature gate CompositePodGroup, parents do not count.
    """

    def __init__(self) -> None:
        self._objects: dict[str, GroupObject] = {}

    def __contains__(self, entity_key: object) -> bool:
        return entity_key in self._objects

    def get(self, entity_key: str) -> GroupObject | None:
        """Return an object by its ``entity_key``, or None."""
        return self._objects.get(entity_key)

    def put(self, group: GroupObject) -> None:
        """Add an object, or replace it by a newer version."""
        self._objects[group.entity_key] = group

    def remove(self, group: GroupObject) -> None:
        """Remove an object, if it is here."""
        self._objects.pop(group.entity_key, None)

    def root(self, entity_key: str) -> GroupObject | None:
        """Return the root of the tree of a group.

        Args:
            entity_key: The key of the group.

        Returns:
            The root; None if the object, or one above it, does not exist.
        """
        return self._objects.get(entity_key)

    def missing(self, entity_key: str) -> str:
        """Return the first key on the way to the root that has no object, or empty."""
        return "" if entity_key in self._objects else entity_key

    def leaves(self, entity_key: str) -> Sequence[PodGroup]:
        """Return the PodGroups at or below a group, whose object may not exist."""
        group = self._objects.get(entity_key)
        return (group,) if isinstance(group, PodGroup) else ()

    def children(self, _entity_key: str) -> Sequence[GroupObject]:
        """Return the groups directly below a group, in the order of their keys."""
        return ()


class TreeForest(FlatForest):
    """PodGroups and the CompositePodGroups above them."""

    def __init__(self) -> None:
        super().__init__()
        # Parent -> its children, also while the parent does not exist.
        self._children: dict[str, dict[str, GroupObject]] = {}

    def put(self, group: GroupObject) -> None:
        """See `FlatForest`."""
        super().put(group)
        parent = group.parent_key
        if parent:
            self._children.setdefault(parent, {})[group.entity_key] = group

    def remove(self, group: GroupObject) -> None:
        """See `FlatForest`."""
        super().remove(group)
        siblings = self._children.get(group.parent_key)
        if siblings is not None:
            siblings.pop(group.entity_key, None)
            if not siblings:
                del self._children[group.parent_key]

    def root(self, entity_key: str) -> GroupObject | None:
        """See `FlatForest`; also None if the parents form a circle."""
        *_, (key, last) = self._upward(entity_key)
        return None if last is None or last.parent_key else self._objects[key]

    def missing(self, entity_key: str) -> str:
        """See `FlatForest`."""
        *_, (key, last) = self._upward(entity_key)
        return key if last is None else ""

    def leaves(self, entity_key: str) -> Sequence[PodGroup]:
        """See `FlatForest`."""
        return tuple(self._leaves(entity_key, {}))

    def children(self, entity_key: str) -> Sequence[GroupObject]:
        """See `FlatForest`."""
        # Sorted, because the order in which watches report objects must not decide who
        # gets room.
        children = self._children.get(entity_key, {})
        return [children[key] for key in sorted(children)]

    def _upward(self, entity_key: str) -> Iterator[tuple[str, GroupObject | None]]:
        """Yield a group and those above it, up to the first that does not exist."""
        visited: dict[str, None] = {}
        key = entity_key
        while key and key not in visited:
            visited[key] = None
            group = self._objects.get(key)
            yield key, group
            key = "" if group is None else group.parent_key

    def _leaves(self, entity_key: str, visited: dict[str, None]) -> Iterator[PodGroup]:
        if entity_key in visited:
            return
        visited[entity_key] = None
        group = self._objects.get(entity_key)
        if isinstance(group, PodGroup):
            yield group
            return
        for child in self.children(entity_key):
            yield from self._leaves(child.entity_key, visited)


def children_in_turn(forest: FlatForest, group: CompositePodGroup) -> list[GroupObject]:
    """Return the children of a group in the order in which they are placed.

    The oldest is first, then the smallest name: ``GetChildGroups`` (Kubernetes v1.37,
    ``pkg/scheduler/framework/types.go``).
    """
    children = forest.children(group.entity_key)
    return sorted(children, key=_age_and_name)


def _age_and_name(group: GroupObject) -> tuple[int, str]:
    # The API has whole seconds.
    return math.floor(group.metadata.creation_timestamp or 0), group.name
