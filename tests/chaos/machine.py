"""A scheduler on a faulty cluster, and the steps of a history.

The model consists of the in-memory cluster, without faults, the simple rules of
`tests.chaos.rules`, and a log of the decisions.
"""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress

from quaymaster import ApiObject, Pod
from quaymaster.cluster import EventNote
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import (
    HookError,
    Scheduler,
    SchedulerOptions,
    SlowHook,
    VirtualClock,
)
from quaymaster.testing import Fault, make_namespace, make_storage_class
from tests.chaos.alarms import Alarms
from tests.chaos.cluster_steps import ClusterSteps
from tests.chaos.excuses import Excuses
from tests.chaos.fault_plan import CrashError, FaultPlan, HistoryCluster, PhaseAction
from tests.chaos.invariants import (
    ViolationError,
    chances,
    check_agreement,
    check_at_rest,
    check_nodes,
    check_places,
)
from tests.chaos.listened import ListenedScheduler, Listeners
from tests.chaos.objects import LOCAL, QUICK, TEAMS
from tests.chaos.process_clock import ProcessClock
from tests.chaos.profiles import SCHEDULERS, installed
from tests.chaos.sorts import MAIN_SORTS, OTHER_SORT
from tests.chaos.steps import PHASE_ACTIONS, PHASES, Step, is_large
from tests.kit.internals.binding import Post
from tests.kit.internals.engine import Framework
from tests.kit.internals.testing import SlowExecutor

__all__ = ["RATES", "Machine", "sorts_of"]

RATES = {
    Fault.ERROR: 0.10,
    Fault.CONFLICT: 0.10,
    Fault.LOST_CALL: 0.10,
    Fault.LOST_ANSWER: 0.15,
    Fault.SLOW_CALL: 0.50,
    Fault.SLOW_ANSWER: 0.50,
    Fault.STALE_LIST: 0.30,
    Fault.BROKEN_WATCH: 0.10,
    Fault.EXPIRED_WATCH: 0.10,
    Fault.DELAYED_EVENTS: 0.20,
    Fault.REPEATED_EVENT: 0.10,
}

_SLOW = (Fault.SLOW_CALL, Fault.SLOW_ANSWER)
_MAX_TURNS = 2000
_NO_PROVISIONER = "kubernetes.io/no-provisioner"


