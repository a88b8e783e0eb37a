"""Rows of results as Arrow tables, which pandas, polars and DuckDB read."""

import enum
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Union, get_args, get_origin

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # it has no stubs
from msgspec import UnsetType

from quaymaster._cli.csv_rows import column_names, flat
from quaymaster._cli.documents.parts import DocumentPart
from quaymaster._studies.experiments.tables import typed_column

__all__ = ["arrow_table"]

_SCALARS: Final[Mapping[object, pa.DataType]] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
}

_PLAIN: Final = (str, int, float, list, dict, types.NoneType)


def arrow_table(
    documents: Iterable[Mapping[str, object]],
    keys: Sequence[str],
    parts: Sequence[type[DocumentPart]],
) -> pa.Table:
    """Return rows as a table with the columns of CSV.

    Args:
        documents: Rows as ``-o json`` has them.
        keys: The keys of each, in the order of the columns.
        parts: The documented types of the rows, which give columns their types, also
            if they are empty. Other columns have the type of their values.
    """
    rows = [dict(flat(document)) for document in documents]
    declared = [column for part in parts for column in _columns_of(part)]
    names = column_names(rows, keys)
    return pa.table({name: _array(name, rows, declared) for name in names})


class _Columns(NamedTuple):
    """The columns of a key: several if its value is an object."""

    start: str
    end: str
    is_exact: bool
    annotation: Any

    def has(self, name: str) -> bool:
        """Whether a column is one of them."""
        if self.is_exact:
            return name == self.start
        return name.startswith(self.start) and name.endswith(self.end)


def _columns_of(part: type[msgspec.Struct]) -> Iterator[_Columns]:
    for field in msgspec.structs.fields(part):
        annotation = _without_none(field.type)
        if get_origin(annotation) is not dict:
            yield _Columns(field.encode_name, "", True, annotation)
            continue
        _, inner = get_args(annotation)
        start = f"{field.encode_name}."
        if not _is_struct(inner):
            yield _Columns(start, "", False, inner)
            continue
        for name, kind in _fields(inner):
            yield _Columns(start, f".{name}", False, kind)


def _fields(struct: type[msgspec.Struct]) -> list[tuple[str, Any]]:
    fields = msgspec.structs.fields(struct)
    return [(field.encode_name, _without_none(field.type)) for field in fields]


def _without_none(annotation: Any) -> Any:  # noqa: ANN401 - types are of any kind
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    absent = (types.NoneType, UnsetType)
    return next(kind for kind in get_args(annotation) if kind not in absent)


def _arrow_type(annotation: Any) -> pa.DataType:  # noqa: ANN401 - as above
    if get_origin(annotation) is list:
        return pa.list_(_arrow_type(get_args(annotation)[0]))
    if get_origin(annotation) is dict:
        return pa.map_(pa.string(), _arrow_type(get_args(annotation)[1]))
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return pa.string()
    if _is_struct(annotation):
        return pa.struct(
            [(name, _arrow_type(kind)) for name, kind in _fields(annotation)]
        )
    return _SCALARS[annotation]


def _is_struct(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, msgspec.Struct)


def _array(
    name: str, rows: Iterable[Mapping[str, object]], declared: Iterable[_Columns]
) -> pa.Array:
    values = [row.get(name) for row in rows]
    for columns in declared:
        if columns.has(name):
            return pa.array(values, _arrow_type(columns.annotation))
    return _inferred(values)


def _inferred(values: Sequence[object]) -> pa.Array:
    """Make a column of the type of its values; texts if they are of no other type."""
    present = [value for value in values if value is not None]
    if present and all(map(_is_list_of_texts, present)):
        return pa.array(values, pa.list_(pa.string()))
    return typed_column(
        [value if isinstance(value, _PLAIN) else str(value) for value in values]
    )


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
