"""Play a cluster forward: schedule everything that waits until nothing moves any more.

Time is virtual, so hours of backoff take milliseconds, and the same input gives the
same result.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import attrs

from quaymaster._cycle.explain import explain
from quaymaster._engine.framework import Framework
from quaymaster._engine.scheduler import Scheduler
from quaymaster.clock import VirtualClock
from quaymaster.cluster import EventNote
from quaymaster.config import SchedulerConfig
from quaymaster.errors import ManifestErrors, QuaymasterError
from quaymaster.explanation import Explanation
from quaymaster.memory import MemoryCluster, find_stray_pods
from quaymaster.notices import Notice
from quaymaster.objects import ApiObject, Node, Pod
from quaymaster.options import EngineOptions, SlowHook
from quaymaster.registry import PluginRegistry

__all__ = [
    "ExplainedPod",
    "Placement",
    "PodNotFoundError",
    "Preemption",
    "ProgressFn",
    "SimulationResult",
    "UnscheduledPod",
    "explain_pod",
    "simulate",
]

ProgressFn: TypeAlias = Callable[[int, int], None]
"""Called now and then with how many pods have a node, and how many there are."""

_PREEMPTED = "Preempted"


@attrs.frozen(kw_only=True)
class Placement:
    """A pod that got a node.

    Attributes:
        pod: Its key, ``namespace/name``.
        node: The node's name.
        scheduler: The profile that placed it.
    """

    pod: str
    node: str
    scheduler: str


@attrs.frozen(kw_only=True)
class UnscheduledPod:
    """A pod that got none.

    Attributes:
        pod: Its key.
        reason: One word, as in its PodScheduled condition: ``Unschedulable``,
            ``SchedulerError`` or ``SchedulingGated``; ``NoProfile`` if no profile has
            its scheduler name.
        message: Why, in upstream's words.
        plugins: The plugins that rejected it, sorted.
    """

    pod: str
    reason: str
    message: str
    plugins: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Preemption:
    """A pod that had to go for another one.

    Attributes:
        pod: The key of the one that went.
        by: The key of the one it went for.
        node: Where.
    """

    pod: str
    by: str
    node: str


@attrs.frozen(kw_only=True)
class SimulationResult:
    """How a simulation ended.

    Attributes:
        placements: In the order in which they were made.
        unscheduled: By key.
        preempted: In the order in which it happened.
        pods: How many pods there were to place.
        nodes: How many nodes there are.
        notices: What was left out or assumed.
    """

    placements: tuple[Placement, ...]
    unscheduled: tuple[UnscheduledPod, ...]
    preempted: tuple[Preemption, ...]
    pods: int
    nodes: int
    notices: tuple[Notice, ...] = ()


@attrs.frozen(kw_only=True)
class ExplainedPod:
    """Why one pod is where it is.

    Attributes:
        pod: Its key.
        scheduler: The profile it belongs to.
        outcome: ``scheduled``, ``unschedulable``, ``error``, ``gated``, ``bound`` (it
            came with a node) or ``ignored`` (no profile has its scheduler name).
        node: Its node, or empty.
        message: Why it has none, in upstream's words.
        explanation: Its last attempt, taken apart; None if it was never tried.
        notices: What was left out or assumed.
    """

    pod: str
    scheduler: str
    outcome: str
    node: str
    message: str
    explanation: Explanation | None
    notices: tuple[Notice, ...] = ()


class PodNotFoundError(QuaymasterError):
    """No pod, or more than one, answers to a name.

    Attributes:
        wanted: What was asked for.
        pods: The keys that could have been meant.
    """

    def __init__(self, wanted: str, pods: Sequence[str]) -> None:
        if len(pods) > 1:
            problem = f"{len(pods)} pods match: {_listed(pods)}; give the whole name"
        else:
            problem = "no such pod"
        super().__init__(f"pod '{wanted}': {problem}")
        self.wanted = wanted
        self.pods = tuple(pods)


def simulate(
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig,
    registry: PluginRegistry,
    seed: int = 0,
    on_progress: ProgressFn | None = None,
    options: EngineOptions | None = None,
) -> SimulationResult:
    """Put objects into an in-memory cluster and schedule until nothing moves.

    Args:
        objects: Nodes, pods, workloads and all else, as manifests have them. Pods with
            a node are bound already.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: Decides the choice between equally good nodes, and generated names.
        on_progress: Told how far it is.
        options: What else can be set about the scheduler.

    Raises:
        AdmissionError: Some objects break rules.
        ManifestErrors: Pods are bound to nodes that do not exist.
        ProfileError: A profile's plugins cannot be built.
        VerificationError: The options ask for decisions to be verified, and one is not
            what it has to be.
    """
    run = _Run(objects, config, registry, seed, options=options)
    run.settle(on_progress)
    return run.result()


def explain_pod(
    pod: str,
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig,
    registry: PluginRegistry,
    seed: int = 0,
) -> ExplainedPod:
    """Simulate, and take the last attempt of one pod apart.

    Args:
        pod: ``namespace/name``, ``name``, or a workload as ``kind/name``: then its
            first pod.
        objects: As for `simulate`.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: As for `simulate`.

    Raises:
        PodNotFoundError: Nothing, or too much, has that name.
    """
    run = _Run(objects, config, registry, seed, wanted=_Wanted(pod))
    run.settle(None)
    return run.explained()


class _Run:
    """One simulation; observes its own scheduler."""

    def __init__(
        self,
        objects: Iterable[ApiObject],
        config: SchedulerConfig,
        registry: PluginRegistry,
        seed: int,
        wanted: "_Wanted | None" = None,
        options: EngineOptions | None = None,
    ) -> None:
        objects = list(objects)
        strays = find_stray_pods(objects)
        if strays:
            raise ManifestErrors(strays)
        self._clock = VirtualClock()
        self._cluster = MemoryCluster(self._clock, seed=seed)
        self._cluster.load(objects)
        self._placements: list[Placement] = []
        self._preempted: list[Preemption] = []
        self._explanations: dict[str, Explanation] = {}
        self._wanted = wanted
        self._bound_before = frozenset(pod.key for pod in self.pods() if pod.node_name)
        self._scheduler = Scheduler(
            self._cluster,
            config,
            registry,
            clock=self._clock,
            seed=seed,
            observer=self,
            options=options,
        )
        self._on_progress: ProgressFn | None = None

    def pods(self) -> Sequence[Pod]:
        """All pods that there are now."""
        return self._cluster.list(Pod).items

    def settle(self, on_progress: ProgressFn | None) -> None:
        """Schedule until nothing moves any more."""
        self._on_progress = on_progress
        self._scheduler.start()
        self._report_progress()
        self._scheduler.settle()
        self._report_progress()

    def attempting(self, pod: Pod, framework: Framework) -> None:
        """Take an attempt of the wanted pod apart before it happens."""
        if self._wanted is not None and self._wanted.takes(pod):
            self._explanations[pod.key] = explain(
                framework.algorithm,
                self._scheduler.snapshot.nodes,
                pod,
                framework.profile.name,
            )

    def bound(self, pod: Pod, node_name: str) -> None:
        """Note a placement."""
        self._placements.append(
            Placement(pod=pod.key, node=node_name, scheduler=pod.spec.scheduler_name)
        )
        if len(self._placements) % 256 == 0:
            self._report_progress()

    def recorded(self, note: EventNote) -> None:
        """Note a preemption, told by the event that its victim gets.

        Events are taken as they happen: later the cluster may have forgotten some, and
        a victim's name may belong to the pod that has replaced it.
        """
        victim = note.regarding
        if (
            note.reason == _PREEMPTED
            and note.related is not None
            and isinstance(victim, Pod)
        ):
            self._preempted.append(
                Preemption(pod=victim.key, by=note.related.key, node=victim.node_name)
            )

    def slow(self, hook: SlowHook) -> None:
        """Leave it to the log: real times would make results differ."""

    def result(self) -> SimulationResult:
        """How it ended."""
        waiting = [pod for pod in self.pods() if not pod.node_name]
        return SimulationResult(
            placements=tuple(self._placements),
            unscheduled=tuple(
                sorted(map(self._unscheduled, waiting), key=lambda one: one.pod)
            ),
            preempted=tuple(self._preempted),
            pods=len(self._placements) + len(waiting),
            nodes=len(self._cluster.list(Node).items),
        )

    def explained(self) -> ExplainedPod:
        """Why the wanted pod is where it is."""
        assert self._wanted is not None
        pod = self._wanted.find(self.pods())
        left = self._unscheduled(pod) if not pod.node_name else None
        return ExplainedPod(
            pod=pod.key,
            scheduler=pod.spec.scheduler_name,
            outcome=self._outcome(pod, left),
            node=pod.node_name,
            message=left.message if left else "",
            explanation=self._explanations.get(pod.key),
        )

    def _outcome(self, pod: Pod, left: UnscheduledPod | None) -> str:
        if left is None:
            return "bound" if pod.key in self._bound_before else "scheduled"
        return _OUTCOMES[left.reason]

    def _unscheduled(self, pod: Pod) -> UnscheduledPod:
        name = pod.spec.scheduler_name
        if name not in self._scheduler.frameworks:
            known = ", ".join(sorted(self._scheduler.frameworks))
            text = f"no profile has the scheduler name '{name}' (profiles: {known})"
            return UnscheduledPod(
                pod=pod.key, reason="NoProfile", message=text, plugins=()
            )
        gate = self._scheduler.gate_of(pod)
        if gate is not None:
            return UnscheduledPod(
                pod=pod.key,
                reason="SchedulingGated",
                message=gate.message,
                plugins=(gate.plugin,),
            )
        return self._rejected(pod)

    def _rejected(self, pod: Pod) -> UnscheduledPod:
        for condition in pod.status.conditions:
            if condition.type == "PodScheduled":
                return UnscheduledPod(
                    pod=pod.key,
                    reason=condition.reason,
                    message=condition.message,
                    plugins=self._plugins(pod),
                )
        return UnscheduledPod(
            pod=pod.key, reason="Unschedulable", message="not tried yet", plugins=()
        )

    def _plugins(self, pod: Pod) -> tuple[str, ...]:
        pending = self._scheduler.queue.why_pending(pod.key)
        return pending.rejected_by if pending is not None else ()

    def _report_progress(self) -> None:
        if self._on_progress is not None:
            self._on_progress(len(self._placements), len(self.pods()))


_OUTCOMES = {
    "Unschedulable": "unschedulable",
    "SchedulerError": "error",
    "SchedulingGated": "gated",
    "NoProfile": "ignored",
}


class _Wanted:
    """The pod that somebody asks about, which may not exist before the simulation.

    Args:
        name: ``namespace/name``, ``name``, or a workload as ``kind/name``.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._kind, _, self._owner = name.partition("/")
        self._chosen = ""

    def takes(self, pod: Pod) -> bool:
        """Whether this may be the pod; of a workload only the first one is."""
        if self._name in (pod.key, pod.name):
            return True
        if not _belongs_to(pod, self._kind.lower(), self._owner):
            return False
        self._chosen = self._chosen or pod.key
        return pod.key == self._chosen

    def find(self, pods: Sequence[Pod]) -> Pod:
        """The pod among those that there are in the end.

        Raises:
            PodNotFoundError: There is none, or more than one.
        """
        named = [pod for pod in pods if self._name in (pod.key, pod.name)]
        if len(named) > 1:
            raise PodNotFoundError(self._name, [pod.key for pod in named])
        found = named or [pod for pod in pods if self.takes(pod)]
        if not found:
            raise PodNotFoundError(self._name, [])
        return found[0]


def _belongs_to(pod: Pod, kind: str, name: str) -> bool:
    owner = pod.metadata.controller
    if owner is None or not name:
        return False
    if owner.kind == "ReplicaSet" and kind == "deployment":
        return owner.name.rpartition("-")[0] == name
    return owner.kind.lower() == kind and owner.name == name


def _listed(keys: Sequence[str]) -> str:
    shown = ", ".join(keys[:5])
    return shown if len(keys) <= 5 else f"{shown}, ..."
