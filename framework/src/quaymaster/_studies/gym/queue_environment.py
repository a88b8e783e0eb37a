"""A single run in which an agent decides which pod goes where, or waits."""

from collections.abc import Callable
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt

from quaymaster._core.state.arrays import BoolArray
from quaymaster._studies.experiments.inputs import Workload
from quaymaster._studies.gym.queue_observations import QueueColumns
from quaymaster._studies.gym.vector_environment import (
    QueueObservation,
    SchedulerVectorEnv,
)
from quaymaster._studies.gym.workloads import queue_workload

__all__ = ["QueueEnv"]

_Info: TypeAlias = dict[str, Any]


class QueueEnv(gymnasium.Env[dict[str, npt.NDArray[np.float32]], int]):
    """A run in which an agent decides which pod is placed next and where, or waits.

    It is `SchedulerVectorEnv` with one run, as an ordinary environment.

    Args:
        workload: Seed -> the workload of an episode; by default `queue_workload`.
        settings: All other arguments of `SchedulerVectorEnv`.

    Attributes:
        columns: The names of the observed columns.
    """

    def __init__(
        self, workload: Callable[[int], Workload] = queue_workload, **settings: Any
    ) -> None:
        self._runs = SchedulerVectorEnv(workload, 1, **settings)
        self._is_over = True
        self.columns: QueueColumns = self._runs.columns
        self.observation_space = self._runs.single_observation_space
        self.action_space = self._runs.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[np.float32]], _Info]:
        """Begin an episode, as in all environments.

        Args:
            seed: The seed of the workload and of all random choices.
            options: None: no options exist.

        Raises:
            ValueError: There are options.
        """
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        observation, info = self._runs.reset(seed=[seed], options=options)
        self._is_over = False
        return _first(observation), {"action_mask": info["action_mask"][0]}

    def step(
        self, action: int
    ) -> tuple[dict[str, npt.NDArray[np.float32]], float, bool, bool, _Info]:
        """Make a decision, as in all environments.

        Args:
            action: An action of the space.

        Raises:
            RuntimeError: The episode is over, or has not begun.
        """
        if self._is_over:
            raise RuntimeError("the episode is over: reset the environment")
        observation, rewards, over, _, info = self._runs.step(np.array([action]))
        self._is_over = bool(over[0])
        mask = info["action_mask"][0]
        reward = float(rewards[0])
        return _first(observation), reward, self._is_over, False, {"action_mask": mask}

    def action_masks(self) -> BoolArray:
        """Return the allowed actions, shape ``(M * N + 1,)``, dtype bool."""
        mask: BoolArray = self._runs.action_masks()[0]
        return mask

    def close(self) -> None:
        """Close the plugins."""
        self._runs.close()


def _first(observation: QueueObservation) -> dict[str, npt.NDArray[np.float32]]:
    return {name: values[0] for name, values in observation.items()}
