"""Plays an episode of a lane a second time, with the whole scheduler."""

from collections.abc import Iterable, Set
from typing import Final

from quaymaster._base.errors import VerificationError
from quaymaster._studies.experiments.inputs import Arrival
from quaymaster._studies.gym.lane import Lane
from quaymaster._studies.simulation.driven import Run

__all__ = ["MirroredRun"]

_WHAT: Final = "the whole scheduler decides otherwise"


class MirroredRun:
    """A `Run` in which the decisions of a lane are made again, and compared.

    Args:
        lane: The lane at its beginning.
    """

    def __init__(self, lane: Lane) -> None:
        cluster = lane.compiled.cluster
        self._run = Run(
            cluster.objects, config=cluster.config, registry=cluster.registry
        )

    def check(self, lane: Lane, window: int) -> None:
        """Compare the feasible nodes of each pod in the window.

        Raises:
            VerificationError: They differ.
        """
        self._reach(lane.now)
        compiled = lane.compiled
        for index in lane.queue[:window]:
            nodes = lane.feasible(compiled.kinds[index])
            infos = compiled.cluster.infos
            self._compare(
                compiled.arrivals[index], {infos[node].name for node in nodes}
            )

    def start(self, lane: Lane, started: Iterable[tuple[int, int, float]]) -> None:
        """Start the same pods on the same nodes at the same times.

        Args:
            lane: The lane.
            started: The pods, their nodes and the times, in order.

        Raises:
            VerificationError: A pod did not get its node.
        """
        compiled = lane.compiled
        for index, node, now in started:
            self._reach(now)
            name = compiled.cluster.infos[node].name
            stored = self._run.create(compiled.arrivals[index].made())
            upcoming = self._run.peek()
            if upcoming is None or name not in upcoming.names:
                raise VerificationError(stored.key, [f"{name}: not feasible"], _WHAT)
            step = self._run.attempt(on=name)
            if step is None or step.node != name:
                raise VerificationError(stored.key, [f"{name}: not its node"], _WHAT)

    def close(self) -> None:
        """Close the plugins."""
        self._run.close()

    def _compare(self, arrival: Arrival, expected: Set[str]) -> None:
        stored = self._run.create(arrival.made())
        upcoming = self._run.peek()
        actual = set(upcoming.names) if upcoming is not None else set()
        self._run.delete(stored)
        if actual != expected:
            differences = [
                f"{name}: {'feasible' if name in actual else 'not feasible'}"
                for name in sorted(actual ^ expected)
            ]
            raise VerificationError(stored.key, differences, _WHAT)

    def _reach(self, time: float) -> None:
        """Let time pass in the run until it is a time on the clock."""
        seconds = time - self._run.cluster.clock.now()
        if seconds > 0:
            self._run.advance(seconds)
