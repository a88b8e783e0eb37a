"""Which pods were refused by the kubelets of their nodes."""

from collections.abc import Collection, Sequence

from quaymaster import Informers, Pod

__all__ = ["Refusals"]


class Refusals:
    """Tells of each refused pod once, but not of those from before the first look.

    Args:
        informers: The engine's copy of the cluster.
    """

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._log = informers.changes(Pod)
        self._revision = -1
        # Key -> uid of the refused pods that are still there.
        self._known: dict[str, str] = {}

    def news(self) -> Sequence[Pod]:
        """Return the pods that were refused since the last call."""
        revision = self._log.revision
        if revision == self._revision:
            return ()
        is_first = self._revision < 0
        news = [
            pod
            for key in self._changed()
            if (pod := self._informers.get(Pod, key)) is not None
            and _is_refused(pod)
            and self._known.get(key) != pod.uid
        ]
        self._revision = revision
        self._known.update((pod.key, pod.uid) for pod in news)
        return () if is_first else news

    def _changed(self) -> Collection[str]:
        """The keys of the pods that may have changed; forget those that have gone."""
        changed = self._log.since(self._revision)
        if changed is None:  # too many, or the first look
            changed = {pod.key for pod in self._informers.list(Pod)} | set(self._known)
        for key in self._known.keys() & changed:
            if self._informers.get(Pod, key) is None:
                del self._known[key]
        return changed


def _is_refused(pod: Pod) -> bool:
    """Whether the kubelet found no room for it.

    As ``InsufficientResourceError`` (Kubernetes v1.36, ``pkg/kubelet/lifecycle``) says.
    """
    status = pod.status
    return status.phase == "Failed" and status.reason.startswith("OutOf")
