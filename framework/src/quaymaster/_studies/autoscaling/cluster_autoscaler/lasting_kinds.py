"""What decides about waiting pods on a node, found again when data have changed."""

from collections.abc import Iterable, Mapping

from quaymaster._api.objects import Pod
from quaymaster._core.contract.declarations import Revised
from quaymaster._studies.autoscaling.cluster_autoscaler.standing_trial import (
    StandingTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.waiting_pods import WaitingPods

__all__ = ["LastingKinds"]


class LastingKinds:
    """Follows the kinds of some pods.

    Args:
        trial: The cluster.
        waiting: All pods that wait.
    """

    def __init__(self, trial: StandingTrial, waiting: WaitingPods) -> None:
        self._trial = trial
        self._waiting = waiting
        self._uids: set[str] = set()
        # A dict for its order. The others keep their kinds until data change.
        self._open: dict[str, None] = {}
        # The data by identity, each with its revision when a kind was first asked.
        self._data: dict[int, tuple[Revised, int]] = {}

    def follow(self, uids: Iterable[str]) -> None:
        """Follow these pods instead of the last ones."""
        self._open = dict.fromkeys(uids)
        self._uids = {*self._open}
        self._data = {}

    def add(self, uid: str) -> None:
        """Follow a pod that is new or has changed."""
        self._uids.add(uid)
        self._open[uid] = None

    def drop(self, uid: str) -> None:
        """Do not follow a pod from now on."""
        self._uids.discard(uid)
        self._open.pop(uid, None)

    def changed(self) -> Mapping[str, object] | None:
        """Return the keys of the kinds that may have changed since the last call.

        Returns:
            Uid -> key; None if a pod has no kind.
        """
        if any(data.revision != revision for data, revision in self._data.values()):
            self._data = {}
            self._open = dict.fromkeys(self._waiting.uids() & self._uids)
        kinds = {}
        for uid in [*self._open]:
            waiting = self._waiting.get(uid)
            assert waiting is not None, "only pods that wait are followed"
            key = kinds[uid] = self.of(waiting.pod)
            if key is None:
                return None
        return kinds

    def of(self, pod: Pod) -> object | None:
        """Return the key of the kind of a pod; None if it has no kind."""
        uid, kind = pod.uid, self._trial.kind_of(pod)
        if kind is None or kind.data is None:
            self._open[uid] = None
            return None if kind is None else kind.key
        self._open.pop(uid, None)
        for data in kind.data:
            # The first revision: the kinds of other pods may depend on it.
            self._data.setdefault(id(data), (data, data.revision))
        return kind.key
