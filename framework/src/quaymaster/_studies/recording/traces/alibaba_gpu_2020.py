"""Alibaba's GPU trace of 2020: machines, jobs of the platform for AI, their tasks.

CPU and GPU are requested in percent: 600 is six cores, and 50 is half of a device.
Each instance of a task becomes a pod that arrives when its job was submitted, and runs
as long as the task ran. Only tasks with both times have ended. A type of GPU is
required only if the tags of the job's instances specify one.

Columns are those of ``cluster-trace-gpu-v2020/README.md``; the published files have no
headings, and those with a heading are read as well
(https://github.com/alibaba/clusterdata).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from quaymaster._studies.recording.traces.objects import (
    TraceEvent,
    TraceNode,
    TracePod,
    trace_name,
)
from quaymaster._studies.recording.traces.tables import Row, Table

__all__ = ["TABLES", "events"]

_MACHINES: Final = Table(
    "pai_machine_spec",
    ("machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"),
    has_heading=None,
)
_TASKS: Final = Table(
    "pai_task_table",
    (
        "job_name",
        "task_name",
        "inst_num",
        "status",
        "start_time",
        "end_time",
        "plan_cpu",
        "plan_mem",
        "plan_gpu",
        "gpu_type",
    ),
    has_heading=None,
)
_JOBS: Final = Table(
    "pai_job_table",
    ("job_name", "inst_id", "user", "status", "start_time", "end_time"),
    has_heading=None,
)
_TAGS: Final = Table(
    "pai_group_tag_table",
    ("inst_id", "user", "gpu_type_spec", "group", "workload"),
    has_heading=None,
)
TABLES: Final = (_TASKS, _MACHINES, _JOBS, _TAGS)

_GPU: Final = "alibabacloud.com/gpu-milli"
_COUNT: Final = "alibabacloud.com/gpu-count"
_MODEL: Final = "alibabacloud.com/gpu-card-model"
_USER: Final = "trace.alibaba.com/user"
_PER_CENT: Final = 100
_WHOLE: Final = 1000


@attrs.frozen
class _Job:
    """A job: its user, when it was submitted, and the required type of GPU."""

    user: str = ""
    submitted: float | None = None
    model: str = ""


def events(files: Mapping[str, Sequence[Path]]) -> Iterator[TraceEvent]:
    """Yield the events of the trace, unordered."""
    for row in _MACHINES.rows(files[_MACHINES.stem]):
        yield TraceEvent(at=0.0, node=_node(row))
    models = {
        row.text("inst_id"): row.text("gpu_type_spec")
        for row in _TAGS.rows(files[_TAGS.stem])
    }
    jobs = {
        row.text("job_name"): _job(row, models) for row in _JOBS.rows(files[_JOBS.stem])
    }
    for row in _TASKS.rows(files[_TASKS.stem]):
        yield from _pods(row, jobs.get(row.text("job_name"), _Job()))


def _node(row: Row) -> TraceNode:
    model, gpus = row.text("gpu_type"), int(row.number("cap_gpu", 0))
    capacity = {
        "cpu": f"{row.number('cap_cpu'):g}",
        "memory": f"{row.number('cap_mem'):g}G",
    }
    if gpus:
        capacity[_GPU] = str(_WHOLE * gpus)
    labels = {_MODEL: model} if model and gpus else {}
    return TraceNode(name=row.text("machine"), capacity=capacity, labels=labels)


def _job(row: Row, models: Mapping[str, str]) -> _Job:
    submitted = row.number("start_time") if row.text("start_time") else None
    return _Job(row.text("user"), submitted, models.get(row.text("inst_id"), ""))


def _pods(row: Row, job: _Job) -> Iterator[TraceEvent]:
    start, end = row.number("start_time", 0), row.number("end_time", 0)
    if not start or end < start:
        yield TraceEvent(at=0.0, left_out="tasks without a start and an end")
        return
    gpu = row.number("plan_gpu", 0)
    requests = {
        "cpu": f"{10 * row.number('plan_cpu', 0):.0f}m",
        "memory": f"{1000 * row.number('plan_mem', 0):.0f}M",
    }
    annotations = {}
    if gpu:
        # As in openb: a share of one device, or whole devices.
        count = max(1, round(gpu / _PER_CENT))
        milli = min(_WHOLE, round(_WHOLE * gpu / _PER_CENT))
        requests[_GPU] = str(count * milli)
        annotations = {_COUNT: str(count), _GPU: str(milli)}
    name = trace_name(f"{row.text('job_name')}-{row.text('task_name')}")
    at = start if job.submitted is None else min(job.submitted, start)
    labels = {"job": row.text("job_name"), "task": row.text("task_name")}
    if job.user:
        labels[_USER] = job.user
    for index in range(int(row.number("inst_num"))):
        pod = TracePod(
            name=f"{name}-{index}",
            requests=requests,
            labels=labels,
            annotations=annotations,
            node_labels={_MODEL: [job.model]} if gpu and job.model else {},
            run_seconds=end - start,
        )
        yield TraceEvent(at=at, pod=pod)
