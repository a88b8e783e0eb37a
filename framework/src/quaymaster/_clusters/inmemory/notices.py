"""Notices of a cluster: assumptions, ignored objects and missing pods.

There is one notice for each cause, with a count and the first examples.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Deployment,
    Job,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    StorageClass,
)
from quaymaster._api.objects.kinds import is_builtin
from quaymaster._base.errors import counted, listed
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._base.versions.kubernetes import KIND_GATES, Kubernetes
from quaymaster._clusters.inmemory.admission.classes import IMPLIED_STORAGE_CLASS
from quaymaster._clusters.inmemory.admission.problems import place_of
from quaymaster._clusters.inmemory.attachment_notices import notices_of_attachments
from quaymaster._clusters.inmemory.core import ClusterCore
from quaymaster._clusters.inmemory.loading import stray_pods
from quaymaster._clusters.inmemory.provisioner_notices import (
    notices_of_provisioners,
)
from quaymaster._clusters.inmemory.shortfalls import Shortfall
from quaymaster._kits.volumes.claims import class_of_claim, is_fully_bound
from quaymaster._kits.volumes.names import PROVISIONED_BY

__all__ = [
    "missing_replica",
    "notices_of_cluster",
    "notices_of_input",
    "notices_of_refused",
    "shortfall_of",
]

_MAKERS: Final = frozenset(
    cls.kind
    for cls in (
        Pod,
        Deployment,
        ReplicaSet,
        ReplicationController,
        StatefulSet,
        DaemonSet,
        Job,
    )
)
"""Pods, and the kinds that create pods."""

_WORKLOADS: Final = 10
_NODE_TROUBLE: Final = "node.kubernetes.io/"
_READY_TAINTS: Final = (f"{_NODE_TROUBLE}not-ready", f"{_NODE_TROUBLE}unreachable")


def notices_of_input(
    objects: Sequence[ApiObject], nodes: Container[str]
) -> Iterator[Notice]:
    """Yield the notices about objects that were loaded together.

    Args:
        objects: All loaded objects.
        nodes: The names of the nodes in the cluster.
    """
    ended = [obj for obj in objects if isinstance(obj, Pod) and obj.is_finished]
    if ended:
        phases = Counter(pod.status.phase for pod in ended)
        counts = ", ".join(f"{n} {phase}" for phase, n in sorted(phases.items()))
        verb = "has ended and takes" if len(ended) == 1 else "have ended and take"
        message = f"{_count(ended, 'pod')} {verb} no room ({counts}): {_keys_of(ended)}"
        yield Notice(reason=NoticeReason.ENDED_PODS, message=message)
    strays = stray_pods(objects, nodes)
    if strays:
        names = [f"{pod.key} on {pod.node_name}" for pod in strays]
        verb = "is on a node" if len(strays) == 1 else "are on nodes"
        yield Notice(
            reason=NoticeReason.STRAY_PODS,
            message=f"{_count(strays, 'pod')} {verb} that the input does not have, "
            f"and kept there: {listed(names)}",
        )
    sick = [obj for obj in objects if isinstance(obj, Node) and _is_sick(obj)]
    if sick:
        verb = "is" if len(sick) == 1 else "are"
        yield Notice(
            reason=NoticeReason.NOT_READY_NODES,
            message=f"{_count(sick, 'node')} {verb} not ready and had no taint for "
            f"it; the node controller adds it to keep pods away: {_keys_of(sick)}",
        )


def notices_of_gated(
    objects: Iterable[ApiObject], kubernetes: Kubernetes
) -> Iterator[Notice]:
    """Yield the notices about objects of kinds whose feature gate is off."""
    gated: defaultdict[str, list[ApiObject]] = defaultdict(list)
    for obj in objects:
        if is_builtin(type(obj)) and not kubernetes.reads(obj.kind):
            gated[obj.kind].append(obj)
    for kind, members in gated.items():
        verb = "has" if len(members) == 1 else "have"
        yield Notice(
            reason=NoticeReason.GATED_OBJECTS,
            message=f"{_count(members, kind)} {verb} no effect while the feature gate "
            f"{KIND_GATES[kind]} is off: {_keys_of(members)}",
        )


def notices_of_refused(
    refused: Iterable[tuple[ApiObject, str]],
) -> Iterator[Notice]:
    """Yield the notices about objects that quotas rejected, each with the reason."""
    by_cause: defaultdict[tuple[str, str], list[ApiObject]] = defaultdict(list)
    for obj, reason in refused:
        by_cause[obj.kind, reason].append(obj)
    for (kind, reason), objects in by_cause.items():
        verb = "was" if len(objects) == 1 else "were"
        yield Notice(
            reason=NoticeReason.MISSING_PODS
            if kind in _MAKERS
            else NoticeReason.REFUSED_OBJECTS,
            message=f"{_count(objects, kind)} {verb} not created: {reason}: "
            f"{_keys_of(objects)}",
        )


def notices_of_cluster(core: ClusterCore) -> Iterator[Notice]:
    """Yield the notices about the current state of a cluster."""
    claims = _implied_claims(core)
    if claims:
        verb = "uses" if len(claims) == 1 else "use"
        yield Notice(
            reason=NoticeReason.IMPLIED_STORAGE_CLASS,
            message=f"{_count(claims, 'claim')} {verb} an assumed StorageClass, since "
            f"the input has none: {_keys_of(claims)}",
        )
    yield from notices_of_provisioners(core)
    yield from notices_of_attachments(core)
    yield from _notices_of_evictions(core)
    shortfalls = list(core.shortfalls)
    for shortfall in shortfalls[:_WORKLOADS]:
        where = place_of(_workload_of(shortfall, core))
        yield _missing(where, str(shortfall))
    rest = shortfalls[_WORKLOADS:]
    if rest:
        pods = sum(shortfall.count for shortfall in rest)
        names = [place_of(_workload_of(shortfall, core)) for shortfall in rest]
        yield _missing(
            "",
            f"{counted(pods, 'pod')} of {counted(len(rest), 'more workload')}, too: "
            f"{listed(names)}",
        )


def _notices_of_evictions(core: ClusterCore) -> Iterator[Notice]:
    if core.controllers is None:
        return
    for workload in core.controllers.repeats.workloads():
        yield Notice(
            reason=NoticeReason.REPEATED_EVICTIONS,
            where=f"{workload.kind} {workload.namespace}/{workload.name}",
            message="its pods tolerate a taint for some time, are evicted, and are "
            "placed there again; after many evictions they stay here",
        )


def missing_replica(core: ClusterCore, name: str, namespace: str = "") -> str:
    """Explain why a pod of a StatefulSet is missing.

    Args:
        core: The cluster.
        name: The pod's name, such as ``db-4``.
        namespace: The pod's namespace; empty for all namespaces.

    Returns:
        The reason, or empty if no StatefulSet should have such a pod.
    """
    for shortfall in core.shortfalls:
        owner = shortfall.owner
        if isinstance(owner, StatefulSet) and namespace in ("", owner.namespace):
            message = _why_missing(name, owner, shortfall)
            if message is not None:
                return message
    return ""


def shortfall_of(core: ClusterCore, workload: ApiObject) -> str:
    """Explain how many pods a workload lacks, and why; empty if it lacks none."""
    for shortfall in core.shortfalls:
        if workload.uid in (shortfall.owner.uid, _workload_of(shortfall, core).uid):
            return str(shortfall)
    return ""


def _why_missing(name: str, owner: StatefulSet, shortfall: Shortfall) -> str | None:
    """Return why a pod of a StatefulSet is missing; None if the set has no such pod."""
    # A small simulation takes about as long as its imports.
    from quaymaster._clusters.inmemory.controllers.stateful_sets import (  # noqa: PLC0415 - above
        has_replica,
        starts_in_order,
    )

    if not has_replica(owner, name):
        return None
    first, refusal = shortfall.waits_for, shortfall.refusal
    if name == first or not starts_in_order(owner):
        return f"it was not created: {refusal}" if refusal else ""
    waits = f"it waits: StatefulSet {owner.name} makes it once {first} is ready"
    return f"{waits}; {first} was not created: {refusal}" if refusal else waits


def _missing(where: str, message: str) -> Notice:
    return Notice(reason=NoticeReason.MISSING_PODS, where=where, message=message)


def _workload_of(shortfall: Shortfall, core: ClusterCore) -> ApiObject:
    """Return the workload to name: for a ReplicaSet, the user's Deployment."""
    owner = shortfall.owner
    reference = owner.metadata.controller
    if isinstance(owner, ReplicaSet) and reference is not None:
        for deployment in core.objects(Deployment).values():
            if deployment.uid == reference.uid:
                return deployment
    return owner


def _implied_claims(core: ClusterCore) -> list[PersistentVolumeClaim]:
    """Return the claims whose volume is, or would be, of the implied StorageClass."""
    name = IMPLIED_STORAGE_CLASS.name
    if not core.is_implied(StorageClass, name):
        return []
    volumes = core.objects(PersistentVolume)

    def is_made_up(claim: PersistentVolumeClaim) -> bool:
        if class_of_claim(claim) != name:
            return False
        volume = volumes.get(claim.spec.volume_name)
        if volume is None:
            return not is_fully_bound(claim)
        maker = volume.metadata.annotations.get(PROVISIONED_BY)
        return maker == IMPLIED_STORAGE_CLASS.provisioner

    return [c for c in core.objects(PersistentVolumeClaim).values() if is_made_up(c)]


def _is_sick(node: Node) -> bool:
    if any(taint.key in _READY_TAINTS for taint in node.spec.taints):
        return False
    return any(c.type == "Ready" and c.status != "True" for c in node.status.conditions)


def _count(things: Sequence[object], word: str) -> str:
    return counted(len(things), word)


def _keys_of(objects: Iterable[ApiObject]) -> str:
    return listed([obj.key for obj in objects])
