"""Notices about pods that have a node and wait for a volume."""

from collections import defaultdict
from collections.abc import Iterator

from quaymaster._api.objects import PersistentVolumeClaim, Pod, StorageClass
from quaymaster._base.errors import counted, listed
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.attachments import WaitingPod
from quaymaster._clusters.inmemory.core import ClusterCore
from quaymaster._kits.volumes.claims import class_of_claim

__all__ = ["notices_of_attachments", "why_not_started"]


def notices_of_attachments(core: ClusterCore) -> Iterator[Notice]:
    """Yield one notice for each claim that keeps pods from starting on their node."""
    by_claim: defaultdict[str, list[WaitingPod]] = defaultdict(list)
    for pod in core.lives.attachments.waiting():
        by_claim[pod.claim].append(pod)
    for key, pods in by_claim.items():
        if pods[0].holder is None:
            yield _unbound(core, key, pods)
        else:
            yield _attached(key, pods)


def why_not_started(core: ClusterCore, pod: Pod) -> str:
    """Explain which claim keeps a pod from starting on its node; empty if none does."""
    # The test is cheap, and the loop below is not: this is called for each pending pod.
    if not core.lives.attachments.is_waiting(pod.uid):
        return ""
    for waiting in core.lives.attachments.waiting():
        if waiting.user.pod == pod.key:
            claim, holder = waiting.claim, waiting.holder
            if holder is None:
                return f"claim {claim} is not bound"
            return (
                f"the volume of claim {claim} is still attached to {holder.node}, "
                f"where {holder.pod} uses it"
            )
    return ""


def _attached(key: str, pods: list[WaitingPod]) -> Notice:
    holder = pods[0].holder
    assert holder is not None, "another node has the volume"
    return Notice(
        reason=NoticeReason.ATTACHED_VOLUMES,
        where=f"PersistentVolumeClaim {key}",
        message=f"its volume allows one node and is still attached to {holder.node}, "
        f"where {holder.pod} uses it; {_pods(pods)} cannot start elsewhere while that "
        f"pod exists (Multi-Attach), so a rollout that keeps it hangs: {_names(pods)}",
    )


def _unbound(core: ClusterCore, key: str, pods: list[WaitingPod]) -> Notice:
    claim = core.objects(PersistentVolumeClaim)[key]
    name = class_of_claim(claim)
    storage_class = core.objects(StorageClass).get(name)
    cause = "it is not bound"
    if storage_class is not None and storage_class.volume_binding_mode != "Immediate":
        cause = (
            f"its class {name} binds it when a scheduler selects a node for a pod, and "
            "pods with spec.nodeName have no scheduler"
        )
    return Notice(
        reason=NoticeReason.UNBOUND_CLAIMS,
        where=f"PersistentVolumeClaim {key}",
        message=f"{cause}; {_pods(pods)} with a node cannot start: {_names(pods)}",
    )


def _pods(pods: list[WaitingPod]) -> str:
    return counted(len(pods), "pod")


def _names(pods: list[WaitingPod]) -> str:
    return listed([f"{pod.user.pod} on {pod.user.node}" for pod in pods])
