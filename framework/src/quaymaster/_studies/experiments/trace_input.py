"""The input from a public trace of a cluster."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs
import msgspec

from quaymaster._api.objects import Node, Pod, SpecPool
from quaymaster._api.objects.wire import decode
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
from quaymaster._studies.recording.files import RecordError
from quaymaster._studies.recording.traces.importing import TraceFormat, read_trace
from quaymaster._studies.recording.traces.objects import TraceEvent, TracePod

__all__ = ["TraceInput"]


@attrs.define
class _Task:
    """A pod of a trace, from all of its events.

    Attributes:
        pod: The pod, as it was submitted.
        at: When it was submitted.
        started: When it first had a machine, or None.
        ended: When it ended, or None.
    """

    pod: TracePod
    at: float
    started: float | None = None
    ended: float | None = None

    @property
    def seconds(self) -> float | None:
        """How long it ran; None if it never ended."""
        if self.pod.run_seconds is not None:
            return self.pod.run_seconds
        if self.started is None or self.ended is None:
            return None
        return max(0.0, self.ended - self.started)


@attrs.frozen(kw_only=True)
class TraceInput(ExperimentInput):
    """The machines and tasks of a public trace.

    Machines that exist at its beginning are nodes, and later ones arrive. Tasks arrive
    as pods when they were submitted, and run as long as they ran; where the trace
    placed them does not matter. Machines that change or go away later stay as they are:
    a warning counts them.

    Attributes:
        format: The format of the trace, such as ``alibaba-openb``.
        files: Its tables, compressed with gzip or not, or folders that have them;
            relative to the experiment.
        nodes: Nodes to use instead of the trace's, one line for each group:
            12:cpu=4,memory=16Gi.
        first: The number of pods to skip.
        count: The number of pods after these; 0 for all.
        turn_away: Whether a pod that found no node is deleted.
    """

    format: TraceFormat
    files: tuple[str, ...]
    nodes: tuple[str, ...] = ()
    first: int = attrs.field(default=0, validator=integer(0))
    count: int = attrs.field(default=0, validator=integer(0))
    turn_away: bool = False

    def validate(self) -> Iterator[ArgsError]:
        """Check that there are files, and that the nodes can be made."""
        if not self.files:
            yield ArgsError("files", "expected the tables of the trace")
        for index, spec in enumerate(self.nodes):
            try:
                make_nodes([spec])
            except NodesSpecError as error:
                yield ArgsError(f"nodes[{index}]", str(error))

    def make(self, context: InputContext) -> Workload:
        """Read the trace; see `ExperimentInput.make`."""
        paths = list(self.reads(context.folder))
        events = read_trace(self.format, paths)
        there, later, changes = _machines(events)
        if self.nodes:
            there, later, changes = list(make_nodes(self.nodes)), [], 0
        if not there:
            message = "expected a table of machines, or the parameter nodes"
            raise RecordError(", ".join(map(str, paths)), message)
        tasks = self._chosen(paths, _tasks(events))
        # With earlier tasks left out, nothing would happen until then.
        begin = 0.0 if not self.first else tasks[0].at
        arrivals = [*later, *_arrivals(tasks)]
        return Workload(
            objects=there,
            arrivals=[
                attrs.evolve(arrival, at=max(0.0, arrival.at - begin))
                for arrival in sorted(arrivals, key=lambda arrival: arrival.at)
            ],
            turn_away=self.turn_away,
            notices=list(_notices(paths, events, changes)),
        )

    def reads(self, folder: Path) -> Iterable[Path]:
        """Return the tables; see `ExperimentInput.reads`."""
        return [Path(os.path.normpath(folder / name)) for name in self.files]

    def _chosen(self, paths: Sequence[Path], tasks: Sequence[_Task]) -> Sequence[_Task]:
        end = self.first + self.count if self.count else len(tasks)
        if self.first >= len(tasks) or end > len(tasks):
            where = ", ".join(map(str, paths))
            message = f"expected {max(end, self.first + 1)} pods or more"
            raise RecordError(where, f"{message}, got {len(tasks)}")
        return tasks[self.first : end]


def _machines(
    events: Iterable[TraceEvent],
) -> tuple[list[Node], list[Arrival], int]:
    """Return the machines at the beginning, later ones, and the number of changes."""
    there: dict[str, Node] = {}
    later: dict[str, Arrival] = {}
    changes = 0
    pool = SpecPool()
    for event in events:
        if event.gone:
            gone = there.pop(event.gone, None) if not event.at else None
            changes += gone is None
        elif event.node is not None:
            name = event.node.name
            if event.at and (name in there or name in later):
                changes += 1
                continue
            node = decode(msgspec.json.encode(event.node.tree()), Node, pool=pool)
            if event.at:
                later[name] = Arrival(obj=node, at=event.at)
            else:
                there[name] = node
    return list(there.values()), list(later.values()), changes


def _tasks(events: Iterable[TraceEvent]) -> Sequence[_Task]:
    """Return the tasks in the order of their submission."""
    tasks: dict[str, _Task] = {}
    for event in events:
        if event.pod is None:
            continue
        task = tasks.setdefault(event.pod.name, _Task(event.pod, event.at))
        if event.on and task.started is None:
            task.started = event.at
        # A task that is submitted again after an eviction is one pod that runs on.
        if event.is_over:
            task.ended = event.at
    return list(tasks.values())


def _arrivals(tasks: Iterable[_Task]) -> Iterator[Arrival]:
    pool = SpecPool()
    for task in tasks:
        pod = decode(msgspec.json.encode(task.pod.tree()), Pod, pool=pool)
        yield Arrival(obj=pod, at=task.at, stays=task.seconds)


def _notices(
    paths: Sequence[Path], events: Iterable[TraceEvent], changes: int
) -> Iterator[Notice]:
    counts = Counter(event.left_out for event in events if event.left_out)
    if changes:
        counts["changes and removals of machines after the beginning"] = changes
    for what, number in counts.items():
        yield Notice(
            reason=NoticeReason.LEFT_OUT,
            where=", ".join(map(str, paths)),
            message=f"{what} are left out: {number}",
        )
