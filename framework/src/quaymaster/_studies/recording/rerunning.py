"""Runs our scheduler on the events of a record, with our own decisions."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodStatus,
    Time,
)
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._base.displayed import Tabular
from quaymaster._base.errors import QuaymasterError, counted
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.recording.compared import ReplayProgress
from quaymaster._studies.recording.files import RecordFile
from quaymaster._studies.recording.notices import notices_of
from quaymaster._studies.recording.scaled_reruns import (
    NodeMeter,
    ReturningPods,
    ScaledRerun,
    hours_of,
    offered_by,
)
from quaymaster._studies.recording.state import Entry, RecordState
from quaymaster._studies.recording.survey import Life, Survey, survey
from quaymaster._studies.recording.usage import (
    Course,
    PodRun,
    RoomMeter,
    RunMeter,
    course_of,
)
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory, kinds_of
from quaymaster._studies.simulation.history import History
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.run import Simulation

__all__ = ["RerunResult", "rerun"]

_RUN_SECONDS: Final = "simulation.quaymaster.io/run-seconds"
_ENTRIES_PER_REPORT: Final = 256


@attrs.frozen(kw_only=True)
class RerunResult(Tabular):
    """The result of our scheduler for the pods of a record.

    Attributes:
        result: Our placements.
        ours: The course with our decisions.
        theirs: The course in the record.
        seconds: The length of the record.
        notices: What was left out or assumed.
        observed: Our observed run, if requested.
        scaled: What our autoscaler did; None without one.
    """

    result: SimulationResult
    ours: Course
    theirs: Course
    seconds: float
    notices: tuple[Notice, ...] = ()
    observed: ObservedRun | None = attrs.field(default=None, eq=False, repr=False)
    scaled: ScaledRerun | None = attrs.field(default=None, repr=False)


def rerun(
    record: str | os.PathLike[str],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    on_progress: ReplayProgress | None = None,
    observe: bool = False,
    autoscaler: AutoscalerFactory | None = None,
) -> RerunResult:
    """Simulate the events of a record with our own decisions.

    Pods are created without a node and deleted at their recorded times. A pod that
    ended by itself runs as long as in the record, from when ours has bound it. Pods
    that had a node before the record, or were created with one, keep it.

    With an autoscaler, only the nodes of the beginning are those of the record; from
    then on the autoscaler adds and removes nodes. Pods that it evicts are created
    again. Pods that were created on nodes of the record that do not exist here, such as
    those of DaemonSets, are left out.

    Args:
        record: The file.
        config: The configuration of our scheduler; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides the choice between equally good nodes.
        on_progress: Called with how many changes of the record have been applied.
        observe: Whether to observe the run, for a report.
        autoscaler: Makes what adds and removes nodes; by default those of the record
            come and go.

    Raises:
        RecordError: The file is unreadable, or not a record.
        AdmissionError: Objects of the record break rules.
        ProfileError: A profile's plugins cannot be built.
    """
    config, registry = with_defaults(config, registry)
    registry = registry.with_kinds(kinds_of(autoscaler))
    file = RecordFile(record)
    kinds = KindSet(declared_kinds(config, registry))
    state, meter, room = RecordState(kinds), RunMeter(), RoomMeter()
    hours = NodeMeter()
    surveyed = survey(_metered(state.entries(file.lines()), meter, room, hours))
    end = state.end
    start = Time.parse(state.begins[0].time)
    # Without controllers of workloads: the record has their pods.
    cluster = InMemoryCluster(
        VirtualClock(start), seed=seed, workloads=False, kubernetes=config.kubernetes
    )
    # Read twice: how long a pod ran is seen at its end, and needed when it is created.
    entries = RecordState(kinds).entries(file.lines())
    first = _load(cluster, entries)
    world = _Followed(cluster, surveyed, is_scaled=autoscaler is not None)
    history = History(cluster)
    with Simulation(
        cluster,
        config=config,
        registry=registry,
        seed=seed,
        observe=observe,
        autoscaler=autoscaler,
    ) as run:
        for number, entry in enumerate(_chained(first, entries)):
            run.run_until(entry.at)
            world.apply(entry)
            if on_progress is not None and number % _ENTRIES_PER_REPORT == 0:
                on_progress(number, surveyed.entries)
        run.run_until(end)
        history.catch_up()
        result = run.result()
        observed = run.observed("ours") if observe else None
        scaled = _scaled(run, world, history, hours.hours(end))
    offered = room.offered(end)
    our_offer = offered if scaled is None else offered_by(history, end)
    return RerunResult(
        result=result,
        ours=_ours(history, result, our_offer, end),
        theirs=_theirs(surveyed, meter, state, offered, end),
        seconds=end,
        observed=observed,
        scaled=scaled,
        notices=(*notices_of(file, state), *result.notices, *world.notices()),
    )


def _scaled(
    run: Simulation, world: "_Followed", history: History, their_hours: float
) -> ScaledRerun | None:
    """Return what our autoscaler did, at the end of a run; None without one."""
    if run.autoscaler is None or world.returning is None:
        return None
    return ScaledRerun(
        nodes=tuple(run.autoscaler.nodes()),
        our_hours=hours_of(history, run.now),
        their_hours=their_hours,
        disruptions=world.returning.count,
    )


def _metered(
    entries: Iterator[Entry], *meters: RunMeter | RoomMeter | NodeMeter
) -> Iterator[Entry]:
    for entry in entries:
        for meter in meters:
            meter.take(entry)
        yield entry


def _load(cluster: InMemoryCluster, entries: Iterator[Entry]) -> Entry | None:
    """Create the objects that existed when recording began; return the next change."""
    first, objects = None, []
    for entry in entries:
        if not entry.listed or entry.new is None:
            first = entry
            break
        objects.append(_fresh(entry.new))
    cluster.load(objects)
    return first


def _chained(first: Entry | None, entries: Iterator[Entry]) -> Iterator[Entry]:
    if first is not None:
        yield first
        yield from entries


def _ours(
    history: History,
    result: SimulationResult,
    offered: Mapping[str, float],
    end: float,
) -> Course:
    runs = [
        PodRun(life.pod, life.bound, life.ran_until)
        for life in history.pods
        if life.bound is not None
    ]
    waits = [placement.bound - placement.created for placement in result.placements]
    return course_of(waits, len(result.unscheduled), runs, offered, end)


def _theirs(
    survey: Survey,
    meter: RunMeter,
    state: RecordState,
    offered: Mapping[str, float],
    end: float,
) -> Course:
    lives = survey.lives.values()
    waits = [life.bound - life.created for life in lives if life.bound is not None]
    waiting = [
        pod
        for pod in state.objects.get(Pod.kind, {}).values()
        if isinstance(pod, Pod)
        and not (pod.node_name or pod.is_finished or pod.is_terminating)
    ]
    return course_of(waits, len(waiting), meter.runs, offered, end)


def _fresh(obj: ApiObject) -> ApiObject:
    """Return an object without its resource version, which is another cluster's."""
    return replace(obj, metadata=replace(obj.metadata, resource_version=""))


