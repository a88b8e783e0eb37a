"""Writes results as tables: Parquet and CSV."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias, cast

import pyarrow as pa  # type: ignore[import-untyped]  # it has no stubs
from pyarrow import parquet

from quaymaster._base.files import write_whole
from quaymaster._studies.experiments.running import RunResult
from quaymaster._studies.experiments.store import write_csv

__all__ = ["Row", "curves_table", "results_table", "typed_column", "write_results"]

Row: TypeAlias = tuple[Mapping[str, object], RunResult]
"""The labels of a run, and its result."""

_INT64: Final = range(-(2**63), 2**63)


def write_results(
    folder: Path,
    labels: Sequence[str],
    rows: Sequence[Row],
    metadata: Mapping[str, str],
) -> None:
    """Write the table of results, and the table of curves if there are any.

    Args:
        folder: The folder of the tables.
        labels: The first columns.
        rows: The runs, in the order of the rows.
        metadata: Facts about the experiment, for the schema of the Parquet files: a
            file that is passed on has lost its ``provenance.json``.
    """
    _write_table(results_table(labels, rows), folder, "results", metadata)
    if any(result.curves for _, result in rows):
        _write_table(curves_table(labels, rows), folder, "curves", metadata)
    else:
        for suffix in ("parquet", "csv"):
            (folder / f"curves.{suffix}").unlink(missing_ok=True)


def results_table(labels: Sequence[str], rows: Sequence[Row]) -> pa.Table:
    """Make the table with one row for each run.

    Args:
        labels: The first columns.
        rows: The runs, in the order of the rows.
    """
    names = dict.fromkeys(name for _, result in rows for name in result.values)
    columns: dict[str, list[object]] = {
        name: [given.get(name) for given, _ in rows] for name in labels
    }
    for name in names:
        columns[name] = [result.values.get(name) for _, result in rows]
    return pa.table({name: typed_column(values) for name, values in columns.items()})


def curves_table(labels: Sequence[str], rows: Sequence[Row]) -> pa.Table:
    """Make the table with one row for each point of each curve of each run.

    Args:
        labels: The first columns; ``curve``, ``x`` and ``y`` follow.
        rows: The runs, in the order of the rows.
    """
    lengths = [sum(len(x) for x, _ in result.curves.values()) for _, result in rows]
    columns = {}
    for name in labels:
        values = typed_column([given.get(name) for given, _ in rows])
        places = [row for row, length in enumerate(lengths) for _ in range(length)]
        columns[name] = values.take(pa.array(places, pa.int64()))
    curves = [item for _, result in rows for item in result.curves.items()]
    columns["curve"] = pa.array(
        [name for name, (x, _) in curves for _ in x], pa.string()
    )
    xs = [value for _, (x, _) in curves for value in x]
    ys = [value for _, (_, y) in curves for value in y]
    columns["x"] = pa.array(xs, pa.float64())
    columns["y"] = pa.array(ys, pa.float64())
    return pa.table(columns)


def _write_table(
    table: pa.Table, folder: Path, name: str, metadata: Mapping[str, str]
) -> None:
    """Write a table as Parquet and as CSV; equal tables give equal files."""
    buffer = io.BytesIO()
    described = table.replace_schema_metadata(dict(metadata))
    parquet.write_table(described, buffer, compression="zstd")
    write_whole(folder / f"{name}.parquet", buffer.getvalue())
    columns = [column.to_pylist() for column in table.columns]
    write_csv(folder / f"{name}.csv", table.column_names, zip(*columns, strict=True))


def typed_column(values: Sequence[object]) -> pa.Array:
    """Make a column of one type; values of mixed types are written as JSON."""
    present = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in present) and present:
        return pa.array(values, pa.bool_())
    is_number = [
        isinstance(value, int | float) and not isinstance(value, bool)
        for value in present
    ]
    if present and all(is_number):
        are_whole = all(isinstance(value, int) and value in _INT64 for value in present)
        if are_whole:
            return pa.array(values, pa.int64())
        numbers = [
            None if value is None else float(cast(float, value)) for value in values
        ]
        return pa.array(numbers, pa.float64())
    if all(isinstance(value, str) for value in present):
        return pa.array(values, pa.string())
    texts = [None if value is None else json.dumps(value) for value in values]
    return pa.array(texts, pa.string())
