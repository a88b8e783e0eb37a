"""A check: numbers inside mappings, lists and records of arguments are validated."""

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, cast

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.extreme_arguments import (
    EXTREMES,
    REMEDY,
    problem_of,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.config.dump import plain
from quaymaster._core.config.records import record_fields

__all__ = ["ARGUMENT_VALUES"]

_MOST_KEYS: Final = 16
_EXTREME_NUMBERS: Final = {
    kind: values for kind, values in EXTREMES if kind in (int, float)
}
"""Types -> extreme values; a text inside a list is rarely empty by mistake."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    args = subject.config.plugin_args.get(subject.name)
    if args is None or problem_of(subject, cluster):
        return  # another check reports failures with usual arguments
    keys = _texts(cluster)
    written = cast(Mapping[str, object], plain(args))
    for key, field_type in _nested_fields(type(args)):
        for value in _variants(field_type, written.get(key), keys):
            _ask_value(subject, cluster, key, value)


def _ask_value(
    subject: Subject, cluster: SmallCluster, key: str, value: object
) -> None:
    given = attrs.evolve(subject, args={**(subject.args or {}), key: value})
    try:
        _ = given.config
    except QuaymasterError:
        return  # it is validated
    problem = problem_of(given, cluster)
    if problem:
        text = f"the argument {key}: {value!r} is accepted, but then {problem}"
        fail("", f"{text}; {REMEDY}", cluster.pending, cluster.nodes)


def _texts(cluster: SmallCluster) -> Sequence[str]:
    """Return the texts of a cluster that may be keys: values of labels, namespaces."""
    objects: Sequence[ApiObject] = (*cluster.pending, *cluster.pods, *cluster.nodes)
    texts: dict[str, None] = {}
    for obj in objects:
        metadata = obj.metadata
        values = (*metadata.labels.values(), *metadata.annotations.values())
        texts |= dict.fromkeys((*values, metadata.namespace))
    return [text for text in texts if text][:_MOST_KEYS]


def _nested_fields(record: type) -> Iterator[tuple[str, object]]:
    """Yield the keys and types of the arguments that hold other values."""
    for field in record_fields(record):
        if any(_variants(field.type, None, ["a"])) and field.type not in (int, float):
            yield field.key, field.type


def _variants(kind: object, written: object, keys: Sequence[str]) -> Iterator[object]:
    """Yield extreme values of a type, as in a file.

    Args:
        kind: The type.
        written: The usual value, or None.
        keys: The keys of mappings.
    """
    if kind in (int, float):
        yield from _EXTREME_NUMBERS[kind]
    elif isinstance(kind, type) and attrs.has(kind):
        usual = written if isinstance(written, Mapping) else {}
        for field in record_fields(kind):
            for value in _variants(field.type, usual.get(field.key), keys):
                yield {**usual, field.key: value}
    else:
        yield from _composed(kind, written, keys)


def _composed(kind: object, written: object, keys: Sequence[str]) -> Iterator[object]:
    """Yield extreme values of a type that has other types as its arguments."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        for part in parts:
            yield from _variants(part, written, keys)
    elif not isinstance(origin, type):
        return
    elif issubclass(origin, Mapping):
        usual = written if isinstance(written, Mapping) else {}
        first = next(iter(usual.values()), None)
        for value in _variants(parts[1], first, keys):
            yield dict.fromkeys((*usual, *keys), value)
    elif issubclass(origin, Sequence | AbstractSet):
        first = written[0] if isinstance(written, list) and written else None
        for value in _variants(parts[0], first, keys):
            yield [value]


def _has_values(plugin: type) -> bool:
    args = getattr(plugin, "Args", None)
    return isinstance(args, type) and attrs.has(args) and any(_nested_fields(args))


ARGUMENT_VALUES: Final = Check(
    name="argument values",
    promise="numbers in mappings, lists and records of arguments have no bad values",
    ask=_ask,
    only_for=_has_values,
)
