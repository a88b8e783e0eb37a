"""SenseTime's Helios trace of 2020: the jobs of a Slurm cluster with GPUs.

Each node of a job becomes a pod with its share of the job's CPUs and GPUs, which
arrives when the job was submitted. Jobs run in a virtual cluster (VC). The number of
GPUs of each VC is published for each day; nodes are not. So nodes are made of eight
GPUs, as Helios has them, from the day of the first job; their CPUs and memory are not
limited. Without that table, the experiment gives the nodes, and VCs are only labels.

Columns are those of the README (https://github.com/S-Lab-System-Group/HeliosData).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from quaymaster._studies.recording.traces.objects import (
    TraceEvent,
    TraceNode,
    TracePod,
)
from quaymaster._studies.recording.traces.tables import Row, Table

__all__ = ["TABLES", "events"]

_JOBS: Final = Table(
    "cluster_log",
    (
        "job_id",
        "user",
        "vc",
        "gpu_num",
        "cpu_num",
        "node_num",
        "state",
        "submit_time",
        "start_time",
        "end_time",
        "duration",
        "queue",
    ),
)
_CLUSTERS: Final = Table("cluster_gpu_number", ("date", "total"))
TABLES: Final = (_JOBS, _CLUSTERS)

_GPU: Final = "nvidia.com/gpu"
_VC: Final = "trace.helios.io/vc"
_USER: Final = "trace.helios.io/user"
_GPUS_PER_NODE: Final = 8
_UNLIMITED_CPU: Final = "1000"
_DATE: Final = "%Y-%m-%d"


def events(files: Mapping[str, Sequence[Path]]) -> Iterator[TraceEvent]:
    """Yield the events of the trace, unordered."""
    rows = list(_JOBS.rows(files[_JOBS.stem]))
    times = [row.moment("submit_time") for row in rows]
    # The minimum, as the log is not sorted.
    begin = min(times, default=0.0)
    days = list(_CLUSTERS.rows(files[_CLUSTERS.stem]))
    if days:
        yield from _nodes(_day_of(days, begin))
    for row, at in zip(rows, times, strict=True):
        yield from _pods(row, at - begin, is_in_vc=bool(days))


def _day_of(days: Sequence[Row], begin: float) -> Row:
    """Return the last day that has begun; the first if none has."""
    begun = [row for row in days if row.moment("date", _DATE) <= begin]
    return max(begun, key=lambda row: row.text("date")) if begun else days[0]


def _nodes(day: Row) -> Iterator[TraceEvent]:
    numbers = count()
    for cluster in day.cells:
        if cluster in ("date", "total"):
            continue
        left = int(day.number(cluster))
        while left > 0:
            gpus = min(left, _GPUS_PER_NODE)
            node = TraceNode(
                name=f"node-{next(numbers)}",
                capacity={"cpu": _UNLIMITED_CPU, _GPU: str(gpus)},
                labels={_VC: cluster},
            )
            yield TraceEvent(at=0.0, node=node)
            left -= gpus


def _pods(row: Row, at: float, *, is_in_vc: bool) -> Iterator[TraceEvent]:
    nodes = max(1, int(row.number("node_num")))
    gpus = math.ceil(row.number("gpu_num") / nodes)
    requests = {"cpu": f"{1000 * row.number('cpu_num') / nodes:.0f}m"}
    if gpus:
        requests[_GPU] = str(gpus)
    cluster = row.text("vc")
    for index in range(nodes):
        pod = TracePod(
            name=f"job-{row.text('job_id')}-{index}",
            requests=requests,
            labels={
                "job": row.text("job_id"),
                _USER: row.text("user"),
                _VC: cluster,
            },
            node_labels={_VC: [cluster]} if is_in_vc and gpus else {},
            run_seconds=row.number("duration"),
        )
        yield TraceEvent(at=at, pod=pod)
