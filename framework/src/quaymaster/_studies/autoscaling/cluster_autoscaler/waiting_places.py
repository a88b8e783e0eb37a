"""The places of the pods that wait, from loop to loop."""

from collections.abc import Mapping, Sequence, Set

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.cluster_autoscaler.hints import HintedPlacing
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import SeenPod
from quaymaster._studies.autoscaling.cluster_autoscaler.standing_pods import (
    StandingPods,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.standing_trial import (
    StandingTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.waiting_pods import (
    BY_PLACE,
    WaitingPod,
    waiting_pod,
)

__all__ = ["WaitingPlaces"]


class WaitingPlaces:
    """Places the pods that wait in each loop; most of them stay where they are.

    Args:
        trial: The cluster.
    """

    def __init__(self, trial: StandingTrial) -> None:
        self._standing = StandingPods(trial)
        self._placing = HintedPlacing(trial, self._standing.note)
        self._others: Sequence[str] = ()

    def place(
        self, changes: Mapping[str, SeenPod | None], others: Sequence[Pod]
    ) -> list[Pod]:
        """Place all pods, those with higher priority first.

        Args:
            changes: The pods of the cluster that have changed since the last call, by
                uid; None for those that do not wait now.
            others: The other pods, in their order.

        Returns:
            The pods that fit nowhere, in the order in which they were placed.
        """
        # A pod of the cluster may have been one of the others, and the other way round.
        changed: dict[str, WaitingPod | None] = dict.fromkeys(self._others)
        for uid, seen in changes.items():
            changed[uid] = None if seen is None else waiting_pod(seen)
        for number, pod in enumerate(others):
            changed[pod.uid] = waiting_pod(SeenPod(number, pod), is_last=True)
        self._others = [pod.uid for pod in others]
        for uid, name in self._standing.update(changed).items():
            self._placing.suggest(uid, name)
        loose = sorted(self._standing.loose.values(), key=BY_PLACE)
        pods = [each.pod for each in loose]
        placed = self._placing.place(pods, lambda _name: True)
        self._placing.forget_old()
        return [pod for pod in pods if pod.uid not in placed]

    def placed(self, left: Sequence[Pod]) -> Set[str]:
        """Return the uids of all pods except for those that fit nowhere."""
        return {*self._standing.waiting.uids()} - {pod.uid for pod in left}
