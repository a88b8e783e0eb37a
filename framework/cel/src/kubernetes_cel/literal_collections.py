"""Compiles literals of lists and maps, which may have optional elements."""

from collections.abc import Collection, Sequence

from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.frames import Evaluate, Frame
from kubernetes_cel.values import Optional, Value, to_key

__all__ = ["list_of", "map_of"]


def list_of(elements: Sequence[Evaluate], optional: Collection[int]) -> Evaluate:
    """Compile a list.

    Args:
        elements: The elements, compiled.
        optional: The indexes of those that are left out if they have no value.
    """
    if not optional:
        return lambda frame: [element(frame) for element in elements]

    def build(frame: Frame) -> Value:
        values = []
        for index, element in enumerate(elements):
            value = element(frame)
            if index not in optional:
                values.append(value)
            elif type(value) is not Optional:
                raise CelEvaluationError(
                    "cannot initialize optional list element from non-optional value"
                )
            elif value.present:
                values.append(value.value)
        return values

    return build


def map_of(entries: Sequence[tuple[Evaluate, Evaluate, bool]]) -> Evaluate:
    """Compile a map.

    Args:
        entries: The keys and values, compiled, and whether an entry is left out if it
            has no value.
    """

    def build(frame: Frame) -> Value:
        result: dict[Value, Value] = {}
        for key, value, optional in entries:
            at, entry = to_key(key(frame)), value(frame)
            if not optional:
                result[at] = entry
            elif type(entry) is not Optional:
                raise CelEvaluationError(
                    "cannot initialize optional entry from non-optional value"
                )
            elif entry.present:
                result[at] = entry.value
            else:
                result.pop(at, None)
        return result

    return build
