"""The cache of a scheduler with groups: keeps the states of groups in step, too.

Mirrors ``assumePodGroupMember`` and its siblings (Kubernetes v1.37,
``pkg/scheduler/backend/cache/cache.go``).
"""

from collections.abc import Mapping

from quaymaster._api.objects import Pod
from quaymaster._core.state.cache import Cache
from quaymaster._core.state.group_states import GroupStates
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["GroupCache"]


class GroupCache(Cache):
    """A cache that passes assumed, forgotten and bound pods to their groups.

    Pods without a node never come here: event handlers pass them to the groups.

    Args:
        snapshot: Receives the pods and nodes.
        groups: Receives the pods of groups.
    """

    __slots__ = ("_groups",)

    def __init__(self, snapshot: Snapshot, groups: GroupStates) -> None:
        super().__init__(snapshot)
        self._groups = groups

    def assume(self, pod: Pod) -> None:
        """See `Cache`."""
        super().assume(pod)
        self._groups.assume(pod)

    def annotate(self, pod: Pod, annotations: Mapping[str, str]) -> Pod:
        """See `Cache`."""
        annotated = super().annotate(pod, annotations)
        state = self._groups.of(annotated)
        if state is not None:
            state.annotate(annotated)
        return annotated

    def forget(self, pod: Pod) -> bool:
        """See `Cache`."""
        is_gone = super().forget(pod)
        if is_gone:
            self._groups.forget(pod)
        return is_gone

    def remove_assumed(self, pod: Pod) -> None:
        """See `Cache`; its group no longer counts the pod at all."""
        # The cache first, here and above: the states of groups must not count a pod
        # that the cache refuses.
        super().remove_assumed(pod)
        self._groups.remove(pod)

    def add_pod(self, pod: Pod) -> None:
        """See `Cache`."""
        super().add_pod(pod)
        self._groups.put(pod)

    def remove_pod(self, pod: Pod) -> None:
        """See `Cache`."""
        super().remove_pod(pod)
        self._groups.remove(pod)
