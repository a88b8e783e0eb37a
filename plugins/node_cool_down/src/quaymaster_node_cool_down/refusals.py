"""Find the pods that kubelets have rejected."""

from collections.abc import Sequence

from quaymaster import Informers, Pod

__all__ = ["Refusals"]


class Refusals:
    """Reports each rejected pod once, except those that exist at the first call.

    Args:
        informers: The engine's copy of the cluster.
    """

    def __init__(self, informers: Informers) -> None:
        self._refused = informers.index(Pod, by=lambda pod: _is_refused(pod) or None)
        self._reported: Sequence[Pod] | None = None

    def refused_pods(self) -> Sequence[Pod]:
        """Return the pods that were rejected since the last call."""
        reported, refused = self._reported, self._refused.get(True)
        # Identity: the index returns the same tuple until one of these pods changes.
        if refused is reported:
            return ()
        self._reported = refused
        if reported is None:
            return ()
        uids = {pod.uid for pod in reported}
        return [pod for pod in refused if pod.uid not in uids]


def _is_refused(pod: Pod) -> bool:
    """Whether the kubelet rejected a pod because of insufficient resources.

    See ``InsufficientResourceError`` (Kubernetes v1.36, ``pkg/kubelet/lifecycle``).
    """
    status = pod.status
    return status.phase == "Failed" and status.reason.startswith("OutOf")
