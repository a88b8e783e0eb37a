"""Alibaba's GPU trace of 2023, ``openb``: a list of nodes and a list of pods.

The pods have no nodes: the decisions of the trace's scheduler are not published.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from quaymaster._studies.recording.traces.objects import TraceEvent, TraceNode, TracePod
from quaymaster._studies.recording.traces.tables import Row, Table

__all__ = ["TABLES", "events"]

_NODES: Final = Table(
    "openb_node_list", ("sn", "cpu_milli", "memory_mib", "gpu", "model")
)
_PODS: Final = Table(
    "openb_pod_list",
    (
        "name",
        "cpu_milli",
        "memory_mib",
        "num_gpu",
        "gpu_milli",
        "qos",
        "pod_phase",
        "creation_time",
        "deletion_time",
        "scheduled_time",
    ),
    optional=("gpu_spec",),
)
TABLES: Final = (_NODES, _PODS)

_GPU: Final = "alibabacloud.com/gpu-milli"
_COUNT: Final = "alibabacloud.com/gpu-count"
_MODEL: Final = "alibabacloud.com/gpu-card-model"
_QOS: Final = "alibabacloud.com/qos"
_WHOLE: Final = 1000


def events(files: Mapping[str, Sequence[Path]]) -> Iterator[TraceEvent]:
    """Yield the events of the trace, unordered."""
    for row in _NODES.rows(files[_NODES.stem]):
        yield TraceEvent(at=0.0, node=_node(row))
    for row in _PODS.rows(files[_PODS.stem]):
        yield TraceEvent(at=row.number("creation_time"), pod=_pod(row))


def _node(row: Row) -> TraceNode:
    model, gpus = row.text("model"), int(row.number("gpu"))
    capacity = {
        "cpu": f"{row.number('cpu_milli'):.0f}m",
        "memory": f"{row.number('memory_mib'):.0f}Mi",
    }
    if gpus:
        capacity[_GPU] = str(_WHOLE * gpus)
    labels = {_MODEL: model} if model else {}
    return TraceNode(name=row.text("sn"), capacity=capacity, labels=labels)


def _pod(row: Row) -> TracePod:
    gpus = int(row.number("num_gpu"))
    milli = min(int(row.number("gpu_milli", 0)), _WHOLE)
    requests = {
        "cpu": f"{row.number('cpu_milli'):.0f}m",
        "memory": f"{row.number('memory_mib'):.0f}Mi",
    }
    annotations = {}
    if gpus:
        # The request counts in the resources of nodes; the annotations say how it is
        # divided among GPUs.
        requests[_GPU] = str(gpus * milli)
        annotations = {_COUNT: str(gpus), _GPU: str(milli)}
    spec = [part for part in row.text("gpu_spec").split("|") if part]
    return TracePod(
        name=row.text("name"),
        requests=requests,
        labels={_QOS: row.text("qos")},
        annotations=annotations,
        node_labels={_MODEL: spec} if gpus and spec else {},
        run_seconds=_run_seconds(row),
    )


def _run_seconds(row: Row) -> float | None:
    """Return its run time; a pod without a start is assumed to have started at once."""
    if not row.text("deletion_time"):
        return None
    start = row.number("scheduled_time", row.number("creation_time"))
    return max(0.0, row.number("deletion_time") - start)
