"""A check: arguments can be written to a file and read back, and are validated."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

import attrs

from quaymaster._authors.testing.contract.argument_sharing import ask_sharing
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.extreme_arguments import ask_extremes
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.unused_texts import ask_texts
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.config.dump import plain
from quaymaster._core.config.records import record_fields

__all__ = ["ARGUMENTS"]


_SAMPLES: Final[Sequence[tuple[object, object]]] = (
    (str, "a"),
    (int, 3),
    (float, 0.5),
    (tuple[str, ...], ["a"]),
    (Sequence[str], ["a"]),
    (frozenset[str], ["a"]),
    (Mapping[str, str], {"a": "b"}),
)
"""Types of arguments, and an example of a value in a file."""


def _ask(subject: Subject, _cluster: SmallCluster, _other: SmallCluster) -> None:
    args = subject.config.plugin_args.get(subject.name)
    if args is None:
        return
    _compare(subject, args)
    for field in record_fields(type(args)):
        for sample in (value for kind, value in _SAMPLES if kind == field.type):
            given = attrs.evolve(
                subject, args={**(subject.args or {}), field.key: sample}
            )
            try:
                actual = given.config.plugin_args[subject.name]
            except QuaymasterError:
                continue  # no value for this field
            _compare(given, actual)
    ask_extremes(subject, args)
    ask_texts(subject, args)
    ask_sharing(subject, args)


def _compare(subject: Subject, args: object) -> None:
    written = plain(args)
    try:
        again = attrs.evolve(subject, args=cast(Mapping[str, object], written))
        read = again.config.plugin_args.get(subject.name)
    except QuaymasterError as error:
        fail("", f"its arguments, written out as {written}, do not load: {error}")
    if plain(read) != written:
        fail("", f"arguments {written} come back from a file as {plain(read)}")
    if read != args:
        fail("", f"equal {type(args).__name__} do not compare as equal; keep attrs' eq")


ARGUMENTS = Check(
    name="arguments",
    promise="arguments are the same when written and loaded, and have no bad values",
    ask=_ask,
    needs_clusters=False,
)
