"""Keys, paths and values as configuration files write them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import attrs

from quaymaster._core.config.duration import format_duration

__all__ = ["attribute_key", "camel_case", "join_path", "show"]

_LONGEST = 60


def camel_case(name: str) -> str:
    """Return the key of a field: ``minCandidateNodes`` for ``min_candidate_nodes``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def attribute_key(attribute: "attrs.Attribute[Any]") -> str:
    """Return the key of an attrs field; its metadata may set it as ``key``."""
    key = attribute.metadata.get("key")
    return (
        key if isinstance(key, str) else camel_case(attribute.alias or attribute.name)
    )


def join_path(path: str, rest: str) -> str:
    """Join two parts of a path: ``a`` and ``[0].b`` become ``a[0].b``."""
    if not path or not rest or rest.startswith("["):
        return path + rest
    return f"{path}.{rest}"


def show(value: object) -> str:
    """Return a value as it is in a file, shortened for messages."""
    if value is None:
        return "nothing"
    # Before all others, since a bool is an int, too.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return "a list" if value else "an empty list"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
