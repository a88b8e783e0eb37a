"""Finds arguments that a constructor keeps where all instances share them."""

from collections.abc import Iterator, Mapping
from typing import Final, cast

import attrs

from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.shared_names import (
    REMEDY,
    rebound,
    shared_names,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.config.dump import plain
from quaymaster._core.config.records import record_fields

__all__ = ["ask_sharing", "other_values"]

_NOTHING: Final = SmallCluster()


def ask_sharing(subject: Subject, args: object) -> None:
    """Check that instances with other arguments set nothing that they share.

    Args:
        subject: The plugin.
        args: Its arguments.
    """
    for key, value in other_values(args):
        given = attrs.evolve(subject, args={**(subject.args or {}), key: value})
        try:
            _ = given.config
            # What is set once, at the first instance, may be shared.
            _build(subject, given)
            before = shared_names(subject.plugin)
            _build(subject)
            name = rebound(before, shared_names(subject.plugin))
        except (QuaymasterError, HookFailedError):
            continue  # the value is not valid, or another check reports the failure
        if name is not None:
            text = f"an instance with another argument {key} sets {name}, {REMEDY}"
            fail("__init__", text)


def _build(*subjects: Subject) -> None:
    for subject in subjects:
        Bench(subject, _NOTHING)
        subject.close()


def other_values(args: object) -> Iterator[tuple[str, object]]:
    """Yield for each argument of a common type another value in a file."""
    written = cast(Mapping[str, object], plain(args))
    for field in record_fields(type(args)):
        value = written.get(field.key)
        if isinstance(value, bool):
            yield field.key, not value
        elif isinstance(value, int | float):
            yield field.key, value + 1
        elif isinstance(value, str):
            yield field.key, f"{value}a"
        elif isinstance(value, list) and all(isinstance(part, str) for part in value):
            yield field.key, [*value, "a"]
