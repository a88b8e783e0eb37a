"""Finds fields of an object that are unknown, dropped, duplicate, or of a wrong type.

Mirrors the strict decoding of the API server (k8s.io/apimachinery v0.36,
``pkg/runtime/serializer/json``).
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.check import complaint
from quaymaster._api.openapi.duplicates import find_duplicates, path_text
from quaymaster._api.openapi.table import FieldTable
from quaymaster._api.openapi.unknown import (
    OddField,
    find_odd_fields,
)
from quaymaster._api.openapi.wrong import find_wrong
from quaymaster._base.input.json_values import JsonText, json_tree
from quaymaster._clusters.manifests.class_fields import find_unknown_in_class
from quaymaster._clusters.manifests.texts import ObjectText

__all__ = [
    "FieldFinding",
    "OddFields",
    "is_stored",
    "odd_fields",
    "odd_spec_fields",
    "wrong_values",
]

_MOST: Final = 20
"""How many findings of one object are reported at most."""

_DUPLICATE: Final = "duplicate field"
_SPEC: Final = "spec"


class FieldFinding(NamedTuple):
    """A problem of a field.

    Attributes:
        path: The path in the object.
        message: What is wrong, and what was probably meant.
        gate: The feature gate that is off, if an API server drops the field.
    """

    path: str
    message: str
    gate: str = ""


class OddFields(NamedTuple):
    """The odd fields of an object.

    Attributes:
        unknown: Unknown and duplicate fields, up to a readable number.
        dropped: Fields that an API server drops, since their feature gates are off.
    """

    unknown: list[FieldFinding]
    dropped: list[FieldFinding]


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    uid: str | None = None
    resource_version: str | None = None


class _Stored(msgspec.Struct, gc=False):
    metadata: _Metadata | None = None


class _Spec(msgspec.Struct, gc=False):
    spec: msgspec.Raw = msgspec.Raw(b"null")


_STORED: Final = msgspec.json.Decoder(_Stored)
_SPEC_DECODER: Final = msgspec.json.Decoder(_Spec)


def is_stored(text: JsonText) -> bool:
    """Return whether an object comes from a server, by its uid or resourceVersion."""
    try:
        metadata = _STORED.decode(text).metadata
    except msgspec.ValidationError:
        return False
    return metadata is not None and bool(metadata.uid or metadata.resource_version)


def odd_fields(
    entry: ObjectText,
    table: FieldTable,
    *,
    spec_is_known: bool,
    kind: type[ApiObject] | None = None,
) -> OddFields:
    """Find all fields of an object that are unknown, dropped, or duplicate.

    Args:
        entry: The object.
        table: The fields of Kubernetes' kinds.
        spec_is_known: Whether its spec has already been checked.
        kind: Its class, if only the class lists the fields.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deeply.
    """
    return _sorted_out(_in_object(entry, table, spec_is_known, kind))


def odd_spec_fields(
    entry: ObjectText, table: FieldTable, kind: type[ApiObject] | None = None
) -> OddFields:
    """Find the same in the spec alone; duplicates only if the YAML reader found them.

    Args:
        entry: The object.
        table: The fields of Kubernetes' kinds.
        kind: Its class, if only the class lists the fields.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deeply.
    """
    return _sorted_out(_in_spec(entry, table, kind))


def wrong_values(
    entry: ObjectText, table: FieldTable, *, spec_is_known: bool
) -> list[FieldFinding]:
    """Find all fields with values of wrong types; arguments as for `odd_fields`.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deeply.
    """
    tree = json_tree(_without_spec(entry)) if spec_is_known else entry.tree
    return _shortened(
        [
            FieldFinding(wrong.path, complaint(wrong.value, wrong.expected))
            for wrong in find_wrong(tree, table.structure_of(*entry.typed), table)
        ]
    )


def _sorted_out(findings: Iterator[FieldFinding]) -> OddFields:
    odd = OddFields([], [])
    for finding in findings:
        if finding.gate:
            odd.dropped.append(finding)
        # One more than is shown, as a sign that there are others.
        elif len(odd.unknown) <= _MOST:
            odd.unknown.append(finding)
    return odd._replace(unknown=_shortened(odd.unknown))


def _shortened(findings: list[FieldFinding]) -> list[FieldFinding]:
    if len(findings) > _MOST:
        findings[_MOST:] = [FieldFinding("", "and more fields of this kind")]
    return findings


def _in_object(
    entry: ObjectText,
    table: FieldTable,
    spec_is_known: bool,
    kind: type[ApiObject] | None,
) -> Iterator[FieldFinding]:
    if entry.duplicates is None:
        text = _without_spec(entry) if spec_is_known else bytes(entry.text)
        tree, paths = find_duplicates(text)
        for path in paths:
            yield FieldFinding(path_text(path), _DUPLICATE)
    else:
        tree = json_tree(_without_spec(entry)) if spec_is_known else entry.tree
        yield from _reported_duplicates(entry)
    if kind is None:
        structure = table.structure_of(*entry.typed)
        yield from _findings(find_odd_fields(tree, structure, table), table)
    else:
        yield from _in_class(find_unknown_in_class(tree, kind, table))


def _without_spec(entry: ObjectText) -> bytes:
    """Return the text of an object whose spec has already been checked."""
    text = bytes(entry.text)
    spec = bytes(_SPEC_DECODER.decode(text).spec)
    # Only if both occur once: an annotation, for example, may repeat the bytes of the
    # spec.
    if text.count(b'"spec"') == text.count(spec) == 1:
        text = text.replace(spec, b"null")
    return text


def _in_spec(
    entry: ObjectText, table: FieldTable, kind: type[ApiObject] | None
) -> Iterator[FieldFinding]:
    yield from _reported_duplicates(entry)
    reference = table.fields_of(table.structure_of(*entry.typed)).get(_SPEC, 0)
    if reference or kind is not None:
        spec = json_tree(_SPEC_DECODER.decode(entry.text).spec)
        if kind is None:
            yield from _findings(find_odd_fields(spec, reference, table, _SPEC), table)
        else:
            yield from _in_class(find_unknown_in_class(spec, kind, table, _SPEC))


def _reported_duplicates(entry: ObjectText) -> Iterator[FieldFinding]:
    for duplicate in entry.duplicates or ():
        message = f"{_DUPLICATE}, again in line {duplicate.line}"
        yield FieldFinding(path_text(duplicate.path), message)


def _findings(fields: Iterable[OddField], table: FieldTable) -> Iterator[FieldFinding]:
    for field in fields:
        message = f"unknown field{field.hint}"
        if field.gate:
            version = table.kubernetes.version
            message = (
                f"dropped, as the feature gate {field.gate} is off in "
                f"Kubernetes {version}"
            )
        yield FieldFinding(field.path, message, field.gate)


def _in_class(fields: Iterable[OddField]) -> Iterator[FieldFinding]:
    """Yield the unknown fields of a custom object; gates drop none of these."""
    for field in fields:
        if not field.gate:
            yield FieldFinding(field.path, f"unknown field{field.hint}")
