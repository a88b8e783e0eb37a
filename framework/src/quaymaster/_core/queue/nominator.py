"""Pods that are nominated to a node, and not assumed on it yet.

Mirrors Kubernetes v1.36, ``pkg/scheduler/backend/queue/nominator.go``, with one
difference: a cleared nomination is removed, while upstream keeps it under an empty node
name. That has no effect, since no node has an empty name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from quaymaster._api.objects import Pod
from quaymaster._core.contract.results import NominatingInfo, NominatingMode
from quaymaster._core.state.change_log import ChangeLog

__all__ = ["Nominator", "PodLookup"]

PodLookup: TypeAlias = Callable[[str], Pod | None]
"""``namespace/name`` -> the pod in the informers, or None."""

_OVERRIDE: Final = NominatingMode.OVERRIDE


class Nominator:
    """Nominated pods by node, in the order of nomination.

    Args:
        lookup: The informers' pods: a deleted or bound pod is not nominated.

    Attributes:
        changes: The names of the nodes whose nominated pods have changed.
    """

    __slots__ = ("_by_node", "_lookup", "_node_of", "_tuples", "changes")

    def __init__(self, lookup: PodLookup) -> None:
        self._lookup = lookup
        self.changes: ChangeLog[str] = ChangeLog()
        self._by_node: dict[str, dict[str, Pod]] = {}
        self._node_of: dict[str, str] = {}
        self._tuples: dict[str, tuple[Pod, ...]] = {}

    def add(self, pod: Pod, nominating: NominatingInfo | None = None) -> None:
        """Nominate a pod, and replace its nomination, if any.

        Args:
            pod: The pod.
            nominating: The new nomination; for None or NOOP, that of the pod's status.
        """
        uid = pod.metadata.uid
        if uid in self._node_of:
            self._remove(uid)
        if nominating is not None and nominating.mode is _OVERRIDE:
            node_name = nominating.node_name
        else:
            node_name = pod.status.nominated_node_name
        if not node_name:
            return
        stored = self._lookup(pod.key)
        # Upstream does not nominate such pods either: nothing would ever release the
        # room.
        # Looked up by name and not by uid, as ``addNominatedPodUnlocked`` does with its
        # lister.
        if stored is None or stored.node_name or stored.is_finished:
            return
        self._node_of[uid] = node_name
        self._tuples.pop(node_name, None)
        self.changes.note(node_name)
        self._by_node.setdefault(node_name, {})[uid] = pod

    def update(self, old: Pod, new: Pod) -> None:
        """Handle a changed pod.

        An update without any nomination may have been sent before the scheduler
        nominated the pod. Then the nomination stays, and is the last one of its node.
        """
        node_name = self._node_of.get(old.metadata.uid)
        if (
            node_name is not None
            # An update without a nomination on both sides is an older event than the
            # nomination that is stored here: the patch of the status has not come back
            # yet.
            and not old.status.nominated_node_name
            and not new.status.nominated_node_name
        ):
            self._remove(old.metadata.uid)
            self.add(new, NominatingInfo(node_name, _OVERRIDE))
            return
        self.delete(old)
        self.add(new)

    def substitute(self, pod: Pod) -> None:
        """Store another object for a nominated pod with this uid, if there is one."""
        uid = pod.metadata.uid
        node_name = self._node_of.get(uid)
        if node_name is not None:
            # The place in the order stays; deleting and adding would move the pod
            # behind the others.
            self._by_node[node_name][uid] = pod
            self._tuples.pop(node_name, None)
            self.changes.note(node_name)

    def delete(self, pod: Pod) -> None:
        """Remove a pod's nomination, if any."""
        if pod.metadata.uid in self._node_of:
            self._remove(pod.metadata.uid)

    def pods_on(self, node_name: str) -> Sequence[Pod]:
        """Return the pods that are nominated to a node, in the order of nomination.

        The result is the same object as before if nothing has changed.
        """
        nominated = self._tuples.get(node_name)
        if nominated is None:
            pods = self._by_node.get(node_name)
            if not pods:
                return ()
            nominated = self._tuples[node_name] = tuple(pods.values())
        return nominated

    @property
    def is_empty(self) -> bool:
        """Whether no pod is nominated to any node."""
        return not self._by_node

    def nodes(self) -> Sequence[str]:
        """Return the nodes that any pod is nominated to."""
        return tuple(self._by_node)

    def by_node(self) -> Mapping[str, Sequence[Pod]]:
        """Return the pods that are nominated to each node, by its name."""
        # Copies, since callers nominate and clear while they go through the nodes.
        return {name: tuple(pods.values()) for name, pods in self._by_node.items()}

    def _remove(self, uid: str) -> None:
        node_name = self._node_of.pop(uid)
        self._tuples.pop(node_name, None)
        self.changes.note(node_name)
        pods = self._by_node[node_name]
        del pods[uid]
        if not pods:
            del self._by_node[node_name]
