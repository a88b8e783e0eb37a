"""Places pods on existing nodes, first where they were placed in the last loop.

Mirrors ``simulator/scheduling/hinting_simulator.go``.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import (
    controller_uid,
    is_daemon_pod,
    scheduling_key,
)
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["HintedPlacing"]

_MOST_PER_CONTROLLER: Final = 10


class HintedPlacing:
    """Places pods, and remembers where.

    Args:
        trial: The cluster.
        note: Called with each pod that was placed, and the name of its node.
    """

    def __init__(
        self, trial: TrialCluster, note: Callable[[Pod, str], None] | None = None
    ) -> None:
        self._trial = trial
        self._note_place = note
        self._hints: dict[str, str] = {}
        self._old: dict[str, str] = {}

    def place(
        self,
        pods: Sequence[Pod],
        is_acceptable: Callable[[str], bool],
        *,
        all_or_nothing: bool = False,
    ) -> set[str]:
        """Place pods, those with higher priority first.

        Args:
            pods: The pods, which have no node.
            is_acceptable: Whether a node may be used, by its name.
            all_or_nothing: Whether to stop at the first pod that fits nowhere.

        Returns:
            The uids of the pods that have a place.
        """
        placed, hopeless = set[str](), _Hopeless()
        for group in _by_priority(pods):
            left = []
            for pod in group:
                if self._place_by_hint(pod, is_acceptable):
                    placed.add(pod.uid)
                else:
                    left.append(pod)
            for pod in left:
                if hopeless.has(pod) or not self._place(pod, is_acceptable):
                    hopeless.add(pod)
                    if all_or_nothing:
                        break
                    continue
                placed.add(pod.uid)
        return placed

    def suggest(self, uid: str, name: str) -> None:
        """Try a pod first on this node in the next call."""
        self._old[uid] = name

    def forget_old(self) -> None:
        """Forget the hints that were not used since the last call."""
        self._old, self._hints = self._hints, {}

    def _hint(self, pod: Pod) -> str | None:
        return self._hints.get(pod.uid) or self._old.get(pod.uid)

    def _place_by_hint(self, pod: Pod, is_acceptable: Callable[[str], bool]) -> bool:
        name = self._hint(pod)
        if name is None or self._trial.get(name) is None or not is_acceptable(name):
            return False
        if self._trial.place(pod, name) is not None:
            return False
        self._note(pod, name)
        return True

    def _place(self, pod: Pod, is_acceptable: Callable[[str], bool]) -> bool:
        name = self._trial.place_anywhere(pod, is_acceptable)
        if name is None:
            return False
        self._note(pod, name)
        return True

    def _note(self, pod: Pod, name: str) -> None:
        self._hints[pod.uid] = name
        if self._note_place is not None:
            self._note_place(pod, name)


class _Hopeless:
    """Kinds of pods that fit nowhere; mirrors ``similar_pods.go``."""

    def __init__(self) -> None:
        self._keys: defaultdict[str, set[Hashable]] = defaultdict(set)

    def has(self, pod: Pod) -> bool:
        uid = controller_uid(pod)
        return bool(uid) and scheduling_key(pod) in self._keys.get(uid, ())

    def add(self, pod: Pod) -> None:
        uid = controller_uid(pod)
        if uid and not is_daemon_pod(pod):
            keys = self._keys[uid]
            if len(keys) < _MOST_PER_CONTROLLER:
                keys.add(scheduling_key(pod))


def _by_priority(pods: Iterable[Pod]) -> Iterator[list[Pod]]:
    groups: defaultdict[int, list[Pod]] = defaultdict(list)
    for pod in pods:
        groups[pod.priority].append(pod)
    for priority in sorted(groups, reverse=True):
        yield groups[priority]
