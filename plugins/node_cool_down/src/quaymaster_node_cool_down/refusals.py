"""Find the pods that kubelets have rejected."""

from collections.abc import Collection, Sequence

from quaymaster import Informers, Pod

__all__ = ["Refusals"]


class Refusals:
    """Reports each rejected pod once, except those that exist at the first call.

    Args:
        informers: The engine's copy of the cluster.
    """

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._log = informers.changes(Pod)
        self._revision = -1
        # Key -> uid of the rejected pods that still exist.
        self._reported: dict[str, str] = {}

    def refused_pods(self) -> Sequence[Pod]:
        """Return the pods that were rejected since the last call."""
        revision = self._log.revision
        if revision == self._revision:
            return ()
        is_first = self._revision < 0
        refused = [
            pod
            for key in self._changed()
            if (pod := self._informers.get(Pod, key)) is not None
            and _is_refused(pod)
            and self._reported.get(key) != pod.uid
        ]
        self._revision = revision
        self._reported.update((pod.key, pod.uid) for pod in refused)
        return () if is_first else refused

    def _changed(self) -> Collection[str]:
        """Return the keys of changed pods; drop the entries of deleted ones."""
        changed = self._log.since(self._revision)
        if changed is None:  # too many, or the first call
            changed = {pod.key for pod in self._informers.list(Pod)} | set(
                self._reported
            )
        for key in self._reported.keys() & changed:
            if self._informers.get(Pod, key) is None:
                del self._reported[key]
        return changed


def _is_refused(pod: Pod) -> bool:
    """Whether the kubelet rejected a pod because of insufficient resources.

    See ``InsufficientResourceError`` (Kubernetes v1.36, ``pkg/kubelet/lifecycle``).
    """
    status = pod.status
    return status.phase == "Failed" and status.reason.startswith("OutOf")
