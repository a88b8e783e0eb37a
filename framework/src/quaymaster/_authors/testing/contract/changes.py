"""Changes of a small cluster, and their events."""

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, TypeVar

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod, PodSpec
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    EventResource,
    resource_of,
)
from quaymaster._core.engine.changes import PodChanges, node_changes
from quaymaster._core.registry.access import USUAL_KINDS

__all__ = [
    "Step",
    "distinct",
    "is_declared",
    "is_of",
    "object_steps",
    "own_steps",
    "running_steps",
    "steps",
    "with_content_of",
]

_T = TypeVar("_T")
_pod_changes = lru_cache(PodChanges)
_WAITING: Final = frozenset(
    {
        EventResource.UNSCHEDULED_POD,
        EventResource.TARGET_POD,
        EventResource.UNSCHEDULABLE_POD,
    }
)
"""The resources of pods without a node."""
_MOST_UPDATES: Final = 2
"""The updates of each object of a declared kind."""
_UPSTREAM: Final = frozenset(EventResource)
"""The resources for which upstream has events. Plugins get no events of other kinds
that every scheduler watches, such as namespaces."""


@attrs.frozen(kw_only=True, eq=False)
class Step:
    """One change.

    Attributes:
        old: The object before, or None.
        new: The object after, or None.
    """

    old: ApiObject | None = None
    new: ApiObject | None = None

    @property
    def subject(self) -> ApiObject:
        """The object that changes."""
        present = self.new or self.old
        assert present is not None
        return present

    def updated(self, pod: Pod) -> Pod:
        """Return a waiting pod after the change, which may be one of this pod."""
        new = self.new
        return new if isinstance(new, Pod) and new.uid == pod.uid else pod

    def __str__(self) -> str:
        verb = (
            "update"
            if self.old is not None and self.new is not None
            else ("deletion" if self.new is None else "arrival")
        )
        return f"the {verb} of {self.subject.kind} '{self.subject.key}'"

    def events(self, kubernetes: Kubernetes) -> Sequence[ClusterEvent]:
        """Return the events that the queue gets for it."""
        old, new = self.old, self.new
        if isinstance(old, Node) and isinstance(new, Node):
            return node_changes(old, new)
        if isinstance(old, Pod) and isinstance(new, Pod):
            return _pod_changes(kubernetes).of(old, new)
        resource = resource_of(type(self.subject))
        if isinstance(self.subject, Pod):
            resource = EventResource.ASSIGNED_POD
        action = ActionType.UPDATE
        if old is None:
            action = ActionType.ADD
        elif new is None:
            action = ActionType.DELETE
        return [ClusterEvent(resource, action)]


def steps(
    cluster: SmallCluster, other: SmallCluster, kept: Iterable[ApiObject] = ()
) -> Iterator[Step]:
    """Yield changes of single objects of one cluster to those of another.

    Nodes change one property at a time, so that each change is one event. Objects
    without events, such as namespaces, do not change.

    Args:
        cluster: The cluster that changes.
        other: The cluster with the new objects.
        kept: The objects that are not removed.
    """
    stays = {(type(obj), obj.key) for obj in kept}
    for step in _steps(cluster, other):
        is_gone = step.new is None and (type(step.subject), step.subject.key) in stays
        if not is_gone and _has_events(type(step.subject)):
            yield step


def object_steps(
    cluster: SmallCluster, other: SmallCluster, kinds: Container[type[ApiObject]]
) -> Iterator[Step]:
    """Yield changes of single objects of some kinds, with or without events."""
    for step in _steps(cluster, other):
        if type(step.subject) in kinds:
            yield step


def running_steps(cluster: SmallCluster, other: SmallCluster) -> Iterator[Step]:
    """Yield updates of the pods that run on nodes: their labels, and lower requests."""
    labels = [pod.metadata.labels for pod in (*cluster.pods, *other.pods)]
    for pod in cluster.pods:
        metadata = pod.metadata
        relabelled = [replace(metadata, labels=new) for new in ({}, *labels)]
        updates = [replace(pod, metadata=new) for new in relabelled]
        updates.append(replace(pod, spec=_scaled_down(pod.spec)))
        for updated in distinct(updates):
            if updated != pod:
                yield Step(old=pod, new=updated)


def own_steps(cluster: SmallCluster, other: SmallCluster, pod: Pod) -> Iterator[Step]:
    """Yield updates of a waiting pod, each with one property of another one."""
    rivals = (*cluster.pending, *other.pending)
    updates = [updated for rival in rivals for updated in _updates_of(pod, rival)]
    yield from (Step(old=pod, new=updated) for updated in distinct(updates))


def _steps(cluster: SmallCluster, other: SmallCluster) -> Iterator[Step]:
    yield from _node_steps(cluster, other)
    yield from running_steps(cluster, other)
    arriving = (*other.pods, *_replicas(cluster))
    for ours, theirs in ((cluster.pods, arriving), (cluster.objects, other.objects)):
        by_key: dict[tuple[type, str], ApiObject] = {
            (type(obj), obj.key): obj for obj in ours
        }
        for new in theirs:
            old = by_key.get((type(new), new.key))
            if isinstance(old, Pod) and isinstance(new, Pod):
                # Names are numbers in both clusters, and pods do not move.
                old, new = None, _renamed(new)  # noqa: PLW2901
            if _can_follow(cluster, new) and new != old:
                yield Step(old=old, new=new)
        yield from (Step(old=obj) for obj in ours)
    yield from _declared_steps(cluster, other)


