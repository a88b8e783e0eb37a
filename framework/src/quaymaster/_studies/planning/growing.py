"""A cluster that nodes are added to in rounds, while placed pods stay."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import attrs

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.planning.pace import Pace
from quaymaster._studies.planning.question import Counts, Question
from quaymaster._studies.simulation.run import Simulation

__all__ = ["GrowingCluster", "Rounds", "growing_cluster", "sum_of"]

Rounds = tuple[Counts, ...]
"""The nodes of each round; those of the first are there from the beginning."""


def sum_of(rounds: Sequence[Counts]) -> Counts:
    """Return how many nodes of each group all rounds have together."""
    return tuple(map(sum, zip(*rounds, strict=True)))


@attrs.define(eq=False)
class GrowingCluster:
    """A settled cluster that nodes are added to.

    Attributes:
        question: The question of the plan.
        simulation: The simulation.
        rounds: The nodes that were added so far, by round.
        pending: After each round, how many pods had no node.
        pace: Ends the simulation when the time of the search is over.
    """

    question: Question
    simulation: Simulation
    rounds: list[Counts]
    pending: list[int]
    pace: Pace

    @property
    def cluster(self) -> InMemoryCluster:
        """The cluster of the simulation."""
        return self.simulation.cluster

    @property
    def counts(self) -> Counts:
        """How many nodes of each group were added."""
        return sum_of(self.rounds)

    def add(self, more: Counts) -> None:
        """Add the nodes of one round, and let the cluster settle.

        Raises:
            LateError: The time of the search is over.
        """
        self.rounds.append(more)
        made = self.question.nodes_of_rounds(self.rounds)
        for nodes, count in zip(made, more, strict=True):
            for node in nodes[len(nodes) - count :]:
                self.cluster.create(node)
        self.pace.settle(self.simulation)
        self.pending.append(len(self.pending_pods()))

    def pending_pods(self) -> list[Pod]:
        """Return the pods that need a node, without those that are left out."""
        return [
            pod
            for pod in self.cluster.list(Pod).items
            if not (pod.node_name or pod.is_finished or pod.is_terminating)
            and not self.question.leaves_out(pod)
        ]


@contextmanager
def growing_cluster(
    question: Question, first: Counts, pace: Pace
) -> Iterator[GrowingCluster]:
    """Open a settled cluster with the input and the nodes of the first round.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        LateError: The time of the search is over.
    """
    cluster = question.cluster(first)
    with question.simulation(cluster) as simulation:
        pace.settle(simulation)
        growing = GrowingCluster(
            question=question,
            simulation=simulation,
            rounds=[first],
            pending=[],
            pace=pace,
        )
        growing.pending.append(len(growing.pending_pods()))
        yield growing