class _Followed:
    """Applies the changes of a record, except for the decisions of schedulers.

    Args:
        cluster: The cluster.
        found: The decisions of the record.
        is_scaled: Whether an autoscaler of ours adds and removes nodes.

    Attributes:
        returning: Creates the pods again that our autoscaler evicts; None without one.
    """

    def __init__(
        self, cluster: InMemoryCluster, survey: Survey, *, is_scaled: bool = False
    ) -> None:
        self._cluster = cluster
        self._is_scaled = is_scaled
        self._ended: set[str] = set()
        self._left_out = 0
        self.returning = ReturningPods(cluster, self._has_ended) if is_scaled else None
        self._lives = survey.lives
        self._kept = {pod.uid for pod in cluster.list(Pod).items if pod.node_name}
        self._refused: Counter[str] = Counter()

    def apply(self, entry: Entry) -> None:
        """Apply a change; count it if the cluster rejects it."""
        try:
            if entry.kind is Pod:
                # Both are pods, or None.
                self._pod(entry, entry.old, entry.new)  # type: ignore[arg-type]
            else:
                self._other(entry)
        except NotFoundError:
            pass  # it is gone here already
        except QuaymasterError:
            self._refused[entry.kind.kind] += 1

    def notices(self) -> Iterator[Notice]:
        """Return notices about rejected changes."""
        if self._left_out:
            pods = counted(self._left_out, "pod")
            message = f"{pods} of nodes that only the record has were left out"
            yield Notice(reason=NoticeReason.REFUSED_OBJECTS, message=message)
        for kind, count in sorted(self._refused.items()):
            message = f"{counted(count, 'change')} of {kind} objects were refused"
            yield Notice(reason=NoticeReason.REFUSED_OBJECTS, message=message)

    def _has_ended(self, key: str) -> bool:
        """Return whether a pod is gone in the record, or about to go."""
        return key in self._ended

    def _pod(self, entry: Entry, old: Pod | None, new: Pod | None) -> None:
        cluster = self._cluster
        self._note_end(entry.key, new)
        if new is None:
            # A pod with a run time ends here at its own moment, which may be later than
            # that of the record.
            if old is None or not self._ends_by_itself(old):
                cluster.delete(Pod, entry.key, grace_period_seconds=0)
        elif old is None:
            self._create(new)
        # No scheduler decides about a pod that keeps its node, so all its recorded
        # changes hold here, too.
        elif new.uid in self._kept:
            cluster.update(_fresh(new))
        elif new.is_terminating and not old.is_terminating:
            if not self._ends_by_itself(new):
                grace = new.metadata.deletion_grace_period_seconds
                cluster.delete(Pod, entry.key, grace_period_seconds=grace)
        elif _is_changed_by_users(old, new):
            self._change(entry.key, new)

    def _note_end(self, key: str, new: Pod | None) -> None:
        if new is None or new.is_terminating:
            self._ended.add(key)
        else:
            self._ended.discard(key)

    def _create(self, pod: Pod) -> None:
        if not pod.node_name:
            self._cluster.create(_waiting(pod, self._lives.get(pod.uid)))
        elif self._is_elsewhere(pod):
            self._left_out += 1
        else:
            self._kept.add(pod.uid)
            self._cluster.create(_fresh(pod))

    def _is_elsewhere(self, pod: Pod) -> bool:
        """Whether a pod is on a node of the record that our autoscaler has not added.

        Without an autoscaler, such a pod may come before its node.
        """
        if not self._is_scaled:
            return False
        return all(
            node.name != pod.node_name for node in self._cluster.list(Node).items
        )

    def _ends_by_itself(self, pod: Pod) -> bool:
        """Whether a pod will end here, as it did in the record."""
        life = self._lives.get(pod.uid)
        if life is None or life.finished is None or pod.uid in self._kept:
            return False
        return not self._cluster.get(Pod, pod.key).is_finished

    def _change(self, key: str, new: Pod) -> None:
        stored = self._cluster.get(Pod, key)
        annotations = dict(new.annotations)
        if _RUN_SECONDS in stored.annotations:
            # The pod of the record has no such annotation, and without it would run for
            # ever.
            annotations[_RUN_SECONDS] = stored.annotations[_RUN_SECONDS]
        metadata = replace(
            stored.metadata,
            labels=new.labels,
            annotations=annotations,
            resource_version="",
        )
        self._cluster.update(replace(stored, spec=new.spec, metadata=metadata))

    def _other(self, entry: Entry) -> None:
        new = entry.new
        if self._is_scaled and entry.kind is Node:
            return
        if new is None:
            self._cluster.delete(entry.kind, entry.key)
        elif entry.old is None:
            # A volume that comes with its claim was provisioned for the recorded
            # decision.
            if not (isinstance(new, PersistentVolume) and new.spec.claim_ref):
                self._cluster.create(_fresh(new))
        elif not isinstance(new, PersistentVolumeClaim | PersistentVolume):
            # The node of the pod decides which volume a claim gets.
            self._cluster.update(_fresh(new))


def _waiting(pod: Pod, life: Life | None) -> Pod:
    """Return a pod as created: without a node and status, but with its run time."""
    annotations = dict(pod.annotations)
    if life is not None and life.bound is not None and life.finished is not None:
        # From the bind on: pulling images and starting belong to it.
        annotations[_RUN_SECONDS] = f"{life.finished - life.bound:.3f}"
    metadata = replace(
        pod.metadata,
        annotations=annotations,
        creation_timestamp=None,
        resource_version="",
    )
    return replace(pod, metadata=metadata, status=PodStatus(phase="Pending"))


def _is_changed_by_users(old: Pod, new: Pod) -> bool:
    """Whether anything changed that neither schedulers nor kubelets write."""
    return (
        old.spec != new.spec
        or old.labels != new.labels
        or old.annotations != new.annotations
    )
