"""Takes the pods of an input from their nodes, so that all are scheduled together."""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod, PodStatus, ResourceClaim
from quaymaster._studies.changes.pods import is_of_daemon_set, is_of_node

__all__ = ["may_move", "movable_pods", "without_placements"]

_DEFAULT: Final = "default"
_EXTENDED: Final = "resource.kubernetes.io/extended-resource-claim"


def may_move(pod: Pod) -> bool:
    """Return whether a pod has a node and could get another one.

    Pods of DaemonSets, static pods, and pods that have ended or are terminating keep
    their nodes.
    """
    is_free = not is_of_daemon_set(pod) and not is_of_node(pod)
    is_alive = not pod.is_finished and not pod.is_terminating
    return bool(pod.node_name) and is_free and is_alive


def movable_pods(objects: Iterable[ApiObject]) -> list[Pod]:
    """Return the pods of an input that `without_placements` takes from their nodes."""
    return [obj for obj in objects if isinstance(obj, Pod) and may_move(obj)]


def without_placements(objects: Iterable[ApiObject]) -> list[ApiObject]:
    """Return an input as if its pods had never been scheduled.

    Volumes stay, so a pod's volume may bind it to a zone. Devices are released: an
    allocation stays only while a pod that keeps its node uses it, as with the
    controller of ResourceClaims.
    """
    listed = list(objects)
    moved = {_key(pod) for pod in movable_pods(listed)}
    return [
        changed
        for obj in listed
        if (changed := _without_placement(obj, moved)) is not None
    ]


def _without_placement(
    obj: ApiObject, moved: Collection[tuple[str, str]]
) -> ApiObject | None:
    if isinstance(obj, Pod) and _key(obj) in moved:
        # Names of claims that a template has made are only in the status.
        status = PodStatus(resource_claim_statuses=obj.status.resource_claim_statuses)
        return replace(obj, node_name="", status=status)
    if isinstance(obj, ResourceClaim):
        return _released(obj, moved)
    return obj


def _released(
    claim: ResourceClaim, moved: Collection[tuple[str, str]]
) -> ResourceClaim | None:
    """Return a claim without reservations of moved pods; None if it goes with a pod."""
    namespace = claim.namespace or _DEFAULT
    reserved = claim.status.reserved_for
    left = tuple(
        user
        for user in reserved
        if user.resource != "pods" or (namespace, user.name) not in moved
    )
    if len(left) == len(reserved):
        return claim
    if _EXTENDED in claim.annotations:
        return None  # the scheduler makes another one for the pod
    allocation = claim.status.allocation if left else None
    return replace(
        claim, status=replace(claim.status, reserved_for=left, allocation=allocation)
    )


def _key(pod: Pod) -> tuple[str, str]:
    return pod.namespace or _DEFAULT, pod.name
