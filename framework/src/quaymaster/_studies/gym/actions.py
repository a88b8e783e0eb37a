"""The actions of an agent: choose a node, or the weights of Score plugins."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from quaymaster._base.missing_packages import not_installed
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._studies.gym.episode import Episode
from quaymaster._studies.simulation.steps import Step
from quaymaster._studies.simulation.upcoming import Upcoming

try:
    import gymnasium
except ModuleNotFoundError as error:
    text = not_installed(["gymnasium"], "gym")
    raise ModuleNotFoundError(text, name=error.name) from error

__all__ = ["Action", "Actions", "NodeActions", "WeightActions", "score_plugins"]

Action: TypeAlias = int | np.integer[Any] | npt.NDArray[np.floating[Any]]
"""A row of a node, or an array of weights."""


class Actions(Protocol):
    """A kind of action."""

    def space(self, size: int, config: SchedulerConfig, /) -> gymnasium.Space[Any]:
        """Return the space of all actions.

        Args:
            size: The largest number of rows of nodes.
            config: The scheduler's configuration.
        """

    def take(
        self, episode: Episode, action: Action, random: np.random.Generator, /
    ) -> Sequence[Step]:
        """Make the next decision, or several.

        Args:
            episode: The episode, with its upcoming pod.
            action: An action of the space.
            random: The generator of random choices.

        Returns:
            All attempts that were made.
        """


class NodeActions:
    """A step is one decision, an action is the row of a node; implements `Actions`.

    A pod that is sent to an infeasible node is deleted.
    """

    def space(self, size: int, _config: SchedulerConfig) -> gymnasium.Space[Any]:
        """See `Actions.space`."""
        return gymnasium.spaces.Discrete(size)

    def take(
        self, episode: Episode, action: Action, _random: np.random.Generator
    ) -> Sequence[Step]:
        """See `Actions.take`."""
        upcoming, row = episode.expected(), int(action)
        if row in upcoming.rows:
            return episode.place(row)
        return episode.turn_away()


class WeightActions:
    """An action is one weight for each Score plugin; implements `Actions`.

    They are numbers from 0 to 1, in the order of `score_plugins`. A pod goes to the
    feasible node with the highest sum of weighted, normalised scores; ties are drawn.
    The weights of the configuration are not used.

    Args:
        decisions: How many pods a step places with these weights at most; at least 1.

    Raises:
        ValueError: It is below 1.
    """

    def __init__(self, decisions: int = 1) -> None:
        if decisions < 1:
            raise ValueError(f"decisions: expected a number from 1, got {decisions}")
        self._decisions = decisions

    def space(self, _size: int, config: SchedulerConfig) -> gymnasium.Space[Any]:
        """See `Actions.space`."""
        count = len(score_plugins(config))
        return gymnasium.spaces.Box(0.0, 1.0, (count,), np.float64)

    def take(
        self, episode: Episode, action: Action, random: np.random.Generator
    ) -> Sequence[Step]:
        """See `Actions.take`."""
        weights = np.asarray(action, dtype=np.float64).tolist()
        weight_of = dict(zip(score_plugins(episode.run.config), weights, strict=True))
        steps = list(episode.place(_best(episode.expected(), weight_of, random)))
        for _ in range(self._decisions - 1):
            if episode.upcoming is None:
                break
            steps += episode.place(_best(episode.upcoming, weight_of, random))
        return steps


def score_plugins(config: SchedulerConfig) -> tuple[str, ...]:
    """Return the names of the Score plugins of all profiles, each once, in order."""
    listed = (
        plugin.name
        for profile in config.profiles
        for plugin in profile.plugins.get("score", ())
    )
    return tuple(dict.fromkeys(listed))


def _best(
    upcoming: Upcoming, weight_of: dict[str, float], random: np.random.Generator
) -> int:
    total = np.zeros(len(upcoming.rows))
    for plugin, scores in upcoming.scores().items():
        total += weight_of[plugin] * scores
    best = upcoming.rows[total == total.max()]
    return int(best[int(random.integers(len(best)))])