class Machine:
    """The state of one history, and its steps.

    Args:
        seed: Seeds the faults, the cluster's names and the scheduler. It also decides
            whether calls can be slow, whether there are two profiles, how they sort
            their pods, whether the cluster is treated as a large one and decisions are
            made twice, and whether the labels of namespaces may change: only the flush
            wakes a pod that was rejected because of these.
        version: The version of Kubernetes.

    Attributes:
        clock: The clock of cluster and scheduler.
        cluster: The cluster itself.
        plan: Plans the failures of plugins, and has the log of decisions.
        faults: The cluster as the scheduler sees it, with faults.
        scheduler: The running scheduler.
        alarms: Collects unexpected errors.
        few_rows: The number of changed nodes up to which they are checked one by one;
            None for the engine's own number.
        restarts: How often the scheduler was started again.
    """

    def __init__(self, seed: int, version: str = "1.36") -> None:
        self._seed = seed
        self._version = version
        self._rates = {
            fault: rate
            for fault, rate in RATES.items()
            if fault not in _SLOW or seed % 2 == 0
        }
        self._random = random.Random(seed)
        self._sorts = sorts_of(seed)
        self.few_rows = 1 if is_large(seed) else None
        # Without the saboteur in this case, because its answers differ each time.
        self._verify = int(is_large(seed))
        self._binds: dict[str, str] = {}
        self._problems: list[str] = []
        self._may_rename_teams = seed % 5 == 0
        self.restarts = 0
        self.clock = VirtualClock()
        self.cluster = InMemoryCluster(self.clock, seed=seed)
        self.cluster.create(make_namespace(name="other", labels={"team": TEAMS[0]}))
        self.cluster.create(make_storage_class(name=QUICK))
        self.cluster.create(make_storage_class(name=LOCAL, provisioner=_NO_PROVISIONER))
        self.plan = FaultPlan(self.cluster, seed)
        self.faults = self._make_faults()
        self.alarms = Alarms(self.plan)
        self._excuses = Excuses(self.cluster, self.plan)
        self.cluster_steps = self._make_steps()
        self._process_clock = ProcessClock(self.clock)
        self.scheduler = self.start_scheduler()

    def run(self, step: Step) -> None:
        """Take one step, and check the invariants.

        Raises:
            ViolationError: An invariant does not hold.
        """
        name, *arguments = step
        take = getattr(self, name, None) or getattr(self.cluster_steps, name)
        take(*arguments)
        self.check()

    @property
    def counts(self) -> Counter[str]:
        """Return how often each kind of fault has happened."""
        counts = Counter(
            {fault.value: count for fault, count in self.faults.counts.items()}
        )
        counts["restarts"] = self.restarts
        counts["sabotaged calls"] = self.plan.sabotaged
        counts["ambushes"] = self.plan.interrupted
        counts["binds"] = len(self._binds)
        return counts

    # Steps beside those of `ClusterSteps` --------------------------------------------

    def turn(self, count: int) -> None:
        """Let the scheduler take some turns, and check the invariants after each."""
        for _ in range(count):
            self._turn()
            self.check()

    def pass_time(self, seconds: int) -> None:
        """Let time pass, and the scheduler work."""
        end = self.clock.now() + seconds
        self._work()
        while (due := self.clock.next_due()) is not None and due <= end:
            self.jump(1)
        self.clock.advance(max(0.0, end - self.clock.now()))
        self._work()

    def jump(self, count: int) -> None:
        """Let time jump to the next timers, as the scheduler's own loop does."""
        for _ in range(count):
            self._work()
            self.clock.wait(threading.Event())
            self._work()

    def see_off(self, position: int, grace: int) -> None:
        """Delete a pod that has a node, and let time jump until the pod is gone."""
        pods = self.cluster.list(Pod).items
        bound = [pod for pod in pods if pod.node_name and not pod.is_terminating]
        if not bound:
            return
        key = bound[position % len(bound)].key
        self.cluster.delete(Pod, key, grace_period_seconds=grace)
        end = self.clock.now() + grace
        while self.clock.now() < end and self.clock.next_due() is not None:
            self.jump(1)

    def restart(self) -> None:
        """End the scheduler's process, and start another one on the same cluster."""
        self._process_clock.end()
        self.faults.set_rates({})
        self._send(self._executor.abandon())
        pods = self.cluster.list(Pod).items
        self.plan.ledger.crashed({pod.uid for pod in pods if pod.node_name})
        self.restarts += 1
        self._process_clock = ProcessClock(self.clock)
        self.scheduler = self.start_scheduler()

    def ambush(self, phase: int, kind: int) -> None:
        """Plan an action for the next pod that gets to a phase."""
        cluster = self.cluster_steps
        actions: dict[str, PhaseAction] = {
            "its node goes": lambda _pod, node: cluster.remove_node_named(node),
            "its node is closed": lambda _pod, node: cluster.close_node_named(node),
            "a node comes": lambda _pod, _node: cluster.add_some_node(),
            "it goes": lambda pod, _node: cluster.remove_pod_at(pod.key),
            "it is recreated": lambda pod, _node: cluster.recreate_pod_at(pod.key),
            "it is relabelled": lambda pod, _node: cluster.relabel_pod_at(pod.key),
            "the process ends": lambda _pod, _node: _crash(),
        }
        self.plan.on_phase(PHASES[phase], actions[PHASE_ACTIONS[kind]])

    def allow(self, position: int) -> None:
        """Allow a pod that waits on Permit, if there is any."""
        waiting = list(self.scheduler.waiting)
        if waiting:
            waiting[position % len(waiting)].allow("Doorman")

    def reject(self, position: int) -> None:
        """Reject a pod that waits on Permit, if there is any."""
        waiting = list(self.scheduler.waiting)
        if waiting:
            waiting[position % len(waiting)].reject("Doorman", "not today")

    def sabotage(self, percent: int) -> None:
        """Let a percentage of the plugins' calls fail from now on."""
        self.plan.failure_rate = percent / 100

    def remove_node_in_use(self, position: int) -> None:
        """Delete the node of a pod that is being bound."""
        found = list(self.plan.ledger.open_decisions())
        if found:
            self.cluster_steps.remove_node_named(found[position % len(found)].node_name)

    def resize_pod(self, number: int, cpu: int) -> None:
        """Change the requests of a pod; if it is assumed, other pods get no event."""
        self.cluster_steps.resize_pod(number, cpu)
        self._excuses.resized(self.scheduler)

    def label_namespace(self, team: int) -> None:
        """Set the team of the other namespace, if its labels may change."""
        if self._may_rename_teams:
            self.cluster_steps.label_namespace(team)

    def finish(self) -> None:
        """Stop the faults, let everything settle, and check the final invariants.

        Pods must be scheduled before the flush wakes them. Two groups are checked after
        the flush: the excused pods, which get no event in upstream either, and pods
        that have to evict others, since no event reports that this may work now.

        Raises:
            ViolationError: Something does not.
        """
        self.faults.set_rates({})
        self.plan.end_faults()
        self.pass_time(150)
        self.check_rest()
        excused = self._excuses.uids(self.scheduler)
        late = self._may_rename_teams
        for chance in chances(self.cluster, self.scheduler, self._why_not):
            is_late = chance.by_eviction or chance.pod.uid in excused
            if not is_late and not self._may_rename_teams:
                raise ViolationError(str(chance))
            late = True
        if late:
            # A pod that evicts others after the flush may need the next flush, too.
            self.pass_time(1400)
            self.check_rest()
            for chance in chances(self.cluster, self.scheduler, self._why_not):
                raise ViolationError(str(chance))

    def check_rest(self) -> None:
        """Check the invariants of a cluster that has settled.

        Raises:
            ViolationError: Something does not hold.
        """
        self.check()
        check_at_rest(self.scheduler, self.plan.ledger)
        check_agreement(self.scheduler, self.cluster)

    # What other kinds of histories have more of ---------------------------------------

    def _make_steps(self) -> ClusterSteps:
        """Make the steps that change the cluster."""
        return ClusterSteps(self.cluster, self.plan.ledger, len(self._sorts))

    def _make_faults(self) -> HistoryCluster:
        """Make the cluster as the scheduler sees it."""
        return HistoryCluster(self.cluster, self.clock, {}, self.plan)

    def _why_not(self, pod: Pod, node_name: str) -> str:
        """Return a further reason why a pod may not run on a node, or an empty text."""
        return ""

    def _changing(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Handle a change before the scheduler does."""

    # The scheduler ------------------------------------------------------------------

    def start_scheduler(self) -> Scheduler:
        """Start a scheduler that has no state except the cluster."""
        registry, config = installed(self._sorts, self._version)
        scheduler = ListenedScheduler(
            Listeners(
                missed=lambda pod: self._excuses.missed(self.scheduler, pod),
                sorts=dict(zip(SCHEDULERS, self._sorts, strict=False)),
                out_of_turn=self._problems.append,
                alarms=self.alarms,
                changing=self._changing,
            ),
            self.faults,
            config,
            registry,
            clock=self._process_clock,
            seed=self._seed + self.restarts,
            make_executor=self._make_executor,
            observer=self,
            # Otherwise a preemptor may stay gated by its own gate, as it does in 1.36.
            options=SchedulerOptions(
                flush_gated_pods=self._version == "1.36", verify=self._verify
            ),
        )
        scheduler.start()
        self.faults.set_rates(self._rates)
        return scheduler

    def _make_executor(self, post: Post) -> SlowExecutor:
        self._executor = self.faults.make_executor(post)
        return self._executor

    def _send(self, calls: Iterable[Callable[[], object]]) -> None:
        """Let half of the calls of a process that has ended take effect."""
        for call in calls:
            if self._random.random() < 0.5:
                with suppress(CrashError):
                    call()

    def _turn(self) -> bool:
        """Let the scheduler take a turn, and start another one if it crashes."""
        try:
            return self.scheduler.turn()
        except CrashError:
            self.restart()
            return True

    def _work(self) -> None:
        for _ in range(_MAX_TURNS):
            if not self._turn():
                return
            self.check()
        raise ViolationError("the scheduler is busy for ever at one moment")

    # What the scheduler reports -----------------------------------------------------

    def attempting(self, pod: Pod, _framework: Framework, /) -> None:
        """Forget the problems of the last attempt: a new one begins."""
        self.plan.spoiled.discard(pod.uid)
        self._excuses.attempting(self.scheduler, pod)

    def bound(self, pod: Pod, node_name: str, /) -> None:
        """Check that a bound pod is bound for the first time, also in the cluster."""
        if pod.uid in self._binds:
            self._problems.append(f"{pod.key} was bound twice")
        self._binds[pod.uid] = node_name
        self._excuses.bound(self.scheduler, pod, node_name)
        stored = self.cluster_steps.find_pod(pod.key)
        if stored is None or stored.uid != pod.uid:
            return
        if stored.node_name != node_name:
            actual = stored.node_name or "no node"
            self._problems.append(
                f"{pod.key} is said to be on {node_name}, but is on {actual}"
            )

    def recorded(self, note: EventNote, /) -> None:
        """Pass an Event to the excuses, of which some follow from Events only."""
        self._excuses.recorded(self.scheduler, note)

    def slow(self, _hook: SlowHook, /) -> None:
        """Ignore slow hooks."""

    def failed(self, error: HookError, /) -> None:
        """Check that a hook failed by plan."""
        self.alarms.hook_failed(error)

    def check(self) -> None:
        """Check the invariants that hold at any time.

        Raises:
            ViolationError: Something does not.
        """
        ledger, alarms = self.plan.ledger, self.alarms
        problems = self._problems or ledger.problems or alarms.problems
        if problems:
            raise ViolationError(problems[0])
        check_nodes(self.cluster, self.plan.ledger)
        check_places(self.scheduler)


def sorts_of(seed: int) -> tuple[str, ...]:
    """Return the queue sort plugins of the one or two profiles of a history."""
    main = MAIN_SORTS[seed // 6 % len(MAIN_SORTS)]
    return (main, OTHER_SORT) if seed % 3 == 0 else (main,)


def _crash() -> None:
    raise CrashError
