"""Pods whose labels, annotations and requests have other numbers than drawn ones."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._api.objects.quantity import Quantity

__all__ = ["exact_pod", "near_pods", "number_of", "text_of"]

_SHARES: Final = (0.5, 0.75, 0.9, 0.97, 1.03, 1.1, 1.25)
"""Of a number: the others that a plugin may round to the same one."""

_PARTS: Final = ("labels", "annotations")


def near_pods(pod: Pod, others: Iterable[ApiObject]) -> Iterator[Pod]:
    """Yield copies of a pod that each have one other number.

    A number of a label or an annotation becomes a little smaller or larger, or the
    limit that another object has for the same key, or the next number. A request
    becomes a little smaller or larger.

    Args:
        pod: The pod.
        others: The objects whose numbers are limits.
    """
    others = list(others)
    for part in _PARTS:
        texts: Mapping[str, str] = getattr(pod.metadata, part)
        for key, text in texts.items():
            limits = [getattr(other.metadata, part).get(key) for other in others]
            for near in _near(text, [limit for limit in limits if limit]):
                metadata = replace(pod.metadata, **{part: {**texts, key: near}})
                yield replace(pod, metadata=metadata)
    yield from _with_near_requests(pod)


def exact_pod(pod: Pod, node: Node) -> Pod:
    """Return a pod that needs exactly what a node has.

    It has the node's numbers in the labels and annotations that both have, and requests
    the allocatable amounts of its resources.

    Args:
        pod: The pod.
        node: The node.
    """
    metadata = pod.metadata
    for part in _PARTS:
        texts: Mapping[str, str] = getattr(metadata, part)
        theirs: Mapping[str, str] = getattr(node.metadata, part)
        numbers = {
            key: theirs[key]
            for key in texts
            if key in theirs and number_of(theirs[key]) is not None
        }
        metadata = replace(metadata, **{part: {**texts, **numbers}})
    pod = replace(pod, metadata=metadata)
    for container in pod.spec.containers[:1]:
        allocatable = node.status.allocatable
        requests = {
            name: allocatable.get(name, amount)
            for name, amount in container.resources.requests.items()
        }
        pod = _with_requests(pod, requests)
    return pod


def _near(text: str, limits: Iterable[str]) -> Iterator[str]:
    number = number_of(text)
    if number is None:
        return
    found = dict.fromkeys([text])
    for limit in dict.fromkeys(limits):
        border = number_of(limit)
        if border is not None:
            found |= dict.fromkeys(map(text_of, (border, border + 1, border - 1)))
    steps = (number - 1, number + 1)
    found |= dict.fromkeys(
        text_of(near) for near in itertools.chain(steps, _shares(number))
    )
    yield from (near for near in found if near not in ("", text))


def _shares(number: int | float) -> Iterator[int | float]:
    for share in _SHARES:
        near = number * share
        yield int(near) if isinstance(number, int) else near


def number_of(text: str) -> int | float | None:
    """Read a number as most plugins do, or return None."""
    if text.isascii() and text.isdecimal():
        return int(text) if len(text) <= _MOST_DIGITS else None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


_MOST_DIGITS: Final = 18


def text_of(number: int | float) -> str:
    """Write a number; the empty text for a negative one, which labels cannot have."""
    return "" if number < 0 else f"{number:.12g}" if number % 1 else f"{int(number)}"


def _with_near_requests(pod: Pod) -> Iterator[Pod]:
    for container in pod.spec.containers[:1]:
        requests = container.resources.requests
        for name, amount in requests.items():
            for share in (0.97, 1.03):
                near = Quantity(f"{int(amount.nanos * share)}n")
                yield _with_requests(pod, {**requests, name: near})


def _with_requests(pod: Pod, requests: Mapping[str, Quantity]) -> Pod:
    """Return a pod whose first container has other requests, and the same as limits."""
    first, *others = pod.spec.containers
    limits = {
        name: requests.get(name, limit)
        for name, limit in first.resources.limits.items()
    }
    resources = replace(first.resources, requests=requests, limits=limits)
    containers = (replace(first, resources=resources), *others)
    return replace(pod, spec=replace(pod.spec, containers=containers))
