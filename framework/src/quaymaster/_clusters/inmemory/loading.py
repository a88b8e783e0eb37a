"""Loads many objects into the cluster at once."""

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Final

from quaymaster._api.objects import (
    ApiObject,
    Namespace,
    Node,
    Pod,
    PriorityClass,
    ReplicaSet,
    ResourceQuota,
    StorageClass,
)
from quaymaster._api.objects.report import Report
from quaymaster._base.errors import Problem
from quaymaster._clusters.inmemory.admission.admission import Admission
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.problems import AdmissionError, place_of

__all__ = ["admit_all", "find_stray_pods", "stray_pods"]

# ReplicaSets before pods: a pod finds its owner when it is stored, and is not put up
# for adoption.
_RANKS: Final[dict[type[ApiObject], int]] = {
    Namespace: 0,
    ResourceQuota: 1,
    PriorityClass: 2,
    StorageClass: 3,
    Node: 4,
    ReplicaSet: 6,
    Pod: 7,
}
_USUAL_RANK: Final = 5


def admit_all(
    objects: Iterable[ApiObject],
    admission: Admission,
    is_taken: Callable[[ApiObject], bool],
) -> Sequence[ApiObject]:
    """Return the objects as they are to be stored, in the order of storage.

    Args:
        objects: The objects, in any order.
        admission: Fills in and checks; it must have the classes among the objects.
        is_taken: Returns whether such an object exists already.

    Raises:
        AdmissionError: Some objects break rules; it lists all problems.
    """
    admitted = []
    problems: list[Problem] = []
    seen: set[tuple[type[ApiObject], str]] = set()
    for obj in _in_order(objects):
        report = Report()
        # All objects are checked before an error is raised, so that users see all
        # mistakes at once.
        new = admission.examine(obj, report)
        if new.metadata.name:
            identity = (type(new), new.key)
            if identity in seen or is_taken(new):
                report.expect(False, "metadata.name", "a name of its own", new.name)
            seen.add(identity)
        if report:
            problems += report.problems(place_of(obj))
        admitted.append(new)
    if problems:
        raise AdmissionError(problems)
    return admitted


def find_stray_pods(objects: Iterable[ApiObject]) -> tuple[Problem, ...]:
    """Find the pods that run on a node which is not among the objects.

    A cluster can have such pods for a while after a node is removed, so
    `InMemoryCluster` accepts and keeps them. Ended pods do not count.
    """
    everything = list(objects)
    nodes = {obj.metadata.name for obj in everything if isinstance(obj, Node)}
    return tuple(
        Problem(
            where=place_of(pod),
            path="spec.nodeName",
            message=f"expected a node that exists, got {pod.node_name!r}",
        )
        for pod in stray_pods(everything, nodes)
    )


def stray_pods(objects: Iterable[ApiObject], nodes: Container[str]) -> list[Pod]:
    """Return the pods that run on other nodes than these."""
    return [
        obj
        for obj in objects
        if isinstance(obj, Pod)
        and obj.node_name
        and obj.node_name not in nodes
        and not obj.is_finished
    ]


def _in_order(objects: Iterable[ApiObject]) -> list[ApiObject]:
    """Sort objects: referenced ones come first, otherwise the order stays."""
    listed = list(objects)
    if any(isinstance(obj, ResourceQuota) for obj in listed):
        # Objects of an existing cluster use quotas before new ones do.
        # The sort is stable: among new objects, the order of the input decides who fits
        # into a quota.
        listed.sort(key=lambda obj: not is_already_admitted(obj))
    return sorted(listed, key=lambda obj: _RANKS.get(type(obj), _USUAL_RANK))
