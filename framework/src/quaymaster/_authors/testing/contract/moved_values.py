"""Pods with the values of one field in a neighbouring one, which plugins may read, too.

An author's strategies vary the fields that the author has in mind: images of
containers, say, but not those of init containers.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._api.objects.syntax import LABEL_VALUE
from quaymaster._authors.testing.makers.pods import make_pod

__all__ = ["with_moved_values"]


def with_moved_values(pod: Pod, others: Iterable[Pod]) -> Iterator[Pod]:
    """Yield copies of a pod that each have values of other pods in another field.

    Containers become further containers, init containers and sidecars, labels become
    annotations and annotations labels, requests become limits and overhead, and a node
    selector becomes a node affinity.

    Args:
        pod: The pod.
        others: The pods whose values are moved.
    """
    for other in others:
        yield from _with_containers(pod, other)
        yield from _with_texts(pod, other)
        yield from _with_amounts(pod, other)
        if other.spec.node_selector:
            selector = other.spec.node_selector
            named = {key: [value] for key, value in selector.items()}
            affinity = make_pod(node_affinity=named).spec.affinity
            yield replace(pod, spec=replace(pod.spec, affinity=affinity))


def _with_containers(pod: Pod, other: Pod) -> Iterator[Pod]:
    spec = pod.spec
    more = [
        replace(container, name=f"more-{at}")
        for at, container in enumerate(other.spec.containers)
    ]
    sidecars = tuple(replace(each, restart_policy="Always") for each in more)
    yield replace(pod, spec=replace(spec, init_containers=tuple(more)))
    yield replace(pod, spec=replace(spec, init_containers=sidecars))
    yield replace(pod, spec=replace(spec, containers=(*spec.containers, *more)))


def _with_texts(pod: Pod, other: Pod) -> Iterator[Pod]:
    metadata = pod.metadata
    annotations = {**metadata.annotations, **other.labels}
    labels = {**metadata.labels, **_valid(other.annotations)}
    if annotations != metadata.annotations:
        yield replace(pod, metadata=replace(metadata, annotations=annotations))
    if labels != metadata.labels:
        yield replace(pod, metadata=replace(metadata, labels=labels))


def _valid(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the texts that labels can have."""
    return {key: text for key, text in texts.items() if LABEL_VALUE.fits(text)}


def _with_amounts(pod: Pod, other: Pod) -> Iterator[Pod]:
    for theirs in other.spec.containers[:1]:
        amounts = theirs.resources.requests
        if amounts:
            yield replace(pod, spec=replace(pod.spec, overhead=amounts))
        for first in pod.spec.containers[:1] if amounts else ():
            requests = first.resources.requests
            limits = {
                name: max(amount, requests.get(name, amount))
                for name, amount in amounts.items()
            }
            resources = replace(first.resources, limits=limits)
            containers = (
                replace(first, resources=resources),
                *pod.spec.containers[1:],
            )
            yield replace(pod, spec=replace(pod.spec, containers=containers))
