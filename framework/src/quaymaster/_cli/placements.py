"""Prints where the pods of a step landed, and how workloads are spread."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, TypeVar

import click

from quaymaster._base.errors import counted
from quaymaster._cli.columns import Columns
from quaymaster._studies.capacity.grouping import label_called
from quaymaster._studies.simulation.step_placements import PlacedPod, WorkloadSpread

__all__ = [
    "MOST_PODS",
    "PLACED",
    "SPREAD",
    "placed_rows",
    "spread_rows",
    "topology_key_option",
]

F = TypeVar("F", bound=Callable[..., Any])

MOST_PODS: Final = 20
"""Of each workload and step, a table lists so many placed pods."""

_MOST_DOMAINS: Final = 10
"""A table lists the pods of so many domains; of more, only the smallest and largest."""


def topology_key_option() -> Callable[[F], F]:
    """Return the option that names the node labels to count pods by."""
    return click.option(
        "--topology-key",
        "topology_keys",
        metavar="LABEL",
        multiple=True,
        default=("zone",),
        show_default=True,
        callback=lambda _context, _option, names: tuple(map(label_called, names)),
        help="Count the pods of each workload per value of this label of nodes, before "
        "and after each step. May be repeated.",
    )


PLACED: Final = Columns[PlacedPod]("workload", "pod", "node", "at")
"""What documents have about newly placed pods."""

SPREAD: Final = Columns[WorkloadSpread]("workload", "topologyKey", "before", "after")
"""What documents have about the spread of workloads."""


def placed_rows(
    pods: Iterable[PlacedPod], listed: Collection[str] = (), most: int = MOST_PODS
) -> Iterable[tuple[str, str]]:
    """Return a pod and its node for each row; of many pods of a workload, only some.

    Args:
        pods: The newly placed pods, by workload.
        listed: The keys of pods that other rows list already.
        most: How many pods of a workload have a row of their own.
    """
    for workload, group in groupby(pods, key=lambda pod: pod.workload):
        rest = [pod for pod in group if pod.pod not in listed]
        for pod in rest[:most]:
            yield pod.pod, pod.node
        if len(rest) > most:
            yield f"{len(rest) - most} more of {workload}", _nodes_of(rest[most:])


def spread_rows(spread: Iterable[WorkloadSpread]) -> list[list[str]]:
    """Return workload, topology key, and pods per domain before and after."""
    return [
        [item.workload, item.topology_key, _text(item.before), _text(item.after)]
        for item in spread
    ]


def _nodes_of(pods: Sequence[PlacedPod]) -> str:
    nodes = {pod.node for pod in pods}
    return next(iter(nodes)) if len(nodes) == 1 else f"{len(nodes)} nodes"


def _text(numbers: Mapping[str, int]) -> str:
    if len(numbers) > _MOST_DOMAINS:
        least, most = min(numbers.values()), max(numbers.values())
        return f"{least} to {most} on {counted(len(numbers), 'domain')}"
    return ", ".join(
        f"{domain or '(no label)'} {number}" for domain, number in numbers.items()
    )
