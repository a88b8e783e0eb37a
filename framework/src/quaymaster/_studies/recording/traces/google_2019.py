"""Google's cluster trace of 2019: machine, collection and instance events.

CPU and memory are shares of the largest machine, which is assumed to have 100 CPUs and
1000 GiB. Times are in microseconds; objects from before the trace have the time 0.
Tasks inside an alloc instance use its reservation, so only the instance becomes a pod.
Columns and numbers are those of ``clusterdata_trace_format_v3.proto``
(https://github.com/google/cluster-data).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from quaymaster._studies.recording.files import RecordError
from quaymaster._studies.recording.traces.objects import TraceEvent, TraceNode, TracePod
from quaymaster._studies.recording.traces.tables import Row, Table

__all__ = ["TABLES", "events"]

_MACHINES: Final = Table(
    "machine_events",
    ("time", "machine_id", "type", "capacity.cpus", "capacity.memory"),
    optional=("switch_id", "platform_id", "missing_data_reason"),
)
_COLLECTIONS: Final = Table(
    "collection_events",
    ("time", "type", "collection_id", "priority"),
    optional=("collection_type", "user", "scheduler", "collection_logical_name"),
)
_INSTANCES: Final = Table(
    "instance_events",
    (
        "time",
        "type",
        "collection_id",
        "instance_index",
        "machine_id",
        "resource_request.cpus",
        "resource_request.memory",
    ),
    optional=("priority", "alloc_collection_id"),
)
TABLES: Final = (_MACHINES, _COLLECTIONS, _INSTANCES)

_MACHINE_TYPES: Final = ("EVENT_TYPE_UNKNOWN", "ADD", "REMOVE", "UPDATE")
_TYPES: Final = (
    "SUBMIT",
    "QUEUE",
    "ENABLE",
    "SCHEDULE",
    "EVICT",
    "FAIL",
    "FINISH",
    "KILL",
    "LOST",
    "UPDATE_PENDING",
    "UPDATE_RUNNING",
)
_ENDS: Final = frozenset({"EVICT", "FAIL", "FINISH", "KILL", "LOST"})
_MICROSECONDS: Final = 1_000_000
_BEFORE: Final = 0
_AFTER: Final = 2**63 - 1
_NO_ALLOC: Final = ("", "0")
_MILLICORES: Final = 100_000
_MIB: Final = 1000 * 1024


def events(files: Mapping[str, Sequence[Path]]) -> Iterator[TraceEvent]:
    """Yield the events of the trace, unordered."""
    for row in _MACHINES.rows(files[_MACHINES.stem]):
        yield from _machine(row)
    priorities = {
        row.text("collection_id"): int(row.number("priority", 0))
        for row in _COLLECTIONS.rows(files[_COLLECTIONS.stem])
    }
    for row in _INSTANCES.rows(files[_INSTANCES.stem]):
        yield from _instance(row, priorities)


def _machine(row: Row) -> Iterator[TraceEvent]:
    at, name = _time(row), _node_name(row)
    if at is None:
        return
    if _type(row, _MACHINE_TYPES) == "REMOVE":
        yield TraceEvent(at=at, gone=name)
        return
    capacity = {
        "cpu": _cpu(row.number("capacity.cpus", 0)),
        "memory": _memory(row.number("capacity.memory", 0)),
    }
    platform = row.text("platform_id")
    labels = {"trace.google.com/platform": platform[:63]} if platform else {}
    node = TraceNode(name=name, capacity=capacity, labels=labels)
    yield TraceEvent(at=at, node=node)


def _instance(row: Row, priorities: Mapping[str, int]) -> Iterator[TraceEvent]:
    at, what = _time(row), _type(row, _TYPES)
    if row.text("alloc_collection_id") not in _NO_ALLOC:
        yield TraceEvent(at=0.0, left_out="events of tasks inside alloc instances")
        return
    if at is None:
        return
    collection = row.text("collection_id")
    priority = int(row.number("priority", priorities.get(collection, 0)))
    pod = TracePod(
        name=f"{collection}-{row.text('instance_index')}",
        requests={
            "cpu": _cpu(row.number("resource_request.cpus", 0)),
            "memory": _memory(row.number("resource_request.memory", 0)),
        },
        labels={"collection": collection},
        priority=priority,
    )
    if what in ("SUBMIT", "UPDATE_PENDING"):
        yield TraceEvent(at=at, pod=pod)
    elif what in ("SCHEDULE", "UPDATE_RUNNING"):
        yield TraceEvent(at=at, pod=pod, on=_node_name(row), phase="Running")
    elif what in _ENDS:
        if what == "FINISH":
            on = _node_name(row)
            yield TraceEvent(at=at, pod=pod, on=on, phase="Succeeded")
        yield TraceEvent(at=at, pod=pod, is_over=True)


def _time(row: Row) -> float | None:
    """Return the seconds since the beginning; None for events after the end."""
    microseconds = row.number("time")
    if microseconds >= _AFTER:
        return None
    return microseconds / _MICROSECONDS


def _type(row: Row, names: Sequence[str]) -> str:
    """Return the type of an event; exports have its name or its number."""
    text = row.text("type").upper()
    if text.isdecimal() and int(text) < len(names):
        return names[int(text)]
    if text in names:
        return text
    message = f"type: expected one of {', '.join(names)}, or its number; got {text!r}"
    raise RecordError(row.where, message)


def _node_name(row: Row) -> str:
    machine = row.text("machine_id")
    # 0 is a task without a machine, and -1 a dedicated machine.
    return f"machine-{machine}" if machine not in ("", "0", "-1") else ""


def _cpu(share: float) -> str:
    return f"{share * _MILLICORES:.0f}m"


def _memory(share: float) -> str:
    return f"{share * _MIB:.0f}Mi"
