"""Asks whether objects of other namespaces decide for a pod, because of their names."""

from collections.abc import Iterable, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.answers import (
    Difference,
    answers,
    difference,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import is_declared
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid

__all__ = ["ask_objects"]

_ELSEWHERE: Final = "elsewhere"
_MOST_OBJECTS: Final = 4


def ask_objects(subject: Subject, cluster: SmallCluster) -> None:
    """Check that an object of another namespace decides nothing for a single pod.

    An object may be meant for all namespaces. Then it decides for every pod, also for
    one without labels and annotations and with another name.

    Args:
        subject: The plugin.
        cluster: The cluster. Only objects of kinds that plugins declare are tried.
    """
    for obj in _namespaced(cluster.objects)[:_MOST_OBJECTS]:
        foreign = _moved(obj)
        # Identity: the object itself is left out, and nothing that is equal.
        others = tuple(other for other in cluster.objects if other is not obj)
        without = attrs.evolve(cluster, objects=others)
        for pod in cluster.pending:
            changed = _effect(subject, without, pod, foreign)
            if changed is None or _effect(subject, without, _plain(pod), foreign):
                continue
            text = (
                f"{changed} as without {foreign.kind} '{foreign.key}', which is in "
                f"another namespace than pod '{pod.key}': find the object by the "
                "namespace of the pod, too, or declare namespaced = False for its kind"
            )
            fail(changed.hook, text, pod, foreign, others)


def _effect(
    subject: Subject, cluster: SmallCluster, pod: Pod, foreign: ApiObject
) -> Difference | None:
    """Return what an object changes for a pod."""
    alone = attrs.evolve(cluster, pending=(pod,))
    beside = attrs.evolve(alone, objects=(*cluster.objects, foreign))
    after = answers(Bench(subject, beside), pod)
    return difference(after, answers(Bench(subject, alone), pod))


def _namespaced(objects: Iterable[ApiObject]) -> Sequence[ApiObject]:
    return [obj for obj in objects if is_declared(type(obj)) and obj.namespace]


def _moved(obj: ApiObject) -> ApiObject:
    uid = make_uid(type(obj), obj.name, _ELSEWHERE)
    metadata = replace(obj.metadata, namespace=_ELSEWHERE, uid=uid)
    return replace(obj, metadata=metadata)


def _plain(pod: Pod) -> Pod:
    """Return a pod to which no object refers by a name, a label or an annotation."""
    uid = make_uid(Pod, "plain", pod.namespace)
    metadata = replace(pod.metadata, name="plain", uid=uid, labels={}, annotations={})
    return replace(pod, metadata=metadata)
