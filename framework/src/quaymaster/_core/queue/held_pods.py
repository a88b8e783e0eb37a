"""Pods that enter the queue later, because an earlier scheduler did not survive them.

Upstream has no counterpart: there, one pod can stop every replica in turn.
"""

from collections.abc import Callable, Mapping

from quaymaster._api.objects import Pod
from quaymaster._core.contract.clock import Clock

__all__ = ["HeldPods"]


class HeldPods:
    """Keeps some pods out of a queue until their pause is over.

    Args:
        clock: Gives the time and ends the pauses.
        pauses: Uid -> seconds from now on.
        on_held: Called with each such pod and its pause, when it arrives.
        arrive: Queues a pod.
    """

    def __init__(
        self,
        clock: Clock,
        pauses: Mapping[str, float],
        on_held: Callable[[Pod, float], None],
        arrive: Callable[[Pod], None],
    ) -> None:
        self._clock = clock
        self._arrive = arrive
        self._on_held = on_held
        self._start = clock.now()
        self._pauses = dict(pauses)
        self._pods: dict[str, Pod] = {}

    def hold(self, pod: Pod) -> bool:
        """Keep a new or changed pod, if its pause is not over; return whether it is."""
        uid = pod.metadata.uid
        pause = self._pauses.get(uid)
        if pause is None:
            return False
        # Only for the first version: later ones replace the pod but must not set a
        # second timer.
        if uid not in self._pods:
            self._clock.call_at(self._start + pause, lambda: self._release(uid))
            self._on_held(pod, pause)
        self._pods[uid] = pod
        return True

    def delete(self, pod: Pod) -> None:
        """Forget a deleted or bound pod."""
        self._pauses.pop(pod.metadata.uid, None)
        self._pods.pop(pod.metadata.uid, None)

    def _release(self, uid: str) -> None:
        self._pauses.pop(uid, None)
        pod = self._pods.pop(uid, None)
        if pod is not None:
            self._arrive(pod)