def is_declared(kind: type[ApiObject]) -> bool:
    """Return whether a plugin declares a kind, and not Kubernetes."""
    return kind.__module__.partition(".")[0] != "quaymaster"


def _declared_steps(cluster: SmallCluster, other: SmallCluster) -> Iterator[Step]:
    """Yield updates of objects of kinds that plugins declare.

    Each gets the content of another object of its kind: rarely have both clusters an
    object of one name.
    """
    rivals = (*cluster.objects, *other.objects)
    for old in cluster.objects:
        if is_declared(type(old)):
            updates = [
                with_content_of(rival, old)
                for rival in rivals
                if type(rival) is type(old)
            ]
            changed = [new for new in distinct(updates) if new != old]
            yield from (Step(old=old, new=new) for new in changed[:_MOST_UPDATES])


def with_content_of(rival: ApiObject, obj: ApiObject) -> ApiObject:
    """Return an object with the content of another one of its kind."""
    theirs = rival.metadata
    metadata = replace(
        obj.metadata, labels=theirs.labels, annotations=theirs.annotations
    )
    return replace(rival, metadata=metadata)


def _node_steps(cluster: SmallCluster, other: SmallCluster) -> Iterator[Step]:
    for node in cluster.nodes:
        if not _runs_something(cluster, node):
            yield Step(old=node)
        # Identity: the other cluster may have an equal node.
        rivals = [
            rival for rival in (*cluster.nodes, *other.nodes) if rival is not node
        ]
        updated = [new for rival in rivals for new in _node_updates(node, rival)]
        yield from (Step(old=node, new=new) for new in distinct(updated))
    names = {node.name for node in cluster.nodes}
    yield from (Step(new=node) for node in other.nodes if node.name not in names)


def distinct(objects: Sequence[_T]) -> Sequence[_T]:
    return [obj for at, obj in enumerate(objects) if obj not in objects[:at]]


def _node_updates(node: Node, other: Node) -> Iterator[Node]:
    """Yield copies of a node, each with one property of another node."""
    theirs, metadata, spec, status = other, node.metadata, node.spec, node.status
    hostname = "kubernetes.io/hostname"
    labels = {**theirs.metadata.labels, hostname: metadata.labels.get(hostname, "")}
    amounts = theirs.status.allocatable
    for changed in (
        replace(node, metadata=replace(metadata, labels=labels)),
        replace(
            node, metadata=replace(metadata, annotations=theirs.metadata.annotations)
        ),
        replace(node, spec=replace(spec, taints=theirs.spec.taints)),
        replace(node, spec=replace(spec, unschedulable=theirs.spec.unschedulable)),
        replace(node, status=replace(status, allocatable=amounts, capacity=amounts)),
        replace(node, status=replace(status, conditions=theirs.status.conditions)),
        replace(node, status=replace(status, images=theirs.status.images)),
        replace(
            node,
            status=replace(status, declared_features=theirs.status.declared_features),
        ),
    ):
        if changed != node:
            yield changed


def _can_follow(cluster: SmallCluster, new: ApiObject) -> bool:
    """Return whether a cluster can get an object: pods need their node."""
    if not isinstance(new, Pod):
        return True
    return any(node.name == new.node_name for node in cluster.nodes)


def _replicas(cluster: SmallCluster) -> Iterator[Pod]:
    """Yield pods like those that wait, on the first node: others may depend on them."""
    for node in cluster.nodes[:1]:
        for pod in cluster.pending:
            spec = replace(pod.spec, scheduling_gates=())
            status = replace(pod.status, phase="Running")
            running = replace(pod, node_name=node.name, spec=spec, status=status)
            yield _renamed(running)


def _renamed(pod: Pod) -> Pod:
    name = f"{pod.name}-new"
    uid = make_uid(Pod, name, pod.namespace)
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=uid))


def _runs_something(cluster: SmallCluster, node: Node) -> bool:
    return any(pod.node_name == node.name for pod in cluster.pods)


def _updates_of(pod: Pod, other: Pod) -> Iterator[Pod]:
    """Yield the updates of a waiting pod that the API allows."""
    labels = replace(pod.metadata, labels=other.metadata.labels)
    spec = pod.spec
    tolerations = tuple(dict.fromkeys((*spec.tolerations, *other.spec.tolerations)))
    for metadata, changed in (
        (labels, spec),
        (pod.metadata, replace(spec, tolerations=tolerations)),
        (pod.metadata, replace(spec, scheduling_gates=())),
        (pod.metadata, _scaled_down(spec)),
    ):
        updated = replace(pod, metadata=metadata, spec=changed)
        if updated != pod:
            yield updated


def _scaled_down(spec: PodSpec) -> PodSpec:
    """Return the spec without requests of CPU and memory."""
    containers = tuple(
        replace(
            container,
            resources=replace(
                container.resources,
                requests={
                    name: amount
                    for name, amount in container.resources.requests.items()
                    if name not in ("cpu", "memory")
                },
            ),
        )
        for container in spec.containers
    )
    return replace(spec, containers=containers)


def is_of(resource: EventResource, obj: ApiObject) -> bool:
    """Return whether an object belongs to a resource."""
    if resource is EventResource.WILDCARD:
        return True
    if isinstance(obj, Pod):
        assigned = resource is EventResource.ASSIGNED_POD
        if assigned or resource in _WAITING:
            return bool(obj.node_name) == assigned
    return resource_of(type(obj)) is resource


def _has_events(kind: type[ApiObject]) -> bool:
    return kind not in USUAL_KINDS or resource_of(kind) in _UPSTREAM
