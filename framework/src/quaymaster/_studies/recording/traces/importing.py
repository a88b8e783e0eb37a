"""Converts a public trace to a record."""

import enum
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._studies.recording.files import RecordError, RecordWriter
from quaymaster._studies.recording.line_writer import LineWriter
from quaymaster._studies.recording.traces import (
    alibaba_2018,
    alibaba_gpu_2020,
    alibaba_spot_2026,
    google_2019,
    helios,
    openb,
    philly,
)
from quaymaster._studies.recording.traces.objects import TraceEvent, write_event
from quaymaster._studies.recording.traces.tables import JsonTable, find_tables

__all__ = ["ImportedTrace", "TraceFormat", "import_trace", "read_trace"]

_START: Final = 1767225600.0  # 2026-01-01T00:00:00Z, as virtual clocks begin


class TraceFormat(enum.StrEnum):
    """The public traces that can be read."""

    ALIBABA_OPENB = "alibaba-openb"
    """Alibaba's GPU trace of 2023: ``openb_node_list*``, ``openb_pod_list*``."""

    ALIBABA_2018 = "alibaba-2018"
    """Alibaba's trace of 2018: ``machine_meta*``, ``container_meta*``,
    ``batch_task*``."""

    ALIBABA_GPU_2020 = "alibaba-gpu-2020"
    """Alibaba's GPU trace of 2020: ``pai_task_table*``, ``pai_machine_spec*``,
    ``pai_job_table*``, ``pai_group_tag_table*``."""

    ALIBABA_SPOT_2026 = "alibaba-spot-2026"
    """Alibaba's trace of spot GPUs of 2026: ``job_info_df*``, ``node_info_df*``."""

    HELIOS = "helios"
    """SenseTime's trace of 2020: ``cluster_log*``, ``cluster_gpu_number*``."""

    PHILLY = "philly"
    """Microsoft's trace of 2017: ``cluster_job_log*``, ``cluster_machine_list*``."""

    GOOGLE_2019 = "google-2019"
    """Google's trace of 2019: ``machine_events*``, ``collection_events*``,
    ``instance_events*``."""


_READERS: Final[Mapping[TraceFormat, ModuleType]] = {
    TraceFormat.ALIBABA_OPENB: openb,
    TraceFormat.ALIBABA_2018: alibaba_2018,
    TraceFormat.ALIBABA_GPU_2020: alibaba_gpu_2020,
    TraceFormat.ALIBABA_SPOT_2026: alibaba_spot_2026,
    TraceFormat.HELIOS: helios,
    TraceFormat.PHILLY: philly,
    TraceFormat.GOOGLE_2019: google_2019,
}


@attrs.frozen(kw_only=True)
class ImportedTrace:
    """The result of converting a trace.

    Attributes:
        file: The record.
        nodes: How many nodes it has.
        pods: How many pods it has.
        seconds: The time from the beginning to the last event.
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
    """Convert a public trace to a record, which `replay` and the commands read.

    Args:
        trace: The format of the trace.
        paths: Its tables, as CSV files, compressed with gzip or not; or folders that
            have them.
        file: The record to write; it must not exist.
        max_pods: Stop after this number of pods.

    Raises:
        RecordError: A table is missing, cannot be read or has other columns; or the
            file cannot be written.
    """
    if Path(file).exists() and Path(file).stat().st_size:
        raise RecordError(str(file), "expected a new file: a trace has no end to go on")
    return _written(trace, _limited(read_trace(trace, paths), max_pods), file)


def read_trace(
    trace: TraceFormat, paths: Sequence[str | os.PathLike[str]]
) -> Sequence[TraceEvent]:
    """Read all events of a public trace, in the order of time.

    Args:
        trace: The format of the trace.
        paths: As for `import_trace`.

    Raises:
        RecordError: A table is missing, cannot be read or has other columns.
    """
    reader = _READERS[trace]
    tables = [Path(path) for path in paths]
    table_files = find_tables(tables, reader.TABLES)
    first = reader.TABLES[0].stem
    if not table_files[first]:
        where = ", ".join(map(str, tables))
        endings = "" if isinstance(reader.TABLES[0], JsonTable) else "*.csv"
        expected = f"{first}{endings} or {first}{endings}.gz"
        raise RecordError(where, f"expected a table {expected}")
    return sorted(reader.events(table_files), key=lambda event: event.at)


def _limited(events: Sequence[TraceEvent], most: int | None) -> Iterator[TraceEvent]:
    """Yield the events, without pods above the limit."""
    names: set[str] = set()
    for event in events:
        if event.left_out:
            continue
        if event.pod is not None and most is not None and event.pod.name not in names:
            if len(names) >= most:
                continue
            names.add(event.pod.name)
        yield event


def _settled(events: Iterator[TraceEvent]) -> Iterator[TraceEvent]:
    """Yield the events; of objects from before the trace, only the last state."""
    before: dict[str, TraceEvent] = {}
    for event in events:
        if event.at:
            yield from before.values()
            yield event
            before = {}
        elif event.gone or event.is_over:
            before.pop(_name_of(event), None)
        else:
            before[_name_of(event)] = event
    yield from before.values()


def _name_of(event: TraceEvent) -> str:
    if event.pod is not None:
        return f"pod {event.pod.name}"
    return f"node {event.gone if event.node is None else event.node.name}"


def _written(
    trace: TraceFormat, events: Iterator[TraceEvent], file: str | os.PathLike[str]
) -> ImportedTrace:
    nodes: set[str] = set()
    pods: set[str] = set()
    end = 0.0
    with RecordWriter(file) as writer:
        lines = LineWriter(writer.write)
        lines.begin(0.0, now=_START, source=trace.value, kinds=(Node, Pod))
        for event in _settled(events):
            if event.node is not None:
                nodes.add(event.node.name)
            if event.pod is not None:
                pods.add(event.pod.name)
            end = max(end, event.at)
            write_event(lines, event, listed=not event.at)
        lines.end(end)
    return ImportedTrace(file=str(file), nodes=len(nodes), pods=len(pods), seconds=end)
