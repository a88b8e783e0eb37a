"""Clusters whose numbers are multiples of the drawn ones, so that answers differ.

The numbers of an author's strategies are often near each other. Then a pod that needs
more than a whole node has, or nothing, is never drawn.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import attrs
from msgspec import Struct
from msgspec.structs import asdict, replace

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.quantity import Quantity
from quaymaster._authors.testing.contract.changes import is_declared
from quaymaster._authors.testing.contract.near_numbers import number_of, text_of
from quaymaster._authors.testing.contract.small_cluster import SmallCluster

__all__ = ["multiplied", "with_other_numbers"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_FACTORS: Final = (0, 2, 100)


def with_other_numbers(cluster: SmallCluster) -> Iterator[SmallCluster]:
    """Yield variants of a cluster: other numbers of waiting pods, nodes, or objects.

    These are the numbers in labels and annotations, and in objects of kinds that a
    plugin declares.

    Args:
        cluster: The cluster.
    """
    for factor in _FACTORS:
        pending = tuple(multiplied(pod, factor) for pod in cluster.pending)
        if pending != cluster.pending:
            yield attrs.evolve(cluster, pending=pending)
        nodes = tuple(multiplied(node, factor) for node in cluster.nodes)
        if nodes != cluster.nodes:
            yield attrs.evolve(cluster, nodes=nodes)
        objects = tuple(multiplied(obj, factor) for obj in cluster.objects)
        if objects != cluster.objects:
            yield attrs.evolve(cluster, objects=objects)


def multiplied(obj: ObjT, factor: int) -> ObjT:
    """Return an object whose labels, annotations and own fields have other numbers."""
    metadata = obj.metadata
    labels, annotations = (
        {key: _text(value, factor) for key, value in texts.items()}
        for texts in (metadata.labels, metadata.annotations)
    )
    if (labels, annotations) != (metadata.labels, metadata.annotations):
        metadata = replace(metadata, labels=labels, annotations=annotations)
    content: Mapping[str, object] = {}
    if is_declared(type(obj)):
        fields = asdict(obj)
        content = {
            name: _value(value, factor)
            for name, value in fields.items()
            if name != "metadata"
        }
    return replace(obj, metadata=metadata, **content)


def _text(text: str, factor: int) -> str:
    number = number_of(text)
    return text if number is None else text_of(number * factor) or text


def _value(value: object, factor: int) -> object:
    """Multiply the numbers of a value, which keeps its structure."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value * factor
    if isinstance(value, Quantity):
        return Quantity(f"{value.nanos * factor}n")
    if isinstance(value, str):
        return _text(value, factor)
    if isinstance(value, Mapping):
        return {key: _value(part, factor) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_value(part, factor) for part in value)
    if isinstance(value, Struct):
        # Any: the fields of an author's own record.
        parts: Any = asdict(value)
        return replace(
            value, **{name: _value(part, factor) for name, part in parts.items()}
        )
    return value
