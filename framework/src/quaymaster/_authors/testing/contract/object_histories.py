"""Compares an instance that has seen a history of objects with a new one.

A counter that callbacks keep is right only if they also undo it: on an update, what the
old version has added, and on a deletion what the last version has.
"""

from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.testing.contract.answers import (
    Answers,
    answers,
    difference,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import (
    Step,
    distinct,
    is_declared,
    with_content_of,
)
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.reported import apply
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid

__all__ = ["ask_histories"]

_MOST_UPDATES: Final = 2
"""The updates of each object."""
_MOST_STEPS: Final = 10
"""The updates of all objects."""
_MOST_PODS: Final = 2
"""The pods whose answers of all hooks are compared; gates are compared for all."""


def ask_histories(
    subject: Subject,
    cluster: SmallCluster,
    other: SmallCluster,
    kinds: Container[type[ApiObject]],
) -> None:
    """Update, delete and create objects, and compare with a new instance in between.

    Args:
        subject: The plugin.
        cluster: The cluster whose objects change.
        other: A cluster with other objects, whose contents they get.
        kinds: The kinds that the plugin follows by callbacks.

    Raises:
        Finding: The plugin keeps something of earlier versions.
    """
    joined = attrs.evolve(cluster, pending=(*cluster.pending, *_waiting(other)))
    fixed = {(type(obj), obj.key) for obj in subject.objects}
    changing = [
        obj
        for obj in (*joined.pods, *joined.pending, *joined.nodes, *joined.objects)
        if type(obj) in kinds and (type(obj), obj.key) not in fixed
    ]
    rivals = [*changing, *other.pods, *other.nodes, *other.objects]
    steps = [*islice(_updates(changing, rivals), _MOST_STEPS)]
    newest = {_id(obj): obj for obj in changing}
    newest.update({_id(step.subject): step.subject for step in steps})
    # As updates of a status, which the plugin may ignore.
    steps += [Step(old=obj, new=obj) for obj in [*newest.values()][:_MOST_UPDATES]]
    leaving = [obj for obj in newest.values() if _may_leave(joined, obj)]
    _ask(subject, joined, steps, "updated")
    steps += [Step(old=obj) for obj in leaving]
    _ask(subject, joined, steps, "updated and deleted")
    steps += [Step(new=_again(obj)) for obj in reversed(leaving)]
    _ask(subject, joined, steps, "updated, deleted and created again")


def _id(obj: ApiObject) -> tuple[type[ApiObject], str]:
    return type(obj), obj.key


def _waiting(other: SmallCluster) -> Iterator[Pod]:
    """Yield the pending pods of another cluster under new names."""
    for pod in other.pending:
        name = f"{pod.name}-other"
        uid = make_uid(Pod, name, pod.namespace)
        yield replace(pod, metadata=replace(pod.metadata, name=name, uid=uid))


def _updates(
    changing: Sequence[ApiObject], rivals: Sequence[ApiObject]
) -> Iterator[Step]:
    """Yield updates that give objects what others have: all once, and then again."""
    chains = {
        (type(obj), obj.key): [
            obj,
            *islice(
                distinct(
                    [
                        new
                        for rival in rivals
                        if type(rival) is type(obj)
                        for new in [_moved(obj, rival)]
                        if new != obj
                    ]
                ),
                _MOST_UPDATES,
            ),
        ]
        for obj in changing
    }
    for number in range(_MOST_UPDATES):
        for chain in chains.values():
            if number + 1 < len(chain):
                yield Step(old=chain[number], new=chain[number + 1])


def _moved(obj: ApiObject, rival: ApiObject) -> ApiObject:
    """Return an object as if it moved to where another one is."""
    if is_declared(type(obj)):
        return with_content_of(rival, obj)
    labels, annotations = rival.metadata.labels, rival.metadata.annotations
    if isinstance(obj, Node):
        hostname = "kubernetes.io/hostname"
        labels = {**labels, hostname: obj.labels.get(hostname, "")}
    if isinstance(obj, Pod):
        annotations = obj.annotations  # which plugins choose in reserve
    metadata = replace(obj.metadata, labels=labels, annotations=annotations)
    return replace(obj, metadata=metadata)


def _may_leave(cluster: SmallCluster, obj: ApiObject) -> bool:
    if isinstance(obj, Pod):
        return bool(obj.node_name)  # the waiting pods are those that are compared
    if isinstance(obj, Node):
        return all(pod.node_name != obj.name for pod in cluster.pods)
    return True


def _again(obj: ApiObject) -> ApiObject:
    """Return an object that is created again, which has another uid."""
    metadata = obj.metadata
    uid = make_uid(type(obj), f"{metadata.name}-again", metadata.namespace)
    return replace(obj, metadata=replace(metadata, uid=uid))


def _ask(
    subject: Subject, cluster: SmallCluster, steps: Sequence[Step], what: str
) -> None:
    """Compare an instance that has seen changes with a new one.

    Nothing is called before: a plugin may keep in which order pods arrive at its gate.
    """
    bench = Bench(subject, cluster)
    for step in steps:
        apply(bench, step)
    updated = {step.subject.key: step.new for step in steps if step.new is not None}
    pods = [
        new if isinstance(new, Pod) else pod
        for pod in cluster.pending
        for new in [updated.get(pod.key)]
    ]
    seen = [obj for step in steps for obj in (step.old, step.new) if obj is not None]
    renewed = bench.renewed()
    subject.exercised["pods after updates of followed objects"] += len(pods)
    if subject.has("pre_enqueue"):
        for pod in pods:
            actual, expected = (
                Answers(pre_enqueue=each.ask("pre_enqueue", pod))
                for each in (bench, renewed)
            )
            _compare(pod, actual, expected, what, seen)
    for pod in pods[:_MOST_PODS]:
        _compare(pod, answers(bench, pod), answers(renewed, pod), what, seen)


def _compare(
    pod: Pod,
    actual: Answers,
    expected: Answers,
    what: str,
    seen: Sequence[ApiObject],
) -> None:
    changed = difference(actual, expected)
    if changed is not None:
        text = (
            f"{changed} as from a new instance, once objects were {what}: it keeps "
            "something of earlier versions. The callback of on_change gets the old and "
            "the new version: first take back what the old one has added, on an "
            "update, too, and then add what the new one has"
        )
        fail(changed.hook, text, pod, distinct(seen))
