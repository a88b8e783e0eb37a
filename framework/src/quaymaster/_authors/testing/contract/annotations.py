"""A check: the annotations of hooks agree with their specs."""

import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any, get_args, get_origin, get_type_hints

from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.extension_points import EXTENSION_POINTS

__all__ = ["ANNOTATIONS"]


def _ask(subject: Subject, _cluster: SmallCluster, _other: SmallCluster) -> None:
    for point in EXTENSION_POINTS:
        for hook in point.hooks:
            if subject.has(hook):
                own = getattr(subject.plugin, hook)
                for problem in _problems(
                    _hints(own), _hints(getattr(point.spec, hook))
                ):
                    fail(hook, problem)


def _hints(function: object) -> dict[str, object]:
    try:
        return get_type_hints(inspect.unwrap(typing.cast(Any, function)))
    except Exception:
        return {}  # some names are imported for type checkers only


def _problems(own: dict[str, object], spec: dict[str, object]) -> Iterator[str]:
    for name, kind in own.items():
        declared = spec.get(name, Any)
        if name == "return":
            if not _may_be(kind, declared):
                expected = _text(declared)
                yield f"is annotated to return {_text(kind)}, expected {expected}"
        elif name in spec and not _may_be(declared, kind):
            yield f"'{name}' is annotated as {_text(kind)}, but it is {_text(declared)}"


def _may_be(kind: object, wider: object) -> bool:
    """Return whether a type is part of a wider one; True if that is undecidable."""
    parts = _parts(wider)
    return all(
        any(_is_part(kind_part, part) for part in parts) for kind_part in _parts(kind)
    )


def _parts(kind: object) -> tuple[object, ...]:
    if get_origin(kind) in (typing.Union, types.UnionType):
        return get_args(kind)
    return (kind,)


def _is_part(kind: object, wider: object) -> bool:
    narrow_class, wide_class = get_origin(kind) or kind, get_origin(wider) or wider
    if not isinstance(narrow_class, type) or not isinstance(wide_class, type):
        return True  # Any, a type variable, a literal: undecidable
    if narrow_class is object:
        return True  # any type is part of it
    if _is_protocol(narrow_class) or _is_protocol(wide_class):
        return True
    return issubclass(narrow_class, wide_class)


def _is_protocol(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def _text(kind: object) -> str:
    return " | ".join(
        "None" if part is type(None) else getattr(part, "__name__", str(part))
        for part in _parts(kind)
    )


ANNOTATIONS = Check(
    name="annotations",
    promise="the types that hooks declare agree with their specs",
    ask=_ask,
    needs_clusters=False,
)
