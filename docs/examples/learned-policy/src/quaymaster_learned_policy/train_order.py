"""Learns an order of jobs by the cross-entropy method, with many runs at once.

``python -m quaymaster_learned_policy.train_order TRACE`` takes some minutes. Each
generation draws 32 orders around the best ones of the last, and lets all of them play
the same six sequences of 512 jobs, one order in each run of the environment. The jobs
are not those of the sequences for judging.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from quaymaster.columns import Float64Array
from quaymaster.experiments import SwfJob, read_swf

from quaymaster_learned_policy.jobs import TRAINING
from quaymaster_learned_policy.order import (
    COLUMNS,
    ORDERS,
    make_envs,
    slowdowns,
    weighted,
)

__all__ = ["learn_order", "main"]

_WINDOW: Final = 128
_LEAST_SPREAD: Final = 0.05
"""Orders never get so alike that nothing new is tried."""

_LAST: Final = 10
"""The result is the mean of so many last generations: one generation depends much on
the sequences that it was drawn for."""


def learn_order(
    jobs: Sequence[SwfJob],
    *,
    generations: int,
    orders: int = 32,
    best: int = 8,
    sequences: int = 6,
    length: int = 512,
    seed: int = 0,
) -> Iterator[tuple[float, Float64Array]]:
    """Learn weights, one generation after the other.

    Args:
        jobs: All jobs of the trace.
        generations: How many to try.
        orders: How many orders each has.
        best: How many of them the next one is drawn around.
        sequences: How many sequences each generation plays.
        length: How many jobs a sequence has.
        seed: Decides what is drawn.

    Yields:
        The mean slowdown of the generation's orders, relative to the shortest job
        first; and the weights so far.
    """
    random = np.random.default_rng(seed)
    envs = make_envs(jobs, orders, length=length, window=_WINDOW)
    alone = make_envs(jobs, 1, length=length, window=_WINDOW)
    firsts = [
        first for begin, end in TRAINING for first in range(begin, end - length + 1)
    ]
    mean, spread = np.zeros(len(COLUMNS)), np.ones(len(COLUMNS))
    means: list[Float64Array] = []
    for _ in range(generations):
        drawn = mean + spread * random.standard_normal((orders, len(COLUMNS)))
        played = [int(first) for first in random.choice(firsts, sequences)]
        worth = np.mean(
            [
                np.log(slowdowns(envs, [first] * orders, weighted(drawn)))
                - np.log(slowdowns(alone, [first], ORDERS["SJF"]))
                for first in played
            ],
            axis=0,
        )
        leading = drawn[np.argsort(worth, kind="stable")[:best]]
        mean, spread = leading.mean(axis=0), leading.std(axis=0) + _LEAST_SPREAD
        means.append(mean)
        yield float(np.exp(worth.mean())), np.mean(means[-_LAST:], axis=0)


def main(arguments: Iterable[str] | None = None) -> None:
    """Learn, and print the weights after each generation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trace", type=Path)
    parser.add_argument("--generations", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(None if arguments is None else list(arguments))
    jobs = read_swf(options.trace).jobs
    learned = learn_order(jobs, generations=options.generations, seed=options.seed)
    for number, (relative, weights) in enumerate(learned, 1):
        text = ", ".join(f"{weight:.2f}" for weight in weights)
        print(f"{number:2} {relative:.2f} of SJF  weights: [{text}]", flush=True)


if __name__ == "__main__":
    main()
