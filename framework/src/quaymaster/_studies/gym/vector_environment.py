"""Many runs in one process: an agent decides which pod goes where, or waits."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs
import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from quaymaster._api.objects import Node
from quaymaster._core.config.load import default_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.state.arrays import BoolArray, Float64Array, Int64Array
from quaymaster._studies.experiments.inputs import Workload
from quaymaster._studies.gym.compiled_workloads import (
    CompiledWorkload,
    RunTimeEstimate,
    compile_workload,
    run_time,
)
from quaymaster._studies.gym.elapsed import Elapsed, ElapsedReward, waiting_seconds
from quaymaster._studies.gym.initial_clusters import InitialClusters
from quaymaster._studies.gym.lane import Lane
from quaymaster._studies.gym.mirrored_runs import MirroredRun
from quaymaster._studies.gym.node_states import NodeStates
from quaymaster._studies.gym.queue_observations import QueueColumns, QueueView
from quaymaster._studies.gym.workloads import queue_workload

__all__ = ["QueueObservation", "SchedulerVectorEnv"]

QueueObservation: TypeAlias = Mapping[str, npt.NDArray[np.float32]]
"""``pods``, ``nodes`` and ``queue``, one line for each run."""

_Actions: TypeAlias = npt.NDArray[np.integer[Any]]
_Info: TypeAlias = dict[str, Any]
_Array: TypeAlias = npt.NDArray[Any]
_Step: TypeAlias = tuple[QueueObservation, _Array, _Array, _Array, _Info]

# Beyond these, states and kinds are numbered again: they fit in about 500 MB then.
_MOST_STATES: Final = 1 << 17
_MOST_VERDICTS: Final = 1 << 27
_MOST_CLUSTERS: Final = 64
_MOST_COMPILED: Final = 256


class SchedulerVectorEnv(VectorEnv[QueueObservation, _Actions, _Array]):
    """Runs in which an agent decides which pod is placed next and where, or waits.

    An action is ``pod * N + node``: the pod's place in the window of the longest
    waiting pods, and the row of the node; or ``M * N`` to wait until the next pod
    arrives or ends. The info has the ``action_mask``. An action that it excludes waits.

    All runs share the verdicts of the real filters, by the state of a node and the kind
    of a pod, so a filter is called only for new pairs. Therefore pods are supported
    only if single nodes decide about them: a pod with affinity to others, a topology
    spread or a volume claim, a PodGroup, or a plugin at Reserve or Permit is an error.
    Pods do not preempt each other.

    A run that has ended begins again in the following step, whatever its action is.

    Args:
        workload: Seed -> the workload of an episode; by default `queue_workload`.
        num_envs: The number of runs.
        window: How many waiting pods the agent sees and may choose from.
        head_of_line: Whether a pod may be chosen that fits nowhere now. It then waits
            for its node, and nothing passes it: a queue without backfilling.
        departures_first: Whether pods end before others arrive at the same instant. If
            not, pods arrive first; then pods end one by one, and the agent decides
            after each, as in experiments with ``departuresFirst: false``.
        config: The scheduler's configuration; by default the default one.
        registry: Where plugins are found by name; by default the installed ones.
        resources: The observed resources.
        estimate: Returns the running time that agents observe; by default the true one.
        reward: Returns the rewards; by default `waiting_seconds`.
        shortest: The shortest running time in slowdowns, in seconds.
        max_nodes: The largest number of nodes; by default that of seed 0.
        verify: If above 0, the whole scheduler plays every Nth episode as well, and a
            difference is a `VerificationError`.

    Attributes:
        columns: The names of the observed columns.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        workload: Callable[[int], Workload] = queue_workload,
        num_envs: int = 1,
        *,
        window: int = 16,
        head_of_line: bool = False,
        departures_first: bool = True,
        config: SchedulerConfig | None = None,
        registry: PluginRegistry | None = None,
        resources: Sequence[str] = ("cpu", "memory"),
        estimate: RunTimeEstimate | None = None,
        reward: ElapsedReward = waiting_seconds,
        shortest: float = 10.0,
        max_nodes: int | None = None,
        verify: int = 0,
    ) -> None:
        if window < 1:
            raise ValueError(f"window: expected a number from 1, got {window}")
        if max_nodes is None:
            max_nodes = sum(isinstance(obj, Node) for obj in workload(0).objects)
        self.num_envs = num_envs
        self.columns = QueueColumns(resources)
        self.single_observation_space = self.columns.space(window, max_nodes)
        self.single_action_space = gymnasium.spaces.Discrete(window * max_nodes + 1)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._workload, self._window, self._nodes = workload, window, max_nodes
        self._head_of_line, self._reward = head_of_line, reward
        self._departures_first = departures_first
        self._resources, self._estimate = tuple(resources), estimate or run_time
        self._shortest, self._verify, self._episodes = shortest, verify, 0
        self._registry = registry or installed_plugins()
        self._config = config or default_config(self._registry)
        self._clusters = InitialClusters(self._config, self._registry)
        self._table = NodeStates(self._resources)
        self._view = QueueView(num_envs, window, max_nodes, self.columns)
        self._lanes: list[Lane] = []
        self._mirrors: dict[int, MirroredRun] = {}
        self._workloads: list[Workload] = []
        self._compiled: dict[int, tuple[Workload, CompiledWorkload]] = {}
        self._randoms: list[np.random.Generator] = []

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[QueueObservation, _Info]:
        """Begin an episode in every run.

        Args:
            seed: The seed of the first run; the others have the following ones. Or a
                list with one seed for each run, where None draws one.
            options: None: no options exist.

        Raises:
            ValueError: There are options, or another number of seeds than of runs.
            UnsupportedWorkloadError: A workload cannot be simulated here.
        """
        if options:
            raise ValueError(f"options: expected none, got {options!r}")
        seeds = self._seeds(seed)
        if not self._randoms:
            self._randoms = [np.random.default_rng() for _ in seeds]
        self._lanes, self._workloads = [], []
        for run, own in enumerate(seeds):
            if own is not None:
                self._randoms[run] = np.random.default_rng(own)
            self._begin(run, self._drawn(run) if own is None else own)
        return self._seen()

    def step(self, actions: _Actions) -> _Step:
        """Make one decision in each run, or begin an episode where one has ended.

        Args:
            actions: Shape ``(K,)``: the action of each run.
        """
        if not self._lanes:
            raise gymnasium.error.ResetNeeded("no episode has begun: call reset first")
        if self._clusters.has_changed:
            self._renumber(exact=self._table.exact)
        begun = np.array([lane.is_over for lane in self._lanes])
        before = np.array([lane.now for lane in self._lanes])
        for run, action in enumerate(np.asarray(actions).tolist()):
            if begun[run]:
                self._begin(run, self._drawn(run))
            else:
                self._act(run, self._lanes[run], action)
        elapsed = self._elapsed(before)
        rewards = np.where(begun, 0.0, self._reward(elapsed))
        over = np.array([lane.is_over for lane in self._lanes])
        observation, info = self._seen()
        return observation, rewards, over, np.zeros_like(over), info

    def action_masks(self) -> BoolArray:
        """Return the allowed actions, shape ``(K, M * N + 1)``, dtype bool."""
        return self._masks(self._fits(self._view.states))

    def close_extras(self, **_kwargs: Any) -> None:
        """Close the plugins."""
        for mirror in self._mirrors.values():
            mirror.close()
        self._mirrors.clear()
        self._clusters.close()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int):
            return [seed + run for run in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"seed: expected {self.num_envs} seeds, got {len(seed)}")
        return seed

    def _drawn(self, run: int) -> int:
        return int(self._randoms[run].integers(2**31))

    def _begin(self, run: int, seed: int) -> None:
        if self._is_full():
            self._renumber(exact=self._table.exact)
        workload = _with_list(self._workload(seed))
        compiled = self._compile(workload)
        if len(compiled.cluster.nodes) > self._nodes:
            raise ValueError(
                f"max_nodes: expected at least {len(compiled.cluster.nodes)} for this "
                f"workload, got {self._nodes}"
            )
        lane = Lane(
            compiled,
            self._table,
            self._view.states[run],
            window=self._window,
            head_of_line=self._head_of_line,
            departures_first=self._departures_first,
        )
        if run < len(self._lanes):
            self._lanes[run], self._workloads[run] = lane, workload
        else:
            self._lanes.append(lane)
            self._workloads.append(workload)
        self._view.begin(run, lane, self._resources)
        self._view.look(run, lane)
        self._mirror(run, lane)

    def _compile(self, workload: Workload) -> CompiledWorkload:
        entry = self._compiled.get(id(workload))
        if entry is not None:
            return entry[1]
        count = len(self._clusters.kinds)
        compiled = compile_workload(
            workload,
            self._clusters,
            self._resources,
            self._estimate,
            self._shortest,
        )
        new = self._clusters.kinds[count:]
        # One kind whose filters read single pods is enough: sums no longer describe a
        # node, so all states are numbered again by the pods that they have.
        if not self._table.exact and any(kind.reads_pods for kind in new):
            self._renumber(exact=True)
            return self._compile(workload)
        if len(self._compiled) >= _MOST_COMPILED:
            self._compiled.clear()
        # The workload is kept, so that no other one gets the same id.
        self._compiled[id(workload)] = workload, compiled
        return compiled

    def _is_full(self) -> bool:
        states, kinds = len(self._table), len(self._clusters.kinds)
        return (
            states > _MOST_STATES
            or states * kinds > _MOST_VERDICTS
            or len(self._clusters) > _MOST_CLUSTERS
        )

    def _renumber(self, *, exact: bool) -> None:
        """Forget all states and verdicts but those of the runs."""
        old = self._clusters
        self._clusters = InitialClusters(self._config, self._registry)
        self._table = NodeStates(self._resources, exact=exact)
        self._compiled.clear()
        for run, lane in enumerate(self._lanes):
            lane.renew(self._compile(self._workloads[run]), self._table)
            self._view.renumber(run, lane)
        old.close()

    def _act(self, run: int, lane: Lane, action: int) -> None:
        lane.clear()
        if action == self._window * self._nodes:
            lane.wait()
        else:
            lane.place(*divmod(action, self._nodes))
        self._view.look(run, lane)
        mirror = self._mirrors.get(run)
        if mirror is not None:
            mirror.start(lane)
            if not lane.is_over:
                mirror.check(lane, self._window)

    def _mirror(self, run: int, lane: Lane) -> None:
        mirror = self._mirrors.pop(run, None)
        if mirror is not None:
            mirror.close()
        self._episodes += 1
        if self._verify and self._episodes % self._verify == 0:
            mirror = self._mirrors[run] = MirroredRun(lane)
            if not lane.is_over:
                mirror.check(lane, self._window)

    def _elapsed(self, before: Float64Array) -> Elapsed:
        lanes, shortest = self._lanes, self._shortest
        slowdown = np.array([lane.started_slowdown(shortest) for lane in lanes])
        return Elapsed(
            seconds=np.array([lane.now for lane in lanes]) - before,
            waited=np.array([lane.waited for lane in lanes]),
            slowed=np.array([lane.slowed for lane in lanes]),
            started=np.array([float(len(lane.started)) for lane in lanes]),
            slowdown=slowdown,
            left=np.array([float(lane.left) for lane in lanes]),
        )

    def _seen(self) -> tuple[QueueObservation, _Info]:
        fits = self._fits(self._view.states)
        observation = self._view.observe(self._lanes, self._table, fits)
        return observation, {"action_mask": self._masks(fits).astype(np.int8)}

    def _masks(self, fits: BoolArray) -> BoolArray:
        masks: BoolArray = np.zeros((self.num_envs, fits[0].size + 1), np.bool_)
        if self._head_of_line:
            fits = fits | self._fits(self._view.empty)
        masks[:, :-1] = fits.reshape(self.num_envs, -1)
        masks[:, -1] = [lane.can_wait and not lane.is_over for lane in self._lanes]
        return masks

    def _fits(self, states: Int64Array) -> BoolArray:
        return self._view.fits(self._table, self._clusters.kinds, states)


def _with_list(workload: Workload) -> Workload:
    """Return a workload whose arrivals may be read again."""
    if isinstance(workload.arrivals, Sequence):
        return workload
    return attrs.evolve(workload, arrivals=list(workload.arrivals))


gymnasium.register(
    "Quaymaster/Queue-v0",
    "quaymaster.gym:QueueEnv",
    vector_entry_point="quaymaster.gym:SchedulerVectorEnv",
)
