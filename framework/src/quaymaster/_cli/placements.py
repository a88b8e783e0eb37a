"""Prints where the pods of a step landed, and how workloads are spread."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, TypeVar

import click

from quaymaster._base.errors import counted
from quaymaster._studies.capacity.grouping import label_called
from quaymaster._studies.simulation.step_placements import PlacedPod, WorkloadSpread

__all__ = [
    "placed_documents",
    "placed_rows",
    "spread_documents",
    "spread_rows",
    "topology_key_option",
]

F = TypeVar("F", bound=Callable[..., Any])

_MOST_PODS: Final = 20
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


def placed_documents(pods: Iterable[PlacedPod]) -> list[dict[str, object]]:
    """Return newly placed pods as plain data."""
    return [
        {"workload": pod.workload, "pod": pod.pod, "node": pod.node, "at": pod.at}
        for pod in pods
    ]


def spread_documents(spread: Iterable[WorkloadSpread]) -> list[dict[str, object]]:
    """Return the spread of workloads as plain data."""
    return [
        {
            "workload": item.workload,
            "topologyKey": item.topology_key,
            "before": dict(item.before),
            "after": dict(item.after),
        }
        for item in spread
    ]


def placed_rows(
    pods: Iterable[PlacedPod], listed: Collection[str] = ()
) -> Iterable[tuple[str, str]]:
    """Return a pod and its node for each row; of many pods of a workload, only some.

    Args:
        pods: The newly placed pods, by workload.
        listed: The keys of pods that other rows list already.
    """
    for workload, group in groupby(pods, key=lambda pod: pod.workload):
        rest = [pod for pod in group if pod.pod not in listed]
        for pod in rest[:_MOST_PODS]:
            yield pod.pod, pod.node
        if len(rest) > _MOST_PODS:
            yield f"{len(rest) - _MOST_PODS} more of {workload}", _nodes_of(rest)


def spread_rows(spread: Iterable[WorkloadSpread]) -> list[list[str]]:
    """Return workload, topology key, and pods per domain before and after."""
    return [
        [item.workload, item.topology_key, _text(item.before), _text(item.after)]
        for item in spread
    ]


def _nodes_of(pods: Sequence[PlacedPod]) -> str:
    nodes = {pod.node for pod in pods[_MOST_PODS:]}
    return next(iter(nodes)) if len(nodes) == 1 else f"{len(nodes)} nodes"


def _text(numbers: Mapping[str, int]) -> str:
    if len(numbers) > _MOST_DOMAINS:
        least, most = min(numbers.values()), max(numbers.values())
        return f"{least} to {most} on {counted(len(numbers), 'domain')}"
    return ", ".join(
        f"{domain or '(no label)'} {number}" for domain, number in numbers.items()
    )
