"""Changes of the annotations of pods that run, and of those that wait."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import Step, distinct
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState

__all__ = ["own_annotation_steps", "running_annotation_steps", "written_annotations"]


def written_annotations(subject: Subject, cluster: SmallCluster) -> Collection[str]:
    """Return the annotations that Reserve of a plugin writes: users do not change them.

    Args:
        subject: The plugin.
        cluster: A cluster with the pods to reserve.
    """
    if not subject.has("reserve"):
        return ()
    written = set[str]()
    for pod in cluster.pending:
        bench, state = Bench(subject, cluster), CycleState()
        if node_name := first_open_node(bench, pod):
            reserve_and_return(bench, pod, node_name, state)
        written.update(state.annotations or ())
    return written


def running_annotation_steps(
    cluster: SmallCluster, other: SmallCluster, kept: Collection[str]
) -> Iterator[Step]:
    """Yield updates of the annotations of the pods that run on nodes.

    Args:
        cluster: The cluster that changes.
        other: A cluster with other annotations.
        kept: The annotations that stay as they are.
    """
    rivals = (*cluster.pods, *other.pods)
    for pod in cluster.pods:
        yield from _updates(pod, rivals, kept)


def own_annotation_steps(
    cluster: SmallCluster, other: SmallCluster, pod: Pod, kept: Collection[str]
) -> Iterator[Step]:
    """Yield updates of the annotations of a waiting pod.

    Args:
        cluster: The cluster of the pod.
        other: A cluster with other annotations.
        pod: The pod.
        kept: The annotations that stay as they are.
    """
    return _updates(pod, (*cluster.pending, *other.pending), kept)


def _updates(pod: Pod, rivals: Iterable[Pod], kept: Collection[str]) -> Iterator[Step]:
    """Yield updates of a pod: to the annotations of others, to none, to less."""
    annotations = pod.metadata.annotations
    stay = {key: text for key, text in annotations.items() if key in kept}
    theirs = [rival.metadata.annotations for rival in rivals]
    others = ({}, *theirs, *_changed_singly(annotations))
    for new in distinct(
        [
            {**{k: v for k, v in each.items() if k not in kept}, **stay}
            for each in others
        ]
    ):
        if new != annotations:
            metadata = replace(pod.metadata, annotations=new)
            yield Step(old=pod, new=replace(pod, metadata=metadata))


def _changed_singly(annotations: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Yield annotations without each of them, and with each number as zero."""
    for key, text in annotations.items():
        yield {other: value for other, value in annotations.items() if other != key}
        if text.isdecimal():
            yield {**annotations, key: "0"}
