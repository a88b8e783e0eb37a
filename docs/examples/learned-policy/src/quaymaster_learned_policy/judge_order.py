"""Judges orders side by side, on jobs that no order has learned from.

``python -m quaymaster_learned_policy.judge_order TRACE`` prints the table of the
README.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from quaymaster.columns import Float64Array
from quaymaster.experiments import SwfJob, read_swf

from quaymaster_learned_policy.jobs import HELD_OUT, LENGTH
from quaymaster_learned_policy.order import ORDERS, Order, make_envs, slowdowns

__all__ = ["judge_orders", "main"]


def judge_orders(
    jobs: Sequence[SwfJob],
    orders: Mapping[str, Order] = ORDERS,
    firsts: Sequence[int] = HELD_OUT,
    *,
    verify: int = 0,
) -> Mapping[str, Float64Array]:
    """Return the mean bounded slowdown of each sequence, by order.

    Args:
        jobs: All jobs.
        orders: The orders to compare.
        firsts: Where the sequences begin.
        verify: As for `SchedulerVectorEnv`.
    """
    envs = make_envs(jobs, len(firsts), length=LENGTH, window=LENGTH, verify=verify)
    return {
        name: slowdowns(envs, firsts, order) / LENGTH for name, order in orders.items()
    }


def main(arguments: Iterable[str] | None = None) -> None:
    """Print the mean slowdown of each order, and in how many sequences it beats SJF."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trace", type=Path)
    options = parser.parse_args(None if arguments is None else list(arguments))
    judged = judge_orders(read_swf(options.trace).jobs)
    for name, values in judged.items():
        better = int(np.sum(values < judged["SJF"]))
        shown = " ".join(f"{value:7.1f}" for value in values)
        print(f"{name:8} {values.mean():8.2f}  better than SJF: {better:2}  {shown}")


if __name__ == "__main__":
    main()
