"""The input from a job trace in the Standard Workload Format."""

import enum
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from quaymaster._api.objects import (
    Container,
    Node,
    ObjectMeta,
    Pod,
    PodSpec,
    ResourceRequirements,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.errors import counted
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.nodes_spec import NodesSpecError, make_nodes
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import integer
from quaymaster._studies.experiments.inputs import (
    Arrival,
    ExperimentInput,
    InputContext,
    Workload,
)
from quaymaster._studies.experiments.swf import SwfError, SwfJob, SwfTrace, read_swf

__all__ = [
    "BATCH_DOMAIN",
    "REQUESTED_SECONDS_ANNOTATION",
    "SUBMITTED_SECONDS_ANNOTATION",
    "Processors",
    "SwfInput",
]

BATCH_DOMAIN: Final = "batch.quaymaster.io"
"""The prefix of labels and annotations of jobs from traces."""

REQUESTED_SECONDS_ANNOTATION: Final = f"{BATCH_DOMAIN}/requested-seconds"
"""On a pod: how long it may run at most, by its request."""

SUBMITTED_SECONDS_ANNOTATION: Final = f"{BATCH_DOMAIN}/submitted-seconds"
"""On a pod: when its job was submitted, by the clock of the trace."""

_LABELS: Final = ("user", "group", "executable", "queue", "partition")
# The headers do not give the memory of the machine, so it never decides.
_MEMORY_OF_ONE_NODE: Final = "1Pi"
_KIB: Final = 1024


class Processors(enum.Enum):
    """Which number of processors of a job counts."""

    REQUESTED = "Requested"
    ALLOCATED = "Allocated"
    LARGER = "Larger"


@attrs.frozen(kw_only=True)
class SwfInput(ExperimentInput):
    """Jobs of a trace in the Standard Workload Format, each as one pod.

    A pod requests one CPU for each processor, arrives when its job was submitted, and
    runs as long as the job ran. The first job arrives at the beginning. Annotations
    have the requested time, or else the run time, and the submit time of the trace;
    labels have the numbers of user, group, executable, queue and partition. Jobs that
    never ran, or had no processor, are left out, and dependencies of jobs are ignored:
    a warning counts them.

    Attributes:
        file: The trace, compressed with gzip or not, relative to the experiment. Each
            job needs all 18 fields of the format, with -1 for missing values.
        first: The number of jobs to skip.
        count: The number of jobs after these; 0 for all.
        nodes: Nodes to generate, one line for each group: 12:cpu=4,memory=16Gi. By
            default, one node with all processors of the trace's header.
        processors: The number of processors that counts: ``Requested``, ``Allocated``,
            or ``Larger``. If the trace lacks one number, the other counts.
        memory: Whether pods request the memory that jobs requested, or else used.
    """

    file: str
    first: int = attrs.field(default=0, validator=integer(0))
    count: int = attrs.field(default=0, validator=integer(0))
    nodes: tuple[str, ...] = ()
    processors: Processors = Processors.REQUESTED
    memory: bool = False

    def validate(self) -> Iterator[ArgsError]:
        """Check that the nodes can be made."""
        for index, spec in enumerate(self.nodes):
            try:
                make_nodes([spec])
            except NodesSpecError as error:
                yield ArgsError(f"nodes[{index}]", str(error))

    def make(self, context: InputContext) -> Workload:
        """Read the trace; see `ExperimentInput.make`."""
        [path] = self.reads(context.folder)
        trace = read_swf(path)
        jobs = self._chosen(path, trace)
        runnable = [job for job in jobs if job.run_seconds and self._width(job)]
        # Some traces are not in order of submission. Jobs of the same second stay in
        # the order of the trace.
        runnable.sort(key=lambda job: job.submitted)
        return Workload(
            objects=self._nodes(path, trace),
            arrivals=list(self._arrivals(runnable)),
            notices=list(_notices(path, jobs, runnable)),
        )

    def reads(self, folder: Path) -> Iterable[Path]:
        """Return the trace; see `ExperimentInput.reads`."""
        return [Path(os.path.normpath(folder / self.file))]

    def _chosen(self, path: Path, trace: SwfTrace) -> Sequence[SwfJob]:
        end = self.first + self.count if self.count else len(trace.jobs)
        if self.first >= len(trace.jobs) or end > len(trace.jobs):
            message = f"expected {counted(max(end, self.first + 1), 'job')} or more"
            raise SwfError(str(path), 0, f"{message}, got {len(trace.jobs)}")
        return trace.jobs[self.first : end]

    def _nodes(self, path: Path, trace: SwfTrace) -> Sequence[Node]:
        if self.nodes:
            return make_nodes(self.nodes)
        if trace.processors is None:
            message = "expected a header MaxProcs or MaxNodes, or the parameter nodes"
            raise SwfError(str(path), 0, message)
        # All jobs of the machine may run at once.
        room = f"cpu={trace.processors},memory={_MEMORY_OF_ONE_NODE}"
        return make_nodes([f"1:{room},pods={max(110, trace.processors)},name=machine"])

    def _width(self, job: SwfJob) -> int:
        requested, allocated = job.requested or 0, job.allocated or 0
        if self.processors is Processors.LARGER:
            return max(requested, allocated)
        if self.processors is Processors.ALLOCATED:
            return allocated or requested
        return requested or allocated

    def _arrivals(self, jobs: Sequence[SwfJob]) -> Iterator[Arrival]:
        # Jobs of one size share a spec, and with it all cached values of the spec.
        specs: dict[tuple[int, int], PodSpec] = {}
        for job in jobs:
            size = self._width(job), self._memory_of(job)
            spec = specs.get(size)
            if spec is None:
                spec = specs[size] = _spec(*size)
            yield Arrival(
                obj=Pod(metadata=_metadata(job), spec=spec),
                at=job.submitted - jobs[0].submitted,
                stays=job.run_seconds,
            )

    def _memory_of(self, job: SwfJob) -> int:
        """Return the memory of a job in bytes; 0 if it does not count."""
        if not self.memory:
            return 0
        amount = job.requested_memory or job.used_memory or 0.0
        # The format gives memory in kilobytes for each processor.
        return math.ceil(amount * _KIB) * self._width(job)


def _spec(processors: int, memory: int) -> PodSpec:
    requests = {"cpu": Quantity(str(processors))}
    if memory:
        requests["memory"] = Quantity(str(memory))
    container = Container(
        name="main",
        image="job",
        resources=ResourceRequirements(requests=requests),
    )
    return PodSpec(containers=(container,), restart_policy="Never")


def _metadata(job: SwfJob) -> ObjectMeta:
    assert job.run_seconds is not None, "others are left out"
    requested = job.requested_seconds or job.run_seconds
    numbers = {name: getattr(job, name) for name in _LABELS}
    return ObjectMeta(
        name=f"job-{job.number}",
        namespace="default",
        labels={
            f"{BATCH_DOMAIN}/{name}": str(number)
            for name, number in numbers.items()
            if number is not None
        },
        annotations={
            REQUESTED_SECONDS_ANNOTATION: _plain(requested),
            SUBMITTED_SECONDS_ANNOTATION: _plain(job.submitted),
        },
    )


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() else str(number)


def _notices(
    path: Path, jobs: Sequence[SwfJob], runnable: Sequence[SwfJob]
) -> Iterator[Notice]:
    left_out, following = len(jobs) - len(runnable), _following(runnable)
    messages: Mapping[str, int] = {
        "jobs that never ran, or had no processor, are left out": left_out,
        "jobs follow another job, which is ignored": following,
    }
    for message, number in messages.items():
        if number:
            yield Notice(
                reason=NoticeReason.LEFT_OUT,
                where=str(path),
                message=f"{number} of {len(jobs)} {message}",
            )


def _following(jobs: Sequence[SwfJob]) -> int:
    return sum(bool(job.preceding) for job in jobs)
