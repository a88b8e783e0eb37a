"""Learns the weights of the policy, by the cross-entropy method.

``python -m quaymaster_learned_policy.train`` takes some minutes, and prints the weights
that it ends with. Each generation draws policies around the best ones of the last, and
tries all of them on the same arrivals, which are others in each generation. Nothing but
NumPy learns here.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs
import numpy as np
from quaymaster.columns import Float64Array
from quaymaster.config import SchedulerConfig, parse_config
from quaymaster.gym import SchedulingEnv
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import profile_config

from quaymaster_learned_policy.columns import NAMES, PolicyColumns
from quaymaster_learned_policy.workload import filled, mixed_arrivals

__all__ = ["Generation", "learn", "make_env", "play"]

_FIRST_SEED = 1000
_LEAST_SPREAD = 0.1
"""Policies never get so alike that nothing new is tried."""


@attrs.frozen(kw_only=True, eq=False)
class Generation:
    """What a generation came to.

    Attributes:
        number: Which one it was, from 1.
        mean: What its policies filled of the cluster, on average.
        weights: Shape ``(F,)``: the mean of its best policies.
    """

    number: int
    mean: float
    weights: Float64Array


def make_env() -> SchedulingEnv:
    """Return the environment to learn in: fit alone says where a pod may go."""
    registered = PluginRegistry.discover()
    return SchedulingEnv(
        mixed_arrivals,
        config=_fit_alone(registered),
        registry=registered,
        columns=PolicyColumns(),
        reward=filled,
    )


def _fit_alone(registered: PluginRegistry) -> SchedulerConfig:
    plugins = ["NodeResourcesFit", "PrioritySort", "DefaultBinder"]
    return parse_config(profile_config(enable=plugins, disable=["*"]), registered)


def play(env: SchedulingEnv, weights: Float64Array, seed: int) -> float:
    """Return how much of the cluster a policy fills with the arrivals of a seed."""
    seen, info = env.reset(seed=seed)
    total, is_over = 0.0, not info["action_mask"].any()
    while not is_over:
        values = np.where(info["action_mask"], seen @ weights, -np.inf)
        seen, reward, is_over, _, info = env.step(values.argmax())
        total += reward
    return total


def learn(
    judge: Callable[[Float64Array, Sequence[int]], float],
    *,
    generations: int = 20,
    policies: int = 32,
    best: int = 8,
    seeds: int = 16,
    seed: int = 0,
) -> Iterator[Generation]:
    """Learn weights, one generation after the other.

    Args:
        judge: Says how much a policy is worth on the arrivals of some seeds.
        generations: How many to try.
        policies: How many policies each has.
        best: How many of them the next one is drawn around.
        seeds: How many seeds each generation is tried on.
        seed: Decides what is drawn.
    """
    random = np.random.default_rng(seed)
    mean, spread = np.zeros(len(NAMES)), np.ones(len(NAMES))
    for number in range(generations):
        first = _FIRST_SEED + number * seeds
        drawn = mean + spread * random.standard_normal((policies, len(NAMES)))
        worth = np.array(
            [judge(policy, range(first, first + seeds)) for policy in drawn]
        )
        leading = drawn[np.argsort(-worth, kind="stable")[:best]]
        mean, spread = leading.mean(axis=0), leading.std(axis=0) + _LEAST_SPREAD
        yield Generation(number=number + 1, mean=float(worth.mean()), weights=mean)


def main(arguments: Iterable[str] | None = None) -> None:
    """Learn, and print the weights after each generation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(None if arguments is None else list(arguments))
    env = make_env()

    def judge(weights: Float64Array, seeds: Sequence[int]) -> float:
        return float(np.mean([play(env, weights, generation) for generation in seeds]))

    for generation in learn(judge, generations=given.generations, seed=given.seed):
        weights = ", ".join(f"{weight:.2f}" for weight in generation.weights)
        print(
            f"{generation.number:2} filled {generation.mean:.1%}  weights: [{weights}]",
            flush=True,
        )


if __name__ == "__main__":
    main()
