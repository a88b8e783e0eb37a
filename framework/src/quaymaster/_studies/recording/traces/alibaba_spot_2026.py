"""Alibaba's trace of 2026 of AI jobs on spot GPUs: nodes and jobs.

Each worker of a job becomes a pod that arrives with its job and runs as long. Jobs of
high priority (``HP``) have a higher priority than ``Spot`` jobs. The memory of nodes
is not published.

Columns are those of ``cluster-trace-v2026-spot-gpu/README.md``
(https://github.com/alibaba/clusterdata).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from quaymaster._studies.recording.files import RecordError
from quaymaster._studies.recording.traces.objects import (
    TraceEvent,
    TraceNode,
    TracePod,
    trace_name,
)
from quaymaster._studies.recording.traces.tables import Row, Table

__all__ = ["TABLES", "events"]

_NODES: Final = Table(
    "node_info_df", ("node_name", "gpu_model", "gpu_capacity_num", "cpu_num")
)
_JOBS: Final = Table(
    "job_info_df",
    (
        "job_name",
        "organization",
        "gpu_model",
        "cpu_request",
        "gpu_request",
        "worker_num",
        "submit_time",
        "duration",
        "job_type",
    ),
)
TABLES: Final = (_JOBS, _NODES)

_GPU: Final = "alibabacloud.com/gpu-milli"
_COUNT: Final = "alibabacloud.com/gpu-count"
_MODEL: Final = "alibabacloud.com/gpu-card-model"
_TYPE: Final = "trace.alibaba.com/job-type"
_ORGANIZATION: Final = "trace.alibaba.com/organization"
_PRIORITIES: Final = {"HP": 1000, "Spot": 0}
_WHOLE: Final = 1000


def events(files: Mapping[str, Sequence[Path]]) -> Iterator[TraceEvent]:
    """Yield the events of the trace, unordered."""
    for row in _NODES.rows(files[_NODES.stem]):
        yield TraceEvent(at=0.0, node=_node(row))
    for row in _JOBS.rows(files[_JOBS.stem]):
        yield from _workers(row)


def _node(row: Row) -> TraceNode:
    model, gpus = row.text("gpu_model"), int(row.number("gpu_capacity_num"))
    capacity = {"cpu": f"{row.number('cpu_num'):g}"}
    if gpus:
        capacity[_GPU] = str(_WHOLE * gpus)
    labels = {_MODEL: model} if model and gpus else {}
    name = f"node-{trace_name(row.text('node_name'))}"
    return TraceNode(name=name, capacity=capacity, labels=labels)


def _workers(row: Row) -> Iterator[TraceEvent]:
    kind = row.text("job_type")
    if kind not in _PRIORITIES:
        message = f"job_type: expected one of {', '.join(_PRIORITIES)}, got {kind!r}"
        raise RecordError(row.where, message)
    gpu, model = row.number("gpu_request"), row.text("gpu_model")
    requests = {"cpu": f"{_WHOLE * row.number('cpu_request'):.0f}m"}
    annotations = {}
    if gpu:
        count = max(1, round(gpu))
        milli = min(_WHOLE, round(_WHOLE * gpu))
        requests[_GPU] = str(count * milli)
        annotations = {_COUNT: str(count), _GPU: str(milli)}
    job = trace_name(row.text("job_name"))
    at, seconds = row.number("submit_time"), row.number("duration")
    for index in range(int(row.number("worker_num"))):
        pod = TracePod(
            name=f"job-{job}-{index}",
            requests=requests,
            labels={
                "job": job,
                _TYPE: kind,
                _ORGANIZATION: row.text("organization"),
            },
            annotations=annotations,
            priority=_PRIORITIES[kind],
            node_labels={_MODEL: [model]} if gpu and model else {},
            run_seconds=seconds,
        )
        yield TraceEvent(at=at, pod=pod)
