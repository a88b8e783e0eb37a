"""The waiting pods that stay on expected nodes from one loop to the next.

Upstream places all of them again in each loop. Here a pod stays in its place if the
next loop would find that it fits there: nothing that decides about it has changed.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._studies.autoscaling.cluster_autoscaler.standing_trial import (
    StandingTrial,
)

__all__ = ["StandingPods"]


@attrs.frozen(eq=False)
class _Placed:
    """A pod in its place, and what decided about it there."""

    pod: Pod
    kind: object


@attrs.frozen(eq=False)
class _Node:
    """A node that stands, with the pods that were placed on it, in this order."""

    info: NodeInfo
    pods: list[_Placed] = attrs.field(factory=list)


class StandingPods:
    """Follows the pods on the nodes that stand.

    Args:
        trial: The cluster.
    """

    def __init__(self, trial: StandingTrial) -> None:
        self._trial = trial
        self._nodes: dict[str, _Node] = {}

    def confirm(
        self, pods: Sequence[Pod], hints: Sequence[str | None]
    ) -> Mapping[str, str]:
        """Return the pods that stay, by uid, with their nodes; take away all others.

        Args:
            pods: The first pods to place, in their order; all have the same priority.
            hints: Where each of them was placed last, or None.
        """
        self._forget_fallen()
        if not self._nodes:
            return {}
        kinds = [self._trial.kind_of(pod) for pod in pods]
        # Each of the others may depend on the places of all pods before it.
        if None in kinds:
            for name in [*self._nodes]:
                self._take_away(name)
            return {}
        now: defaultdict[str, list[_Placed]] = defaultdict(list)
        for pod, hint, kind in zip(pods, hints, kinds, strict=True):
            if hint in self._nodes:
                now[hint].append(_Placed(pod, kind))
        staying: dict[str, str] = {}
        for name, node in [*self._nodes.items()]:
            if _is_start_of(node.pods, now.get(name, ())):
                staying.update({each.pod.uid: name for each in node.pods})
            else:
                self._take_away(name)
        return staying

    def note(self, pod: Pod, name: str) -> None:
        """Note that a pod was placed, so that it may stay if its node stands."""
        if not self._trial.stands(name):
            return
        if name not in self._nodes:
            info = self._trial.get(name)
            assert info is not None, "it has got a pod"
            self._nodes[name] = _Node(info)
        self._nodes[name].pods.append(_Placed(pod, self._trial.kind_of(pod)))

    def _forget_fallen(self) -> None:
        """Forget the nodes that have fallen, with their pods."""
        get = self._trial.get
        # Identity: another node may have its name now.
        self._nodes = {
            name: node for name, node in self._nodes.items() if get(name) is node.info
        }

    def _take_away(self, name: str) -> None:
        pods = [each.pod for each in self._nodes.pop(name).pods]
        self._trial.take_away(pods, name)


def _is_start_of(before: Sequence[_Placed], now: Sequence[_Placed]) -> bool:
    """Whether the same pods would be placed first, in the same order."""
    return len(before) <= len(now) and all(map(_is_same, before, now))


def _is_same(before: _Placed, now: _Placed) -> bool:
    """Whether nothing has changed that a filter may read of a waiting pod.

    The conditions of waiting pods change with each attempt, and are not compared.
    """
    old, new = before.pod, now.pod
    # Identity: a signature has one kind, until data of a plugin change.
    if before.kind is not now.kind:
        return False
    # Identity: equal specs are one object.
    return old is new or (
        old.spec is new.spec
        and old.uid == new.uid
        and old.metadata.labels == new.metadata.labels
        and old.metadata.annotations == new.metadata.annotations
        and old.metadata.deletion_timestamp == new.metadata.deletion_timestamp
    )
