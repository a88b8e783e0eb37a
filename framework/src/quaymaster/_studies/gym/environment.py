"""The environment: an agent makes the decisions of a scheduler."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt

from quaymaster._api.objects import Node
from quaymaster._core.config.load import default_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.state.arrays import BoolArray
from quaymaster._studies.experiments.inputs import Workload
from quaymaster._studies.gym.actions import Action, Actions, NodeActions, WeightActions
from quaymaster._studies.gym.columns import NodeColumns, ShareColumns
from quaymaster._studies.gym.episode import Episode
from quaymaster._studies.gym.workloads import small_workload
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.steps import Step

__all__ = ["Reward", "SchedulingEnv", "placed"]

Reward: TypeAlias = Callable[[Run, Step], float]
"""Returns the reward of an attempt after it was made."""

_Columns: TypeAlias = npt.NDArray[np.float32]
_Info: TypeAlias = dict[str, Any]


def placed(_run: Run, step: Step) -> float:
    """Return 1 for a pod that got a node, else 0."""
    return 1.0 if step.node else 0.0


class SchedulingEnv(gymnasium.Env[_Columns, Action]):
    """A Gymnasium environment in which an agent makes a scheduler's decisions.

    Each decision is about one pod with at least one feasible node. The scheduler does
    everything except scoring: its queue chooses the next pod, and Reserve, Permit and
    binding may still reject the chosen node. Pods that fit nowhere are tried without a
    decision, and may preempt others. The episode ends after all arrivals, when the
    cluster has settled.

    ``reset(seed=7)`` plays the workload of seed 7; without a seed, one is drawn.

    The observation consists of the nodes as columns, for the upcoming pod. The info has
    the ``action_mask``, shape ``(N,)``, dtype int8: 1 for the rows of feasible nodes.

    Args:
        workload: Seed -> the workload of an episode; by default `small_workload`.
        actions: The kind of actions; by default the agent chooses nodes.
        config: The scheduler's configuration; by default the default one.
        registry: Where plugins are found by name; by default the installed ones.
        columns: The observed columns of nodes; by default `ShareColumns`.
        reward: The reward of each attempt; by default `placed`.
        max_nodes: The largest number of rows of nodes; by default the number of nodes
            in the workload of seed 0.
        options: Other settings of the scheduler. With ``verify`` the filters
            of every Nth decision are checked.

    Attributes:
        columns: The observed columns of nodes.
        observation_space: Shape ``(N, F)``, dtype float32: one line per row of the
            nodes' table, one column per name of `columns`. Rows without a node are 0,
            and so are all rows at the end.
    """

    def __init__(
        self,
        workload: Callable[[int], Workload] = small_workload,
        *,
        actions: Actions | None = None,
        config: SchedulerConfig | None = None,
        registry: PluginRegistry | None = None,
        columns: NodeColumns | None = None,
        reward: Reward = placed,
        max_nodes: int | None = None,
        options: SchedulerOptions | None = None,
    ) -> None:
        self._workload = workload
        self._actions: Actions = actions or NodeActions()
        self._registry = registry or installed_plugins()
        self._config = config or default_config(self._registry)
        self._reward = reward
        self._options = options
        self._episode: Episode | None = None
        self.columns: NodeColumns = columns or ShareColumns()
        if max_nodes is None:
            max_nodes = sum(isinstance(obj, Node) for obj in workload(0).objects)
        self._size = max_nodes
        low, high = self.columns.bounds
        shape = (max_nodes, len(self.columns.names))
        self.observation_space = gymnasium.spaces.Box(low, high, shape, np.float32)
        self.action_space = self._actions.space(max_nodes, self._config)

    @property
    def run(self) -> Run:
        """The run of the episode, for reading only."""
        return self._current().run

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Columns, _Info]:
        """Begin an episode, as in all environments.

        Args:
            seed: The seed of the workload and of all random choices.
            options: None: no options exist.

        Raises:
            ValueError: There are options.
        """
        if options:
            raise ValueError(f"options: expected none, got {options!r}")
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        self.close()
        self._episode = Episode(
            self._workload(seed),
            config=self._config,
            registry=self._registry,
            seed=seed,
            options=self._options,
        )
        return self._observation(), self._info()

    def step(self, action: Action) -> tuple[_Columns, float, bool, bool, _Info]:
        """Make a decision, or several, as in all environments.

        Args:
            action: An action of the space.
        """
        episode = self._current()
        steps = self._actions.take(episode, action, self.np_random)
        reward = float(sum(self._reward(episode.run, step) for step in steps))
        is_over = episode.upcoming is None
        return self._observation(), reward, is_over, False, self._info()

    def close(self) -> None:
        """End the episode, if any."""
        if self._episode is not None:
            self._episode.close()
            self._episode = None

    def action_masks(self) -> BoolArray:
        """Return which rows of nodes are feasible, shape ``(N,)``, dtype bool.

        sb3-contrib calls a method of this name. At the end all elements are False.
        """
        mask: BoolArray = np.zeros(self._size, dtype=np.bool_)
        upcoming = self._current().upcoming
        if upcoming is not None:
            mask[upcoming.rows] = True
        return mask

    def _current(self) -> Episode:
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("no episode has begun: call reset first")
        return self._episode

    def _observation(self) -> _Columns:
        values = np.zeros((self._size, len(self.columns.names)), dtype=np.float32)
        upcoming = self._current().upcoming
        if upcoming is not None:
            nodes = upcoming.nodes
            rows = nodes.row_numbers(nodes.rows)
            if rows[-1] >= self._size:
                raise ValueError(
                    f"max_nodes: expected at least {rows[-1] + 1} for this workload, "
                    f"got {self._size}"
                )
            values[rows] = self.columns.read(upcoming.pod, nodes, rows)
        return values

    def _info(self) -> _Info:
        return {"action_mask": self.action_masks().astype(np.int8)}


_WHERE: Final = "quaymaster.gym:SchedulingEnv"

gymnasium.register("Quaymaster/Nodes-v0", _WHERE)
gymnasium.register("Quaymaster/Weights-v0", _WHERE, kwargs={"actions": WeightActions()})
