"""Makes a record of a public trace."""

import enum
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._studies.recording.files import RecordError, RecordWriter
from quaymaster._studies.recording.telling import Teller
from quaymaster._studies.recording.traces import alibaba_2018, google_2019, openb
from quaymaster._studies.recording.traces.objects import Happening, tell
from quaymaster._studies.recording.traces.tables import find_tables

__all__ = ["ImportedTrace", "TraceFormat", "import_trace"]

_START: Final = 1767225600.0  # 2026-01-01T00:00:00Z, as virtual clocks begin


class TraceFormat(enum.StrEnum):
    """The public traces that can be read."""

    ALIBABA_OPENB = "alibaba-openb"
    """Alibaba's GPU trace of 2023: ``openb_node_list*``, ``openb_pod_list*``."""

    ALIBABA_2018 = "alibaba-2018"
    """Alibaba's trace of 2018: ``machine_meta*``, ``container_meta*``,
    ``batch_task*``."""

    GOOGLE_2019 = "google-2019"
    """Google's trace of 2019: ``machine_events*``, ``collection_events*``,
    ``instance_events*``."""


_READERS: Final[Mapping[TraceFormat, ModuleType]] = {
    TraceFormat.ALIBABA_OPENB: openb,
    TraceFormat.ALIBABA_2018: alibaba_2018,
    TraceFormat.GOOGLE_2019: google_2019,
}


@attrs.frozen(kw_only=True)
class ImportedTrace:
    """What a trace came to.

    Attributes:
        file: The record.
        nodes: How many nodes it has.
        pods: How many pods it has.
        seconds: From the beginning to the last thing that happens.
    """

    file: str
    nodes: int
    pods: int
    seconds: float


def import_trace(
    trace: TraceFormat,
    paths: Sequence[str | os.PathLike[str]],
    file: str | os.PathLike[str],
    *,
    max_pods: int | None = None,
) -> ImportedTrace:
    """Make a record of a public trace, which `replay` and the commands read.

    Args:
        trace: Which trace it is.
        paths: Its tables, as CSV files, compressed with gzip or not; or folders that
            have them.
        file: The record to write; it must not exist.
        max_pods: Stop after so many pods.

    Raises:
        RecordError: A table is missing, cannot be read or has other columns; or the
            file cannot be written.
    """
    reader = _READERS[trace]
    tables = [Path(path) for path in paths]
    found = find_tables(tables, reader.TABLES)
    for stem, files in found.items():
        if not files and stem == reader.TABLES[0].stem:
            where = ", ".join(map(str, tables))
            raise RecordError(where, f"expected a table {stem}*.csv or {stem}*.csv.gz")
    if Path(file).exists() and Path(file).stat().st_size:
        raise RecordError(str(file), "expected a new file: a trace has no end to go on")
    told = sorted(reader.happenings(found), key=lambda happening: happening.at)
    return _written(trace, _limited(told, max_pods), file)


def _limited(told: Sequence[Happening], most: int | None) -> Iterator[Happening]:
    """What happens, but for the pods that are too many."""
    names: set[str] = set()
    for one in told:
        if one.pod is not None and most is not None and one.pod.name not in names:
            if len(names) >= most:
                continue
            names.add(one.pod.name)
        yield one


def _settled(told: Iterator[Happening]) -> Iterator[Happening]:
    """What happens, but of what was before the trace only how it ended."""
    before: dict[str, Happening] = {}
    for one in told:
        if one.at:
            yield from before.values()
            yield one
            before = {}
        elif one.gone or one.is_over:
            before.pop(_name_of(one), None)
        else:
            before[_name_of(one)] = one
    yield from before.values()


def _name_of(happening: Happening) -> str:
    if happening.pod is not None:
        return f"pod {happening.pod.name}"
    return f"node {happening.gone if happening.node is None else happening.node.name}"


def _written(
    trace: TraceFormat, told: Iterator[Happening], file: str | os.PathLike[str]
) -> ImportedTrace:
    nodes: set[str] = set()
    pods: set[str] = set()
    end = 0.0
    with RecordWriter(file) as writer:
        teller = Teller(writer.write)
        teller.begin(0.0, now=_START, source=trace.value, kinds=(Node, Pod))
        for one in _settled(told):
            if one.node is not None:
                nodes.add(one.node.name)
            if one.pod is not None:
                pods.add(one.pod.name)
            end = max(end, one.at)
            tell(teller, one, listed=not one.at)
        teller.end(end)
    return ImportedTrace(file=str(file), nodes=len(nodes), pods=len(pods), seconds=end)
