"""Alibaba's cluster trace of 2018: machines, long-running containers, batch tasks.

Requested CPU is in hundredths of a core, and memory in hundredths of a machine's.
Containers come with their machine; those of batch tasks are not read.

Columns are those of ``cluster-trace-v2018/schema.txt``, and what -1 and 101 mean is in
``trace_2018.md`` beside it (https://github.com/alibaba/clusterdata).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from quaymaster._studies.recording.traces.objects import TraceEvent, TraceNode, TracePod
from quaymaster._studies.recording.traces.tables import Row, Table

__all__ = ["TABLES", "events"]

_MACHINES: Final = Table(
    "machine_meta",
    (
        "machine_id",
        "time_stamp",
        "failure_domain_1",
        "failure_domain_2",
        "cpu_num",
        "mem_size",
        "status",
    ),
    has_heading=False,
)
_CONTAINERS: Final = Table(
    "container_meta",
    (
        "container_id",
        "machine_id",
        "time_stamp",
        "app_du",
        "status",
        "cpu_request",
        "cpu_limit",
        "mem_size",
    ),
    has_heading=False,
)
_TASKS: Final = Table(
    "batch_task",
    (
        "task_name",
        "instance_num",
        "job_name",
        "task_type",
        "status",
        "start_time",
        "end_time",
        "plan_cpu",
        "plan_mem",
    ),
    has_heading=False,
)
TABLES: Final = (_MACHINES, _CONTAINERS, _TASKS)

_GIB: Final = 1  # a hundredth of a machine's memory, which is not published
_UNKNOWN: Final = ("", "-1", "-1.0")
_MOST: Final = 100  # larger values are unknown, too
_ZONE: Final = "topology.kubernetes.io/zone"
_RACK: Final = "trace.alibaba.com/failure-domain-2"


def events(files: Mapping[str, Sequence[Path]]) -> Iterator[TraceEvent]:
    """Yield the events of the trace, unordered."""
    yield from _machines(_MACHINES.rows(files[_MACHINES.stem]))
    yield from _containers(_CONTAINERS.rows(files[_CONTAINERS.stem]))
    yield from _tasks(_TASKS.rows(files[_TASKS.stem]))


def _machines(rows: Iterator[Row]) -> Iterator[TraceEvent]:
    """Yield the machines of known size, each once."""
    seen: set[str] = set()
    for row in rows:
        name = _name(row.text("machine_id"))
        if name in seen or row.text("status") not in ("", "USING"):
            continue
        cpus, memory = row.number("cpu_num", 0), _memory(row, "mem_size")
        if cpus == 0 or memory is None:
            yield TraceEvent(at=0.0, left_out="machines of unknown size")
            continue
        seen.add(name)
        node = TraceNode(
            name=name,
            capacity={
                "cpu": f"{cpus:g}",
                "memory": memory,
            },
            labels={
                _ZONE: f"domain-{row.text('failure_domain_1')}",
                _RACK: row.text("failure_domain_2"),
            },
        )
        yield TraceEvent(at=0.0, node=node)


def _containers(rows: Iterator[Row]) -> Iterator[TraceEvent]:
    """Yield the containers, each on its first machine."""
    seen: set[str] = set()
    for row in rows:
        name = _name(row.text("container_id"))
        if name in seen:
            continue
        seen.add(name)
        pod = TracePod(
            name=name,
            requests={
                "cpu": _cpu(row.number("cpu_request", 0)),
                "memory": _memory(row, "mem_size") or "0",
            },
            labels={"app": _name(row.text("app_du"))},
        )
        at, machine = row.number("time_stamp"), _name(row.text("machine_id"))
        if at:
            yield TraceEvent(at=at, pod=pod)
        yield TraceEvent(at=at, pod=pod, on=machine, phase="Running")


def _tasks(rows: Iterator[Row]) -> Iterator[TraceEvent]:
    """Yield the instances of batch tasks that ended."""
    for row in rows:
        start, end = row.number("start_time", 0), row.number("end_time", 0)
        if not start or end < start:
            yield TraceEvent(at=0.0, left_out="tasks without a start and an end")
            continue
        job, task = _name(row.text("job_name")), _name(row.text("task_name"))
        for index in range(int(row.number("instance_num"))):
            pod = TracePod(
                name=f"{job}-{task}-{index}",
                requests={
                    "cpu": _cpu(row.number("plan_cpu", 0)),
                    "memory": _memory(row, "plan_mem") or "0",
                },
                labels={"job": job, "task": task},
                run_seconds=end - start,
            )
            yield TraceEvent(at=start, pod=pod)


def _cpu(hundredths: float) -> str:
    return f"{10 * hundredths:.0f}m"


def _memory(row: Row, column: str) -> str | None:
    """Return an amount of memory, or None if unknown."""
    if row.text(column) in _UNKNOWN:
        return None
    hundredths = row.number(column)
    return None if hundredths > _MOST else f"{hundredths * _GIB * 1024:.0f}Mi"


def _name(text: str) -> str:
    """Return a name that is valid in Kubernetes."""
    return text.lower().replace("_", "-")
