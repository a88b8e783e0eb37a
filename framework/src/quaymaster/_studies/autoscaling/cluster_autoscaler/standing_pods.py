"""The waiting pods that stay on expected nodes from one loop to the next.

Upstream places all of them again in each loop. Here a pod stays in its place if the
next loop would find that it fits there: nothing that decides about it has changed.
"""

from collections.abc import Mapping

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.cluster_autoscaler.lasting_kinds import (
    LastingKinds,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.standing_trial import (
    StandingTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.waiting_pods import (
    WaitingPod,
    WaitingPods,
)

__all__ = ["StandingPods"]


@attrs.frozen(eq=False)
class _Placed:
    """A pod in its place, and what decided about it there.

    Attributes:
        waiting: The pod that waits.
        pod: Its version when it was placed.
        node: The name of the node.
        kind: The key of its kind; None if that may change.
    """

    waiting: WaitingPod
    pod: Pod
    node: str
    kind: object


class StandingPods:
    """Follows the waiting pods, and those that stay on nodes that stand.

    Args:
        trial: The cluster.

    Attributes:
        waiting: All pods that wait.
        loose: Those that do not stay, by uid.
    """

    def __init__(self, trial: StandingTrial) -> None:
        self._trial = trial
        self.waiting = WaitingPods()
        self.loose: dict[str, WaitingPod] = {}
        self._placed: dict[str, _Placed] = {}
        # The pods on each node that stands, in the order in which they were placed.
        self._nodes: dict[str, list[_Placed]] = {}
        self._kinds = LastingKinds(trial, self.waiting)
        self._first: int | None = None
        # The nodes whose pods the next loop would place in another order, or later.
        self._disordered: set[str] = set()

    def update(self, changes: Mapping[str, WaitingPod | None]) -> Mapping[str, str]:
        """Take away the pods that may not stay.

        Only pods of the highest priority stay: these must not see any other. Each of
        the others may depend on the places of all pods before it.

        Args:
            changes: The pods that have changed since the last call, by uid; None for
                those that no longer wait.

        Returns:
            Where the pods were that no longer stay, by uid.
        """
        self.waiting.update(changes)
        gone: dict[str, str] = {}
        for name in self._trial.take_fallen():
            self._forget(name, gone)
        first = self.waiting.first_rank()
        if first != self._first:
            self._first = first
            self._kinds.follow(self.waiting.of_rank(first))
            leaving = {*self._nodes}
        else:
            leaving = self._disordered
        self._disordered = set()
        for uid, each in changes.items():
            if each is None or each.rank != first:
                self._kinds.drop(uid)
            else:
                self._kinds.add(uid)
            placed = self._placed.get(uid)
            if placed is None:
                self._put(uid, each)
            elif not _is_same(placed, each):
                leaving.add(placed.node)
        if self._nodes:
            leaving |= self._other_kinds()
        for name in sorted(leaving & self._nodes.keys()):
            pods = [each.pod for each in self._nodes[name]]
            self._forget(name, gone)
            self._trial.take_away(pods, name)
        return gone

    def note(self, pod: Pod, name: str) -> None:
        """Note that a pod was placed, so that it may stay if its node stands."""
        if not self._trial.stands(name):
            return
        uid = pod.uid
        each = self.waiting.get(uid)
        assert each is not None, "only waiting pods are placed"
        pods = self._nodes.setdefault(name, [])
        is_ordered = not pods or pods[-1].waiting.place < each.place
        is_first = each.rank == self._first
        if not is_ordered or not is_first:
            self._disordered.add(name)
        kind = self._kinds.of(pod) if is_first else None
        placed = self._placed[uid] = _Placed(each, pod, name, kind)
        pods.append(placed)
        self.loose.pop(uid, None)

    def _other_kinds(self) -> set[str]:
        """Return the nodes with pods about which other things decide now."""
        changed = self._kinds.changed()
        if changed is None:
            return {*self._nodes}
        return {
            placed.node
            for uid, kind in changed.items()
            # Identity: equal pods have one key, until data of a plugin change.
            if (placed := self._placed.get(uid)) and placed.kind is not kind
        }

    def _forget(self, name: str, gone: dict[str, str]) -> None:
        """Forget the pods of a node."""
        for placed in self._nodes.pop(name, ()):
            uid = placed.pod.uid
            del self._placed[uid]
            gone[uid] = name
            self._put(uid, self.waiting.get(uid))

    def _put(self, uid: str, waiting: WaitingPod | None) -> None:
        """Note that a pod does not stay; it may no longer wait."""
        if waiting is None:
            self.loose.pop(uid, None)
        else:
            self.loose[uid] = waiting


def _is_same(placed: _Placed, waiting: WaitingPod | None) -> bool:
    """Whether nothing has changed that a filter may read of a waiting pod.

    The conditions of waiting pods change with each attempt, and are not compared.
    """
    if waiting is None or waiting.place != placed.waiting.place:
        return False
    old, new = placed.pod, waiting.pod
    # Identity: equal specs are one object.
    return old is new or (
        old.spec is new.spec
        and old.metadata.labels == new.metadata.labels
        and old.metadata.annotations == new.metadata.annotations
        and old.metadata.deletion_timestamp == new.metadata.deletion_timestamp
    )
