"""A scheduled cluster in memory, which answers requests without being changed."""

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
# A limit of memory: far more templates than clients use in turn.
_RECENT: Final = 1024


@attrs.frozen(kw_only=True)
class Fit:
    """The result for some pods.

    Attributes:
        pods: The result of each pod, in the order of the request.
    """

    pods: tuple[Tried, ...]

    @property
    def placed(self) -> int:
        """How many of them fit."""
        return sum(bool(trial.node) for trial in self.pods)


class WarmCluster:
    """A cluster whose pods have been scheduled, with its scheduler.

    One thread at a time may use it. Requests do not affect each other.

    Args:
        objects: Nodes, pods, workloads and other objects.
        config: The scheduler's configuration.
        registry: The plugins by name.
        seed: The seed of the choice between nodes with equal scores.
        max_pods: The most pods that workloads may create in all.
        on_progress: Called with the progress of scheduling the pods of the input.

    Attributes:
        kubernetes: The emulated version of Kubernetes.
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
        self._listed_keys = frozenset(pod.key for pod in listed)
        self._recent = _RecentSpecs()

    def close(self) -> None:
        """Close the plugins."""
        self._run.close()

    def fit(self, pods: Sequence[Pod], deadline: float = float("inf")) -> Fit:
        """Find nodes for some pods, one after the other, without changing the cluster.

        Args:
            pods: The pods, each with its own uid.
            deadline: When to give up, in seconds of ``time.monotonic``.

        Raises:
            RequestError: A pod is invalid, or the time is over.
        """
        admitted = [self._admitted(pod) for pod in pods]
        begun = time.monotonic()
        with Trial(self._run.scheduler, self._seed) as trial:
            tried = []
            for pod, is_known in admitted:
                tried.append(trial.place(pod, remember=is_known))
                if time.monotonic() > deadline:
                    raise DeadlineError(deadline - begun)
        return Fit(pods=tuple(tried))

    def explain(self, pod: Pod) -> Explanation:
        """Return the verdict of each plugin on each node for a pod.

        Raises:
            RequestError: The pod is invalid, or no profile has its scheduler name.
        """
        admitted, _ = self._admitted(pod)
        name = admitted.spec.scheduler_name
        framework: Framework | None = self._run.scheduler.frameworks.get(name)
        if framework is None:
            profiles = ", ".join(sorted(self._run.scheduler.frameworks))
            detail = (
                f"no profile has the scheduler name '{name}' (profiles: {profiles})"
            )
            raise RequestError(422, _WRONG, detail)
        return explain(framework.plain, admitted, name)

    def simulate(
        self, objects: Sequence[ApiObject], deadline: float = float("inf")
    ) -> SimulationResult:
        """Simulate the input together with some objects, from the start.

        Unlike the other methods, any thread may call it.

        Args:
            objects: The new objects, which replace those of the input with the same
                kind and name.
            deadline: When to give up, in seconds of ``time.monotonic``.

        Raises:
            RequestError: Objects are invalid, or the time is over.
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
        """Return whether a pod, by its key, is not in the input."""
        return pod not in self._listed_keys

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
        """Return the admitted pod, and whether an equal spec was used recently."""
        try:
            admitted = self._run.cluster.admitted(pod)
        except AdmissionError as error:
            raise RequestError(422, _WRONG, problems=error.problems) from error
        return admitted, self._recent.keep(admitted.spec)


class _RecentSpecs:
    """Keeps the specs of the last requests alive.

    Values computed from a spec, such as its signature, are cached as long as the spec
    lives. In a cluster pods refer to it; the pods of requests do not live on.
    """

    def __init__(self) -> None:
        self._specs: dict[int, PodSpec] = {}

    def keep(self, spec: PodSpec) -> bool:
        """Keep a spec until 1,024 others have come; return whether it was kept before.

        Equal specs of admitted pods are one object.
        """
        specs, key = self._specs, id(spec)
        # Put back at the end: the first key is that of the spec used least recently.
        # Its id is not reused, since the spec is kept alive.
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
