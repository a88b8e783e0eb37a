"""The pods of each group, by their state, with the object PodGroup.

Mirrors ``podGroupState`` (Kubernetes v1.37,
``pkg/scheduler/backend/cache/podgroupstate.go``). Upstream copies the state for each
cycle and assumes pods in the copy. Here one thread does both, so there is one state: a
cycle assumes pods in it, and forgets them at its end.
"""

from collections.abc import Iterator, Sequence

import msgspec

from quaymaster._api.objects import Pod
from quaymaster._api.objects.groups import GroupObject, PodGroup

__all__ = ["GroupState", "GroupStates"]


class GroupState(msgspec.Struct, eq=False):
    """The pods of a group, and its object.

    It exists as long as there is a pod or the object; each may arrive first. A pod is
    in exactly one of `unscheduled`, `assumed` and `assigned`.

    Attributes:
        key: ``namespace/name`` of the group.
        group: The object, or None if it does not exist.
        pods: Uid -> the pod as the API server has it, for all pods of the group.
        unscheduled: Uid -> the pod, for pods without a node.
        assumed: Uid -> the pod with the node that it is assumed on.
        assigned: Uid -> the pod, for bound pods.
    """

    key: str
    group: PodGroup | None = None
    pods: dict[str, Pod] = msgspec.field(default_factory=dict)
    unscheduled: dict[str, Pod] = msgspec.field(default_factory=dict)
    assumed: dict[str, Pod] = msgspec.field(default_factory=dict)
    assigned: dict[str, Pod] = msgspec.field(default_factory=dict)

    @property
    def scheduled_count(self) -> int:
        """The number of pods that have a node, bound or assumed."""
        return len(self.assumed) + len(self.assigned)

    def scheduled(self) -> Sequence[Pod]:
        """Return the pods that have a node: first the bound, then the assumed pods."""
        return [*self.assigned.values(), *self.assumed.values()]

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a pod nor the object."""
        return not self.pods and self.group is None

    def put(self, pod: Pod) -> None:
        """Add a pod, or store its newer version."""
        uid = pod.metadata.uid
        self.pods[uid] = pod
        if pod.node_name:
            self.unscheduled.pop(uid, None)
            self.assumed.pop(uid, None)
            self.assigned[uid] = pod
        # An update without a node comes while the pod is assumed: the bind is under
        # way, so the pod still counts as scheduled.
        elif uid not in self.assumed:
            self.assigned.pop(uid, None)
            self.unscheduled[uid] = pod

    def remove(self, uid: str) -> None:
        """Remove a deleted or finished pod, if it is here."""
        for pods in (self.pods, self.unscheduled, self.assumed, self.assigned):
            pods.pop(uid, None)

    def assume(self, pod: Pod) -> None:
        """Count a pod as scheduled on its node, unless it was deleted meanwhile."""
        uid = pod.metadata.uid
        # A pod that is deleted while its group is tried must not come back through its
        # assumption.
        if uid in self.unscheduled:
            del self.unscheduled[uid]
            self.assumed[uid] = pod

    def annotate(self, pod: Pod) -> None:
        """Replace an assumed pod by the same pod with more annotations."""
        if pod.metadata.uid in self.assumed:
            self.assumed[pod.metadata.uid] = pod

    def forget(self, uid: str) -> None:
        """Make an assumed pod an unscheduled pod again, if it is assumed."""
        if self.assumed.pop(uid, None) is not None:
            self.unscheduled[uid] = self.pods[uid]


class GroupStates:
    """The state of each group that has a pod or an object, by ``namespace/name``.

    Methods that take a pod ignore pods outside groups.
    """

    __slots__ = ("_states",)

    def __init__(self) -> None:
        self._states: dict[str, GroupState] = {}

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[GroupState]:
        """All states, in the order in which they were made."""
        return iter(self._states.values())

    def get(self, key: str) -> GroupState | None:
        """Return the state of a group by its ``namespace/name``, or None."""
        return self._states.get(key)

    def of(self, pod: Pod) -> GroupState | None:
        """Return the state of a pod's group; None if it is in no group."""
        return self._states.get(pod.group_key)

    def root_of(self, pod: Pod) -> GroupObject | None:
        """Return the root of the tree that a pod is in.

        Without the feature gate CompositePodGroup, each PodGroup is a root.

        Args:
            pod: The pod.

        Returns:
            The root; None if the pod is in no group, or if the object of its group or
            of a group above it does not exist.
        """
        state = self.of(pod)
        return None if state is None else state.group

    def root_above(self, group: GroupObject) -> GroupObject | None:
        """Return the root of the tree that a group is in, as `root_of` does."""
        state = self._states.get(group.key)
        return None if state is None else state.group

    def lineage(self, pod: Pod) -> Sequence[GroupObject]:
        """Return the group of a pod and the groups above it, as far as they exist."""
        state = self.of(pod)
        return () if state is None or state.group is None else (state.group,)

    def leaves(self, group: GroupObject) -> Sequence[GroupState]:
        """Return the states of the PodGroups of a tree.

        Args:
            group: The root of the tree; a PodGroup is its only leaf.
        """
        state = self._states.get(group.key)
        return () if state is None else (state,)

    def children(self, _group: GroupObject) -> Sequence[GroupObject]:
        """Return the groups directly below a group, in the order of their keys."""
        return ()

    def set_group(self, group: GroupObject) -> None:
        """Store an object, or its newer version."""
        assert isinstance(group, PodGroup), "there are no other groups here"
        self._made(group.key).group = group

    def remove_group(self, group: GroupObject) -> None:
        """Remove a deleted object; its pods stay."""
        state = self._states.get(group.key)
        if state is not None:
            state.group = None
            self._drop_if_empty(state)

    def put(self, pod: Pod) -> None:
        """Add a pod, or store its newer version."""
        key = pod.group_key
        if key:
            self._made(key).put(pod)

    def remove(self, pod: Pod) -> None:
        """Remove a deleted or finished pod."""
        state = self.of(pod)
        if state is not None:
            state.remove(pod.metadata.uid)
            self._drop_if_empty(state)

    def assume(self, pod: Pod) -> None:
        """Count a pod as scheduled on its node."""
        state = self.of(pod)
        if state is not None:
            state.assume(pod)

    def forget(self, pod: Pod) -> None:
        """Make an assumed pod an unscheduled pod again."""
        state = self.of(pod)
        if state is not None:
            state.forget(pod.metadata.uid)

    def _made(self, key: str) -> GroupState:
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = GroupState(key)
        return state

    def _drop_if_empty(self, state: GroupState) -> None:
        if state.is_empty:
            del self._states[state.key]
