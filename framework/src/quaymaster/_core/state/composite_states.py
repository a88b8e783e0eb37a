"""The states of groups with the feature gate CompositePodGroup: trees of groups.

Mirrors the links between groups in ``Cache`` (Kubernetes v1.37,
``pkg/scheduler/backend/cache/cache.go``), ``TraverseHierarchyUp``
(``framework/preemption/util.go``) and ``GetPodGroupStates``
(``framework/plugins/helper/podgroup.go``).
"""

from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._api.objects.groups import GroupObject, PodGroup
from quaymaster._core.state.group_forest import TreeForest
from quaymaster._core.state.group_states import GroupState, GroupStates

__all__ = ["MAX_DEPTH", "CompositeStates"]

MAX_DEPTH: Final = 4
"""The most levels of a tree: upstream's ``WorkloadMaxTreeDepth``."""


class CompositeStates(GroupStates):
    """The state of each PodGroup, and the trees that PodGroups are in.

    Attributes:
        forest: The objects of both kinds.
    """

    __slots__ = ("forest",)

    def __init__(self) -> None:
        super().__init__()
        self.forest = TreeForest()

    def root_of(self, pod: Pod) -> GroupObject | None:
        """See `GroupStates.root_of`."""
        group = super().root_of(pod)
        return None if group is None else self.forest.root(group.entity_key)

    def root_above(self, group: GroupObject) -> GroupObject | None:
        """See `GroupStates.root_above`."""
        return self.forest.root(group.entity_key)

    def lineage(self, pod: Pod) -> Sequence[GroupObject]:
        """See `GroupStates.lineage`; at most as many as a tree has levels."""
        groups: dict[str, GroupObject] = {}
        group: GroupObject | None = super().root_of(pod)
        # The bound also ends the loop if groups are parents of each other, which the
        # API server does not prevent.
        while group is not None and len(groups) < MAX_DEPTH:
            groups[group.entity_key] = group
            group = self.forest.get(group.parent_key)
        return tuple(groups.values())

    def leaves(self, group: GroupObject) -> Sequence[GroupState]:
        """See `GroupStates.leaves`."""
        keys = (leaf.key for leaf in self.forest.leaves(group.entity_key))
        return [self._states[key] for key in keys]

    def children(self, group: GroupObject) -> Sequence[GroupObject]:
        """See `GroupStates.children`."""
        return self.forest.children(group.entity_key)

    def set_group(self, group: GroupObject) -> None:
        """See `GroupStates.set_group`."""
        self.forest.put(group)
        if isinstance(group, PodGroup):
            super().set_group(group)

    def remove_group(self, group: GroupObject) -> None:
        """See `GroupStates.remove_group`."""
        self.forest.remove(group)
        if isinstance(group, PodGroup):
            super().remove_group(group)
