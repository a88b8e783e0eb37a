"""Prints rows as CSV (RFC 4180), for spreadsheets and data frames."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from quaymaster._base.errors import escaped
from quaymaster._cli.output import print_text
from quaymaster._cli.recorder import recorder

__all__ = ["column_names", "flat", "print_csv"]

_SEPARATOR = ";"


def print_csv(documents: Iterable[Mapping[str, object]], keys: Sequence[str]) -> None:
    """Print a line with the keys, and a line for each document.

    An object within a document becomes columns, whose names have its key, a dot and
    the inner key. The values of a list are joined by semicolons. Null is empty.

    Args:
        documents: Rows as ``-o json`` has them.
        keys: The keys of each, in the order of the columns.
    """
    recording = recorder()
    if recording is not None:
        recording.add_rows(list(documents), keys)
        return
    rows = [dict(flat(document)) for document in documents]
    columns = column_names(rows, keys)
    text = io.StringIO()
    # RFC 4180 allows for other ends of lines; most programs on a pipe expect this one.
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = {name: _cell(value) for name, value in row.items()}
        writer.writerow([cells.get(column, "") for column in columns])
    print_text(text.getvalue())


def column_names(
    rows: Iterable[Mapping[str, object]], keys: Sequence[str]
) -> list[str]:
    """Return the names of all columns; those of an object are where its key is."""
    places = {key: place for place, key in enumerate(keys)}
    names = dict.fromkeys(name for row in rows for name in row)

    def place(name: str) -> int:
        while name not in places and "." in name:
            name = name.rpartition(".")[0]
        return places.get(name, len(places))

    parents = {keys[place(name)] for name in names if place(name) < len(keys)}
    missing = [key for key in keys if key not in parents]
    return sorted((*names, *missing), key=place)


def flat(document: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the columns of a document and their values, which are not None."""
    for key, value in document.items():
        if isinstance(value, Mapping):
            for name, inner in flat(value):
                yield f"{key}.{name}", inner
        elif value is not None:
            yield key, value


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        if any(isinstance(item, Mapping) for item in value):
            import msgspec  # noqa: PLC0415 - tables do without

            return msgspec.json.encode(value).decode()
        return _SEPARATOR.join(map(_cell, value))
    return escaped(str(value))
