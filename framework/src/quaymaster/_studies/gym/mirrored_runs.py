"""Plays an episode of a lane a second time, with the whole scheduler."""

from collections.abc import Callable, Set
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._base.errors import VerificationError
from quaymaster._core.contract.clock import VirtualClock
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
        clock = self._run.cluster.clock
        assert isinstance(clock, VirtualClock), "runs are in virtual time"
        self._clock = clock
        self._departures_first = lane.departures_first
        self._release: Callable[[], bool] = lambda: False
        self._finished_before = self._finished()

    def check(self, lane: Lane, window: int) -> None:
        """Compare the feasible nodes of each pod in the window.

        Raises:
            VerificationError: They differ.
        """
        self._reach(lane.now, lane.ended)
        compiled = lane.compiled
        for index in lane.queue[:window]:
            nodes = lane.feasible(compiled.kinds[index])
            infos = compiled.cluster.infos
            self._compare(
                compiled.arrivals[index], {infos[node].name for node in nodes}
            )

    def start(self, lane: Lane) -> None:
        """Start the same pods on the same nodes at the same times.

        Args:
            lane: The lane, with the pods that it has started.

        Raises:
            VerificationError: A pod did not get its node.
        """
        compiled = lane.compiled
        for index, node, now, ended in lane.started:
            self._reach(now, ended)
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

    def _reach(self, time: float, ended: int) -> None:
        """Let time pass in the run until it is a time on the clock.

        Args:
            time: The time.
            ended: With arrivals first, how many pods have ended.
        """
        if self._departures_first:
            seconds = time - self._clock.now()
            if seconds > 0:
                self._run.advance(seconds)
            return
        while self._clock.now() < time:
            while self._release_next():
                pass
            due = self._clock.next_due()
            moment = time if due is None else min(due, time)
            self._release = self._clock.move_ahead_of(moment)
        while self._finished() - self._finished_before < ended and self._release_next():
            pass

    def _release_next(self) -> bool:
        """Let the next thing happen that is due now; return whether there was one."""
        if not self._release():
            return False
        self._run.advance(0)
        return True

    def _finished(self) -> int:
        return sum(pod.is_finished for pod in self._run.cluster.list(Pod).items)
