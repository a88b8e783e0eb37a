"""Errors of fields, in the words of an API server.

Mirrors ``pkg/util/validation/field/errors.go`` and ``pkg/api/validate/content``
(k8s.io/apimachinery v0.37).
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

__all__ = [
    "Names",
    "duplicate",
    "forbidden",
    "immutable",
    "invalid",
    "label_key",
    "long_name",
    "not_supported",
    "object_name",
    "path_segment",
    "required",
    "short_name",
    "too_long",
    "too_many",
]

Names = Callable[[str], Iterator[str]]
"""Yields what is wrong with a name."""

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_KEY: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_MAX_LABEL: Final = 63
_MAX_SUBDOMAIN: Final = 253
_LABEL_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
    "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
    f"'123-abc', regex used for validation is '{_LABEL}')"
)
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_KEY_TEXT: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    f"regex used for validation is '{_KEY}')"
)
_PREFIX_TEXT: Final = (
    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)


def required(detail: str = "") -> str:
    """Return the error of a field that must be set."""
    return _detailed("Required value", detail)


def forbidden(detail: str = "") -> str:
    """Return the error of a field that must not be set or changed."""
    return _detailed("Forbidden", detail)


def invalid(value: object, detail: str) -> str:
    """Return the error of a field with a wrong value; None is written as ``null``."""
    return _detailed(f"Invalid value: {_written(value)}", detail)


def immutable() -> str:
    """Return the error of a field that was changed, but cannot change."""
    return invalid(None, "field is immutable")


def duplicate(value: object) -> str:
    """Return the error of an item of a list that has an equal one before it."""
    return f"Duplicate value: {_written(value)}"


def not_supported(value: str, supported: Sequence[str]) -> str:
    """Return the error of a text that is not one of the supported ones."""
    texts = ", ".join(map(_written, supported))
    return f"Unsupported value: {_written(value)}: supported values: {texts}"


def too_many(count: int, most: int) -> str:
    """Return the error of a list with too many items."""
    items = "item" if most == 1 else "items"
    return f"Too many: {count}: must have at most {most} {items}"


def too_long(most: int) -> str:
    """Return the error of a text with too many bytes."""
    return f"Too long: may not be more than {most} bytes"


def short_name(name: str) -> Iterator[str]:
    """Yield what is wrong with the label of a domain name."""
    if len(name) > _MAX_LABEL:
        yield _no_more_than(_MAX_LABEL)
    if not re.fullmatch(_LABEL, name, re.ASCII):
        # Upstream shortens the message if only the dots are wrong, which is the usual
        # mistake.
        yield "must not contain dots" if _is_subdomain(name) else _LABEL_TEXT


def long_name(name: str) -> Iterator[str]:
    """Yield what is wrong with a domain name."""
    return _long_name(name, "bytes")


def object_name(name: str) -> Iterator[str]:
    """Yield what is wrong with the name of an object; `long_name` in older words."""
    return _long_name(name, "characters")


def _long_name(name: str, unit: str) -> Iterator[str]:
    if len(name) > _MAX_SUBDOMAIN:
        yield _no_more_than(_MAX_SUBDOMAIN, unit)
    if not _is_subdomain(name):
        yield _SUBDOMAIN_TEXT


def _is_subdomain(name: str) -> bool:
    return re.fullmatch(_SUBDOMAIN, name, re.ASCII) is not None


def label_key(key: str) -> Iterator[str]:
    """Yield what is wrong with the key of a label."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        yield f"a valid label key {_KEY_TEXT}{_PREFIX_TEXT}"
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        yield from (f"prefix part {reason}" for reason in long_name(prefix))
    if not name:
        yield "name part must be non-empty"
    elif len(name) > _MAX_LABEL:
        yield f"name part {_no_more_than(_MAX_LABEL)}"
    if not re.fullmatch(_KEY, name, re.ASCII):
        yield f"name part {_KEY_TEXT}"


def path_segment(name: str) -> Iterator[str]:
    """Yield what is wrong with a name that is a part of a path."""
    if name in (".", ".."):
        yield f"may not be '{name}'"
        return
    yield from (f"may not contain '{part}'" for part in "/%" if part in name)


def _no_more_than(most: int, unit: str = "bytes") -> str:
    return f"must be no more than {most} {unit}"


def _detailed(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def _written(value: object) -> str:
    """Return a value as JSON, as compact as Go's encoder writes it."""
    # Go leaves characters outside ASCII as they are.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
