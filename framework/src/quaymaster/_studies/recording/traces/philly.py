"""Microsoft's Philly trace of 2017: jobs that train models, and machines with GPUs.

The log of jobs is a JSON array. Each server of a job's first attempt becomes a pod with
as many GPUs, which arrives when the job was submitted, and runs from the start of the
first attempt to the end of the last one. Jobs without such times, or without GPUs, are
left out. CPU and memory of jobs are not published; machines are not limited by them.

Keys and columns are those of the README (https://github.com/msr-fiddle/philly-traces).
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
from quaymaster._studies.recording.traces.tables import JsonTable, Row, Table

__all__ = ["TABLES", "events"]

_JOBS: Final = JsonTable(
    "cluster_job_log", ("status", "vc", "jobid", "attempts", "submitted_time", "user")
)
_MACHINES: Final = Table(
    "cluster_machine_list", ("machineId", "number of GPUs", "single GPU mem")
)
TABLES: Final = (_JOBS, _MACHINES)

_GPU: Final = "nvidia.com/gpu"
_MEMORY: Final = "trace.philly.io/gpu-memory"
_VC: Final = "trace.philly.io/vc"
_USER: Final = "trace.philly.io/user"
_UNKNOWN: Final = ("", "None")


def events(files: Mapping[str, Sequence[Path]]) -> Iterator[TraceEvent]:
    """Yield the events of the trace, unordered."""
    for row in _MACHINES.rows(files[_MACHINES.stem]):
        yield TraceEvent(at=0.0, node=_node(row))
    jobs = list(_JOBS.rows(files[_JOBS.stem]))
    times = [job.moment("submitted_time") for job in jobs]
    begin = min(times, default=0.0)
    for job, at in zip(jobs, times, strict=True):
        yield from _pods(job, at - begin)


def _node(row: Row) -> TraceNode:
    return TraceNode(
        name=trace_name(row.text("machineId")),
        capacity={_GPU: f"{row.number('number of GPUs'):.0f}"},
        labels={_MEMORY: row.text("single GPU mem")},
    )


def _pods(job: Row, at: float) -> Iterator[TraceEvent]:
    attempts = _dicts(job, "attempts", job.values.get("attempts"))
    seconds = _seconds(job, attempts)
    if seconds is None:
        yield TraceEvent(at=0.0, left_out="jobs without a start and an end")
        return
    name = trace_name(job.text("jobid"))
    labels = {"job": name, _VC: job.text("vc"), _USER: job.text("user")}
    details = _dicts(job, "attempts[0].detail", attempts[0].get("detail"))
    for index, detail in enumerate(details):
        gpus = detail.get("gpus")
        if not isinstance(gpus, list):
            place = f"attempts[0].detail[{index}].gpus"
            raise RecordError(job.where, f"{place}: expected a list, got {gpus!r}")
        if not gpus:
            yield TraceEvent(at=0.0, left_out="parts of jobs without a GPU")
        else:
            pod = TracePod(
                name=f"{name}-{index}",
                requests={_GPU: str(len(gpus))},
                labels=labels,
                run_seconds=seconds,
            )
            yield TraceEvent(at=at, pod=pod)


def _dicts(job: Row, place: str, value: object) -> Sequence[Mapping[str, object]]:
    """Return a list of dictionaries of the log."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        message = f"{place}: expected a list of objects, got {value!r}"
        raise RecordError(job.where, message)
    return value


def _seconds(job: Row, attempts: Sequence[Mapping[str, object]]) -> float | None:
    """Return how long a job ran, with all its attempts; None if that is unknown."""
    if not attempts:
        return None
    texts = {
        "attempts[0].start_time": str(attempts[0].get("start_time")),
        f"attempts[{len(attempts) - 1}].end_time": str(attempts[-1].get("end_time")),
    }
    if any(text in _UNKNOWN for text in texts.values()):
        return None
    start, end = (Row(job.where, texts).moment(place) for place in texts)
    return max(0.0, end - start)
