"""Failures and returns of nodes at random times, merged with the arrivals of a run."""

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence

import attrs
import numpy as np

from quaymaster._api.objects import Node
from quaymaster._studies.changes.change import ClusterChange, Effect
from quaymaster._studies.changes.node_changes import (
    FailNodes,
    FailureMode,
    ReturnNodes,
    failed_nodes,
)
from quaymaster._studies.changes.node_choice import chosen_nodes
from quaymaster._studies.experiments.failures_entry import FailuresEntry
from quaymaster._studies.experiments.inputs import Arrival, Disruption
from quaymaster._studies.scenarios.streams import random_stream
from quaymaster._studies.simulation.run import Simulation

__all__ = ["random_failures", "with_disruptions"]


def random_failures(
    entries: Sequence[FailuresEntry], nodes: Sequence[Node], seed: int
) -> Iterator[Disruption]:
    """Draw failures and returns without end, in the order of their times.

    Args:
        entries: What fails, and how often.
        nodes: The nodes at the beginning.
        seed: The seed of the workload.

    Raises:
        ChangeError: No node matches the selector of an entry.
    """
    processes = [
        # A stream for each domain: one more node in the input does not change when
        # the others fail.
        _disruptions(
            entry, names, random_stream(seed, "node failures", str(number), name)
        )
        for number, entry in enumerate(entries)
        for name, names in _domains(entry, nodes)
    ]
    return heapq.merge(*processes, key=lambda disruption: disruption.at)


def with_disruptions(
    arrivals: Iterable[Arrival | Disruption], disruptions: Iterator[Disruption]
) -> Iterator[Arrival | Disruption]:
    """Merge arrivals and an endless series of disruptions by time.

    An arrival comes before a disruption of the same moment.
    """
    ahead = next(disruptions, None)
    now = 0.0
    for arrival in arrivals:
        # An arrival whose time has passed comes at once, so time never goes back.
        now = max(now, arrival.at)
        while ahead is not None and ahead.at < now:
            yield ahead
            ahead = next(disruptions, None)
        yield arrival
    if ahead is not None:
        yield ahead
    yield from disruptions


@attrs.define(eq=False)
class _Domain:
    """Nodes that fail and return together.

    Attributes:
        names: Their names.
        mode: How they fail.
        failed: The nodes that the last failure took down.
    """

    names: Sequence[str]
    mode: FailureMode
    failed: list[str] = attrs.field(factory=list)


@attrs.frozen(eq=False)
class _Failure:
    """A failure of the nodes of a domain that still exist and have not failed."""

    domain: _Domain

    def __str__(self) -> str:
        return f"fail {', '.join(self.domain.names)}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        present = {node.name for node in simulation.cluster.list(Node).items}
        # Entries may overlap: a node that another one has failed is its to return.
        present -= simulation.cluster.silent_nodes
        domain = self.domain
        domain.failed = [name for name in domain.names if name in present]
        fail = [FailNodes(nodes=name, mode=domain.mode) for name in domain.failed]
        return _all_of(self, fail, simulation)


@attrs.frozen(eq=False)
class _Return:
    """The return of the nodes that the last failure of a domain took down."""

    domain: _Domain

    def __str__(self) -> str:
        return f"return {', '.join(self.domain.names)}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        down = {node.name for node in failed_nodes(simulation)}
        # Another change may have returned or removed nodes meanwhile.
        names = [name for name in self.domain.failed if name in down]
        self.domain.failed = []
        return _all_of(self, [ReturnNodes(nodes=name) for name in names], simulation)


def _all_of(
    change: ClusterChange, parts: Iterable[ClusterChange], simulation: Simulation
) -> Effect:
    effect = Effect(change=str(change), at=simulation.now, ended=simulation.now)
    for part in parts:
        effect.take_in(part.apply(simulation))
    return effect


def _domains(
    entry: FailuresEntry, nodes: Sequence[Node]
) -> Iterator[tuple[str, Sequence[str]]]:
    """Return the nodes that fail together, with a name for their random numbers."""
    chosen = nodes
    if entry.nodes:
        chosen = chosen_nodes(entry.nodes, nodes, f"nodeFailures of {entry.nodes}")
    together: dict[str, list[str]] = {}
    for node in sorted(chosen, key=lambda node: node.name):
        value = node.labels.get(entry.together) if entry.together else None
        name = f"node {node.name}" if value is None else f"value {value}"
        together.setdefault(name, []).append(node.name)
    yield from together.items()


def _disruptions(
    entry: FailuresEntry, names: Sequence[str], random: np.random.Generator
) -> Iterator[Disruption]:
    """Draw operating times and times of repair in turn, without end."""
    domain = _Domain(names, entry.mode)
    operating = _scale(entry.mtbf.total_seconds(), entry.shape)
    repair = _scale(entry.mttr.total_seconds(), entry.repair_shape)
    at = 0.0
    while True:
        at += operating * float(random.weibull(entry.shape))
        yield Disruption(change=_Failure(domain), at=at)
        at += repair * float(random.weibull(entry.repair_shape))
        yield Disruption(change=_Return(domain), at=at)


def _scale(mean: float, shape: float) -> float:
    """Return the scale of the Weibull distribution with a mean and a shape."""
    # The mean of the distribution is its scale times gamma(1 + 1 / shape).
    return mean / math.gamma(1 + 1 / shape)
