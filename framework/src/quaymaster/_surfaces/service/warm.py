"""A cluster that is kept warm, and answers questions without being changed."""

import time
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Pod, PodSpec
from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.cycle.explain import explain
from quaymaster._core.cycle.explanation import Explanation
from quaymaster._core.engine.failure import Failure
from quaymaster._core.engine.framework import Framework
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.attempts import AttemptLog
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.results import ProgressFn, SimulationResult
from quaymaster._studies.simulation.run import Simulation
from quaymaster._surfaces.service.errors import DeadlineError, RequestError
from quaymaster._surfaces.service.trial import Trial, Tried

__all__ = ["Fit", "WarmCluster"]

_WRONG: Final = "Unprocessable request"
# A bound on memory, chosen and not measured: far more templates than clients ask about
# in turn.
_RECENT: Final = 1024


@attrs.frozen(kw_only=True)
class Fit:
    """Whether some pods fit.

    Attributes:
        pods: Where each would go, in the order in which they were asked for.
    """

    pods: tuple[Tried, ...]

    @property
    def placed(self) -> int:
        """How many of them fit."""
        return sum(bool(one.node) for one in self.pods)


class WarmCluster:
    """A cluster whose pods have been scheduled, and a scheduler that knows it.

    It belongs to one thread at a time. Every question is answered as if no other had
    been asked.

    Args:
        objects: Nodes, pods, workloads and all else.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: Decides the choice between equally good nodes.
        max_pods: How many pods workloads may ask for in all.
        on_progress: Called with the progress of scheduling the pods of the input.

    Attributes:
        kubernetes: The Kubernetes whose scheduler decides.
        nodes: How many nodes there are.
        pods: How many pods are on them.
        unscheduled: How many pods of the input have no node.

    Raises:
        AdmissionError: Some objects break rules.
        ProfileError: A profile's plugins cannot be built.
    """

    def __init__(
        self,
        objects: Sequence[ApiObject],
        *,
        config: SchedulerConfig,
        registry: PluginRegistry,
        seed: int = 0,
        max_pods: int = MAX_PODS,
        on_progress: ProgressFn | None = None,
    ) -> None:
        self._objects = tuple(objects)
        self._config = config
        self.kubernetes = config.kubernetes
        self._registry = registry
        self._seed = seed
        self._max_pods = max_pods
        self._run = self._simulation(self._objects)
        self._run.settle(on_progress)
        result = self._run.result()
        snapshot = self._run.scheduler.snapshot
        self.nodes = len(snapshot)
        self.pods = sum(len(info.pods) for info in snapshot)
        self.unscheduled = len(result.unscheduled)
        listed = self._run.cluster.list(Pod).items
        self._known = frozenset(pod.key for pod in listed)
        self._recent = _RecentSpecs()

    def close(self) -> None:
        """Close the plugins."""
        self._run.close()

    def fit(self, pods: Sequence[Pod], deadline: float = float("inf")) -> Fit:
        """Find nodes for some pods, one after the other, and leave all as it was.

        Args:
            pods: The pods; each has a uid of its own.
            deadline: When to give up, in seconds of ``time.monotonic``.

        Raises:
            RequestError: A pod breaks rules, or the time is over.
        """
        admitted = [self._admitted(pod) for pod in pods]
        begun = time.monotonic()
        with Trial(self._run.scheduler, self._seed) as trial:
            found = []
            for pod, is_known in admitted:
                found.append(trial.place(pod, remember=is_known))
                if time.monotonic() > deadline:
                    raise DeadlineError(deadline - begun)
        return Fit(pods=tuple(found))

    def explain(self, pod: Pod) -> Explanation:
        """Say what every plugin says of every node for a pod.

        Raises:
            RequestError: The pod breaks rules, or no profile takes it.
        """
        admitted, _ = self._admitted(pod)
        name = admitted.spec.scheduler_name
        framework: Framework | None = self._run.scheduler.frameworks.get(name)
        if framework is None:
            known = ", ".join(sorted(self._run.scheduler.frameworks))
            detail = f"no profile has the scheduler name '{name}' (profiles: {known})"
            raise RequestError(422, _WRONG, detail)
        return explain(framework.plain, admitted, name)

    def simulate(
        self, objects: Sequence[ApiObject], deadline: float = float("inf")
    ) -> SimulationResult:
        """Simulate the input together with some objects, from the beginning.

        Unlike the other questions it may be asked from any thread.

        Args:
            objects: What comes in; an object with the kind and name of one of the
                input replaces it.
            deadline: When to give up, in seconds of ``time.monotonic``.

        Raises:
            RequestError: Objects break rules, or the time is over.
        """
        new = {(type(obj), _key(obj)) for obj in objects}
        kept = [obj for obj in self._objects if (type(obj), _key(obj)) not in new]
        begun = time.monotonic()
        log = _Deadline(deadline, deadline - begun)
        try:
            with self._simulation([*kept, *objects], log) as run:
                run.settle()
                return run.result()
        except AdmissionError as error:
            raise RequestError(422, _WRONG, problems=error.problems) from error

    def is_new(self, pod: str) -> bool:
        """Whether a pod, by its key, is none of the input's."""
        return pod not in self._known

    def _simulation(
        self, objects: Sequence[ApiObject], log: AttemptLog | None = None
    ) -> Simulation:
        cluster = filled_cluster(
            objects,
            self._seed,
            self._max_pods,
            kubernetes=self._config.kubernetes,
        )
        return Simulation(
            cluster,
            config=self._config,
            registry=self._registry,
            seed=self._seed,
            log=log,
        )

    def _admitted(self, pod: Pod) -> tuple[Pod, bool]:
        """Return the pod as it would come in, and whether its like was there lately."""
        try:
            admitted = self._run.cluster.admitted(pod)
        except AdmissionError as error:
            raise RequestError(422, _WRONG, problems=error.problems) from error
        return admitted, self._recent.keep(admitted.spec)


class _RecentSpecs:
    """Keeps some specs alive, those that were asked about last.

    What is worked out from a spec, such as its signature, is kept as long as the spec.
    In a cluster pods hold it; nobody would hold those of questions.
    """

    def __init__(self) -> None:
        self._specs: dict[int, PodSpec] = {}

    def keep(self, spec: PodSpec) -> bool:
        """Keep a spec until so many others have come; say whether it was kept before.

        Equal specs of admitted pods are one object.
        """
        specs, key = self._specs, id(spec)
        was_kept = specs.pop(key, None) is not None
        specs[key] = spec
        if len(specs) > _RECENT:
            del specs[next(iter(specs))]
        return was_kept


class _Deadline(AttemptLog):
    """Ends a simulation that takes too long, at its next attempt."""

    def __init__(self, deadline: float, seconds: float) -> None:
        self._deadline = deadline
        self._seconds = seconds

    def begin(self, _pod: Pod, _framework: Framework, _now: float) -> None:
        """Raise if the time is over."""
        if time.monotonic() > self._deadline:
            raise DeadlineError(self._seconds)

    def fail(self, _pod: Pod, _failure: Failure) -> None:
        """Do nothing."""

    def bind(self, _pod: Pod, _node_name: str) -> None:
        """Do nothing."""

    def preempt(self, _victim: str, _by: str) -> None:
        """Do nothing."""


def _key(obj: ApiObject) -> str:
    return f"{obj.namespace or 'default'}/{obj.name}" if obj.namespaced else obj.name
