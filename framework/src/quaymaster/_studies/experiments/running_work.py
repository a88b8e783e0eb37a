"""Follows the work of running pods: its speed, and what is left when pods are lost."""

from collections import defaultdict
from collections.abc import Callable

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, ObjectMeta, Pod, PodStatus
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.controllers.job_indexes import INDEX
from quaymaster._clusters.inmemory.durations import run_seconds
from quaymaster._core.contract.clock import Clock, Timer
from quaymaster._studies.experiments.checkpoints import Plan
from quaymaster._studies.experiments.errors import InterferenceError
from quaymaster._studies.experiments.interference import Interference
from quaymaster._studies.experiments.restarts_entry import RestartsEntry
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.history import History, PodLife

__all__ = ["RunningWork", "Spent", "work_of"]


@attrs.frozen
class Spent:
    """How a pod has spent a part of its time on its node, in seconds.

    Attributes:
        saved: Work that a checkpoint has saved, of a pod that has not completed.
        overhead: The time of restarts and checkpoints.
        slowed: The time that was lost since the pod did not run at full speed.
    """

    saved: float = 0.0
    overhead: float = 0.0
    slowed: float = 0.0


@attrs.define(eq=False)
class _Running:
    """A running pod with a run time.

    Attributes:
        pod: The pod.
        plan: Its run.
        end: Ends it.
        since: Up to when ``done`` and ``slowed`` count.
        done: How much of its run is done.
        slowed: How much time it has lost to interference.
        speed: How fast it works.
        timer: Ends it at the end of its run.
    """

    pod: Pod
    plan: Plan
    end: Callable[[], None]
    since: float
    done: float = 0.0
    slowed: float = 0.0
    speed: float = 1.0
    timer: Timer | None = None

    def advance(self, now: float) -> None:
        """Count the work up to now."""
        seconds = max(0.0, now - self.since)
        left = max(0.0, self.plan.length - self.done)
        # A pod on a node that does not answer is not ended at the end of its run.
        worked = min(left, seconds * self.speed)
        self.done += worked
        if worked < left:
            self.slowed += seconds - worked
        elif self.speed:
            self.slowed += worked / self.speed - worked
        self.since = max(now, self.since)

    def set_timer(self, clock: Clock) -> None:
        """End the pod when its remaining work is done at the current speed."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.speed:
            # Without speed it has no end, until its speed changes.
            due = self.since + (self.plan.length - self.done) / self.speed
            self.timer = clock.call_at(max(due, clock.now()), self.end)


class RunningWork:
    """Ends the pods of a cluster by their work, and keeps what is saved of it.

    Args:
        cluster: The cluster.
        restarts: What happens to the work of lost pods.
        interference: How fast pods work beside others; None for full speed.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        restarts: RestartsEntry,
        interference: Interference | None,
    ) -> None:
        self._cluster = cluster
        self._clock = cluster.clock
        self._restarts = restarts
        self._interference = interference
        self._running: dict[str, _Running] = {}
        self._on_node: defaultdict[str, dict[str, Pod]] = defaultdict(dict)
        # Identity of a pod -> the work that lost pods have saved.
        self._saved: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self._spent: dict[str, Spent] = {}
        self._first: dict[str, float] = {}
        self._resubmitted: set[str] = set()
        self._returning: dict[str, float] = {}
        self._changed_nodes: dict[str, None] = {}
        self._gone: list[PodLife] = []
        self._history = History(cluster)
        self._read = 0
        cluster.use_run_times(self)
        self._watch = cluster.watch(Pod, cluster.resource_version, self._notice)
        self._is_due = False
        self._catch_up()

    def spent(self, uid: str) -> Spent:
        """Return how a pod has spent its time, as far as it was not plain work."""
        running = self._running.get(uid)
        if running is None:
            return self._spent.get(uid, Spent())
        running.advance(self._clock.now())
        return _spent(running, completed=False)

    def first_created(self, life: PodLife) -> float:
        """Return when a pod was created first, in seconds since the beginning."""
        return self._first.get(life.pod.uid, life.created)

    def was_resubmitted(self, life: PodLife) -> bool:
        """Whether a pod was created again under its name."""
        return life.pod.uid in self._resubmitted

    def follow(
        self, pod: Pod, begun: float, seconds: float, end: Callable[[], None]
    ) -> None:
        """Follow a pod that runs; see `RunTimes.follow`."""
        # A pod whose work this one takes up may have been lost in this moment.
        self._read_changes()
        running = self._running.get(pod.uid)
        if running is None:
            # With `get`, as the defaultdict would otherwise keep a list for each pod
            # that ever ran.
            saved = self._saved.get(_identity(pod))
            is_again = bool(saved)
            work = seconds - saved.pop() if saved else seconds
            plan = Plan.of(self._restarts, work, is_again=is_again)
            running = _Running(pod, plan, end, begun)
            self._running[pod.uid] = running
        running.advance(self._clock.now())
        running.set_timer(self._clock)

    def close(self) -> None:
        """Stop following the pods."""
        self._watch.stop()
        self._history.close()

    def _notice(self) -> None:
        """Have changes read before the clock moves."""
        self._watch.take()
        if not self._is_due:
            self._is_due = True
            # In the background: this timer alone must not keep a run going.
            self._clock.call_later(0.0, self._catch_up, background=True)

    def _catch_up(self) -> None:
        self._is_due = False
        self._read_changes()
        nodes, self._changed_nodes = self._changed_nodes, {}
        if self._interference is not None:
            for node in nodes:
                self._adjust(node, self._interference)
        gone, self._gone = self._gone, []
        for life in gone:
            self._resubmit(life)

    def _read_changes(self) -> None:
        self._history.catch_up()
        changed = self._history.changed
        for life in changed[self._read :]:
            self._update(life)
        self._read = len(changed)

    def _update(self, life: PodLife) -> None:
        uid = life.pod.uid
        if life.gone is None and life.bound is None:
            # The successor of a lost pod: what waits is the same piece of work, since
            # its first pod was created.
            created = self._returning.pop(life.pod.key, None)
            if created is not None:
                self._first[uid] = created
        on_node = self._on_node[life.node]
        if life.is_running:
            if uid not in on_node:
                on_node[uid] = life.pod
                self._changed_nodes[life.node] = None
        elif uid in on_node:
            del on_node[uid]
            self._changed_nodes[life.node] = None
            self._stop(life)
        if life.gone is not None and life.bound is not None:
            self._gone.append(life)

    def _stop(self, life: PodLife) -> None:
        running = self._running.pop(life.pod.uid, None)
        if running is None:
            return
        running.advance(self._clock.now())
        if running.timer is not None:
            running.timer.cancel()
        self._spent[life.pod.uid] = _spent(running, completed=life.has_completed)
        if not life.has_completed:
            # What earlier pods had saved stays saved.
            before = _full_work(running.pod) - running.plan.work
            saved = before + running.plan.saved(running.done)
            works = self._saved[_identity(life.pod)]
            works.append(saved)
            # Pods of one controller are alike, so the next one takes up the work that
            # has got furthest.
            works.sort()

    def _resubmit(self, life: PodLife) -> None:
        pod = life.pod
        if (
            not self._restarts.resubmit
            or life.has_completed
            # The controller of such a pod creates the next one.
            or pod.metadata.owner_references
            or pod.uid in self._resubmitted
        ):
            return
        self._resubmitted.add(pod.uid)
        self._returning[pod.key] = self.first_created(life)
        metadata = ObjectMeta(
            name=pod.name,
            namespace=pod.namespace,
            labels=pod.labels,
            annotations=pod.metadata.annotations,
        )
        again = replace(pod, metadata=metadata, node_name="", status=PodStatus())
        self._cluster.create(again)

    def _adjust(self, node_name: str, interference: Interference) -> None:
        """Compute the speeds of the pods of a node."""
        pods = self._on_node[node_name]
        # Pods without a run time have no speed, but slow others down.
        working = [self._running[uid] for uid in pods if uid in self._running]
        if not working:
            return
        node, now = self._cluster.get(Node, node_name), self._clock.now()
        for running in working:
            neighbours = [pod for uid, pod in pods.items() if uid != running.pod.uid]
            speed = interference.speed(running.pod, node, neighbours)
            if not 0 <= speed <= 1:
                raise InterferenceError(type(interference).__name__, speed)
            if speed != running.speed:
                running.advance(now)
                running.speed = float(speed)
                running.set_timer(self._clock)


def _spent(running: _Running, *, completed: bool) -> Spent:
    plan, done = running.plan, running.done
    if completed:
        return Spent(0.0, plan.length - plan.work, running.slowed)
    return Spent(plan.saved(done), plan.overhead(done), running.slowed)


def work_of(run: Run) -> RunningWork | None:
    """Return what follows the work of the pods of a run, or None."""
    run_times = run.cluster.run_times
    return run_times if isinstance(run_times, RunningWork) else None


def _identity(pod: Pod) -> tuple[str, str]:
    """Return what a pod has in common with the pod that takes up its work."""
    controller = pod.metadata.controller
    if controller is None:
        return "", pod.key
    return controller.uid, pod.metadata.annotations.get(INDEX, "")


def _full_work(pod: Pod) -> float:
    return run_seconds(pod.metadata.annotations) or 0.0
