"""Tries changes: each is simulated with the whole input, from the beginning."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import attrs

from quaymaster._api.objects import ApiObject, DaemonSet, Node, Pod
from quaymaster._base.errors import ManifestErrors
from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.changes import Effect
from quaymaster._studies.why.node_copies import MIRROR
from quaymaster._studies.why.subject import Subject, Subjects

__all__ = [
    "Goal",
    "Input",
    "OutOfTrialsError",
    "Outcome",
    "Trials",
    "is_agent",
    "pending_pods",
]


class OutOfTrialsError(Exception):
    """The allowed number of simulations has been run."""


@attrs.frozen(kw_only=True, eq=False)
class Input:
    """The input of the simulations.

    Attributes:
        objects: The objects, as in manifests.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: Decides the choice between equally good nodes, and generated names.
        max_pods: How many pods the workloads may ask for in all.
        as_it_is: As for `explain_pod`.
    """

    objects: Sequence[ApiObject]
    config: SchedulerConfig
    registry: PluginRegistry
    seed: int
    max_pods: int
    as_it_is: bool = False

    def simulation(self, objects: Sequence[ApiObject] | None = None) -> Simulation:
        """Make a simulation of these objects, or of other objects.

        Raises:
            AdmissionError: Some objects break rules.
        """
        given = list(self.objects if objects is None else objects)
        return Simulation(
            filled_cluster(
                given,
                self.seed,
                self.max_pods,
                kubernetes=self.config.kubernetes,
                as_it_is=self.as_it_is,
            ),
            config=self.config,
            registry=self.registry,
            seed=self.seed,
            options=SchedulerOptions(kept_attempts=4096),
        )


@attrs.frozen
class Outcome:
    """The effect of a change that meets a goal.

    Attributes:
        placed: How many more pods have a node.
        evicted: How many other pods lose their nodes, or get none.
    """

    placed: int
    evicted: int


def pending_pods(cluster: InMemoryCluster) -> list[Pod]:
    """Return the pods that need a node, by key."""
    pods = [
        pod
        for pod in cluster.list(Pod).items
        if not (pod.node_name or pod.is_finished or pod.is_terminating)
    ]
    return sorted(pods, key=lambda pod: pod.key)


@attrs.frozen(eq=False)
class Goal:
    """The required effect of a change.

    Attributes:
        subjects: The subjects whose pods must be placed.
        keys: The pods that must have a node, if their names are stable.
        left: How many pods may stay pending, by subject whose pods have stable names.
        others: How many other pods may be pending, by owner.
        preempted: How many pods may be preempted.
        placed: How many pods have a node without any change.
        nodes: The nodes without any change.
    """

    subjects: frozenset[Subject]
    keys: frozenset[str]
    left: Counter[Subject]
    others: Counter[Subject]
    preempted: int
    placed: int
    nodes: frozenset[str]

    @classmethod
    def of(
        cls,
        pods: Sequence[Pod],
        run: Simulation,
        objects: Sequence[ApiObject],
        result: SimulationResult,
    ) -> "Goal":
        """Return the goal: these pods have a node, and no other pod has lost one."""
        subjects = Subjects(objects)
        owners = [(pod.key, subjects.of(pod, run.cluster)) for pod in pods]
        own = frozenset(owner for _, owner in owners)
        others = _pending_by_subject(run.cluster, objects)
        left: Counter[Subject] = Counter()
        for subject in own:
            # What is pending of the same subjects is not among the others.
            left[subject] = others.pop(subject, 0)
        left.subtract(owner for _, owner in owners)
        return cls(
            own,
            frozenset(key for key, owner in owners if owner.has_stable_names),
            left,
            others,
            len(result.preempted),
            _with_nodes(run),
            frozenset(node.name for node in run.cluster.list(Node).items),
        )

    def gain(self, run: Simulation) -> int:
        """Return how many more pods have a node, without the agents of new nodes."""
        agents = sum(
            is_agent(pod) and pod.node_name not in self.nodes
            for pod in run.cluster.list(Pod).items
            if pod.node_name
        )
        return _with_nodes(run) - agents - self.placed

    def is_met(
        self,
        run: Simulation,
        objects: Sequence[ApiObject],
        result: SimulationResult,
        kind: Effect = Effect.CHANGES,
    ) -> bool:
        """Whether a settled simulation meets it."""
        losses = self.losses(run, objects, result, kind)
        if losses and kind is not Effect.EVICTS:
            return False
        pending = _pending_by_subject(run.cluster, objects)
        if any(pending[subject] > self._may_stay(subject) for subject in self.subjects):
            return False
        placed = {pod.key for pod in run.cluster.list(Pod).items if pod.node_name}
        return self.keys <= placed

    def _may_stay(self, subject: Subject) -> int:
        """Return how many pods of a subject may be pending.

        A StatefulSet creates a pod when the one before is ready. Such pods must have a
        node as well, or the change helps only the first.
        """
        return self.left[subject] if subject.has_stable_names else 0

    def losses(
        self,
        run: Simulation,
        objects: Sequence[ApiObject],
        result: SimulationResult,
        kind: Effect = Effect.CHANGES,
    ) -> int:
        """Return how many pods of other subjects have lost their nodes, or got none.

        Only the number counts: ties are broken at random, so with a change, other pods
        of equal rank may get the same room. If a change only adds room, other pods
        cannot get less because of it, so only preempted pods count.
        """
        preempted = len(result.preempted) - self.preempted
        if kind is Effect.ADDS_ROOM:
            return max(0, preempted)
        pending = _pending_by_subject(run.cluster, objects)
        for subject in self.subjects:
            pending.pop(subject, None)
        more = max(0, pending.total() - self.others.total())
        # Counted both ways, and the larger counts: a preempted pod may be pending, too.
        return max(more, preempted)


def is_agent(pod: Pod) -> bool:
    """Return whether a pod belongs to its node, as of a DaemonSet or a static pod."""
    controller = pod.metadata.controller
    is_of_workload = controller is not None and controller.kind == DaemonSet.kind
    return is_of_workload or MIRROR in pod.annotations


def _with_nodes(run: Simulation) -> int:
    return sum(bool(pod.node_name) for pod in run.cluster.list(Pod).items)


def _pending_by_subject(
    cluster: InMemoryCluster, objects: Sequence[ApiObject]
) -> Counter[Subject]:
    subjects = Subjects(objects)
    return Counter(subjects.of(pod, cluster) for pod in pending_pods(cluster))


class Trials:
    """Runs simulations, up to a number of them.

    Args:
        given: The input.
        most: How many simulations are run at most.
        on_trial: Called before each with its number from 1, and with ``most``.

    Attributes:
        count: How many have been run.
        on_trial: Called before each.
    """

    def __init__(
        self,
        given: Input,
        most: int,
        on_trial: Callable[[int, int], None] | None = None,
    ) -> None:
        self.given = given
        self.most = most
        self.count = 0
        self.on_trial = on_trial
        self._end = most

    @property
    def left(self) -> int:
        """How many more may be run now."""
        return max(0, self._end - self.count)

    @contextmanager
    def limited(self, most: int) -> Iterator[None]:
        """Limit the number of simulations within a ``with`` block."""
        self._end = min(self.most, self.count + most)
        try:
            yield
        finally:
            self._end = self.most

    def pending(self, objects: Sequence[ApiObject]) -> Counter[Subject]:
        """Simulate changed objects; return how many pods stay pending, by subject.

        Raises:
            OutOfTrialsError: No more simulations may be run.
        """
        self._begin()
        with self.given.simulation(objects) as run:
            run.settle()
            return _pending_by_subject(run.cluster, objects)

    def _begin(self) -> None:
        if not self.left:
            raise OutOfTrialsError
        self.count += 1
        if self.on_trial is not None:
            self.on_trial(self.count, self.most)

    def meets(
        self,
        goal: Goal,
        objects: Sequence[ApiObject],
        kind: Effect = Effect.CHANGES,
    ) -> Outcome | None:
        """Simulate changed objects; return the effect if it meets a goal.

        Args:
            goal: The required effect.
            objects: The objects.
            kind: What the change may do to other pods.

        Returns:
            The effect; None if the goal is not met, or the objects are not admitted.

        Raises:
            OutOfTrialsError: No more simulations may be run.
        """
        self._begin()
        try:
            with self.given.simulation(objects) as run:
                run.settle()
                result = run.result()
                is_met = goal.is_met(run, objects, result, kind)
                evicted = goal.losses(run, objects, result, kind)
                gain = goal.gain(run)
        # A change may make an object invalid, and then solves nothing.
        except (AdmissionError, ManifestErrors):
            return None
        if not is_met:
            return None
        return Outcome(gain, evicted)
