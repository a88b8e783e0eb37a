"""Drives one run of an experiment: arrivals one by one, with measurements."""

import math
from collections.abc import Callable, Mapping
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.engine.attempts import AttemptOutcome
from quaymaster._studies.experiments.inputs import Arrival, Disruption, Workload
from quaymaster._studies.experiments.metrics import Measured, Metric
from quaymaster._studies.experiments.period import Period
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.steps import Step

__all__ = ["drive"]

_ENDLESS: Final = Period()
_TURNED_AWAY: Final = frozenset({AttemptOutcome.UNSCHEDULABLE, AttemptOutcome.ERROR})


def drive(
    run: Run,
    workload: Workload,
    metrics: Mapping[str, Metric],
    *,
    departures_first: bool = True,
    period: Period = _ENDLESS,
) -> dict[str, Measured]:
    """Create all arriving objects, and continue until the cluster has settled.

    Args:
        run: The run, with the objects of the workload, before any attempt.
        workload: The workload with the arrivals.
        metrics: Name -> metric.
        departures_first: Whether everything that is due at one moment, such as the end
            of a pod, happens before an arrival at that moment.
        period: When the run ends, and from when on it counts.

    Returns:
        Name -> the result of the metric.
    """
    drive_class = _Drive if departures_first else _ArrivalsFirst
    return drive_class(run, workload, metrics, period).play()


class _Drive:
    """A run in progress."""

    def __init__(
        self,
        run: Run,
        workload: Workload,
        metrics: Mapping[str, Metric],
        period: Period,
    ) -> None:
        self._run = run
        self._scheduler = run.simulation.scheduler
        clock = run.cluster.clock
        assert isinstance(clock, VirtualClock), "runs are in virtual time"
        self._clock = clock
        self._workload = workload
        self._metrics = metrics
        # Metrics that only define `end` cost nothing before.
        self._arrive = _overriding(metrics, "arrive")
        self._step = _overriding(metrics, "step")
        self._time_passes = _overriding(metrics, "time_passes")
        self._turns_away = ""
        began = clock.now()
        self._horizon = period.horizon
        self._end = began + period.horizon
        self._warm = began + period.warm_up
        self._is_warm = not period.warm_up

    def play(self) -> dict[str, Measured]:
        forget = self._clock.before_moving(self._before_moving)
        try:
            for metric in self._metrics.values():
                metric.begin(self._run)
            self._attempt()
            for arrival in self._workload.arrivals:
                if arrival.at >= self._horizon:
                    break
                self._wait_for(arrival.at)
                self._let_in(arrival)
            self._end_moment()
            if self._horizon < math.inf:
                self._wait_for(self._horizon)
                self._end_moment()
            else:
                self._settle()
        finally:
            forget()
        return {name: metric.end(self._run) for name, metric in self._metrics.items()}

    def _settle(self) -> None:
        """Continue until no more changes come; an autoscaler must settle, too."""
        worker = self._run.simulation.autoscaler
        self._settle_pods()
        while worker is not None and not worker.is_settled:
            # Its timers are in the background, so they do not keep a run going.
            self._scheduler.queue.rest(False)
            self._scheduler.wait()
            self._scheduler.catch_up()
            self._attempt()
            self._settle_pods()

    def _settle_pods(self) -> None:
        while not self._scheduler.is_stuck and self._scheduler.pass_time():
            self._handle_due()

    def _wait_for(self, at: float) -> None:
        """Continue until a time."""
        ahead = at - self._run.now
        if ahead <= 0:
            return
        end = self._clock.now() + ahead
        # Only so that the clock stops at this moment.
        timer = self._clock.call_at(end, lambda: None)
        self._pass_time_until(end)
        timer.cancel()

    def _pass_time_until(self, end: float) -> None:
        """Let time pass until the clock is at a time for which a timer is set."""
        while self._clock.now() < end:
            self._scheduler.wait()
            self._handle_due()

    def _handle_due(self) -> None:
        """Handle everything that is due at this moment, and try pods."""
        self._attempt()

    def _end_moment(self) -> None:
        """Handle what is left to do at this moment, after the last arrival."""

    def _let_in(self, arrival: Arrival | Disruption) -> None:
        if isinstance(arrival, Disruption):
            # Metrics do not count it as an arrival.
            arrival.change.apply(self._run.simulation)
            self._attempt()
            return
        stored = self._run.create(arrival.made())
        if self._workload.turn_away and isinstance(stored, Pod):
            # Only the pod that has just arrived: one that loses its node later waits as
            # usual.
            self._turns_away = stored.metadata.uid
        self._attempt()
        for arrive in self._arrive:
            arrive(self._run)

    def _attempt(self) -> None:
        """Try all pods that are ready."""
        run = self._run
        if not self._step and not self._workload.turn_away:
            # Nothing reads the steps, so none is made.
            while not self._scheduler.is_stuck and run.try_next():
                pass
            return
        while not self._scheduler.is_stuck:
            step = run.attempt()
            if step is None:
                return
            # A pod with a nominated node waits for its victims to end.
            if step.outcome in _TURNED_AWAY and not step.nominated_node:
                self._turn_away(step)
            for note in self._step:
                note(run, step)

    def _turn_away(self, step: Step) -> None:
        if step.pod.metadata.uid == self._turns_away:
            self._run.delete(step.pod)

    def _before_moving(self) -> None:
        due, now = self._clock.next_due(), self._clock.now()
        if due is None or due <= now:
            return
        if not self._is_warm and due >= self._warm:
            self._is_warm = True
            for metric in self._metrics.values():
                # The clock jumps across the end of the warm-up, so the moment is
                # computed.
                metric.warm_up_ended(self._run, self._run.now + (self._warm - now))
        # Of a jump across the end of the warm-up, only the rest counts.
        seconds = due - max(now, self._warm) if self._is_warm else 0.0
        if seconds > 0:
            for note in self._time_passes:
                note(self._run, seconds)


class _ArrivalsFirst(_Drive):
    """A run in which arrivals come before everything else that is due.

    What is due happens one by one, and pods are tried after each, as in simulators with
    a list of events.
    """

    _release: Callable[[], bool] | None = None

    def _wait_for(self, at: float) -> None:
        if at > self._run.now:
            self._end_moment()
            super()._wait_for(at)

    def _pass_time_until(self, end: float) -> None:
        while self._clock.now() < end:
            self._scheduler.wait()
            self._release = self._clock.move_ahead_of(self._clock.now())
            # What is due at the end itself comes after the arrivals of that moment.
            if self._clock.now() < end:
                self._end_moment()

    def _handle_due(self) -> None:
        self._release = self._clock.move_ahead_of(self._clock.now())
        self._end_moment()

    def _end_moment(self) -> None:
        release, self._release = self._release, None
        while release is not None and release():
            self._attempt()


def _overriding(metrics: Mapping[str, Metric], name: str) -> list[Callable[..., None]]:
    """Return the methods of a name that the metrics override."""
    # Identity: an inherited method is the same function.
    return [
        getattr(metric, name)
        for metric in metrics.values()
        if getattr(type(metric), name) is not getattr(Metric, name)
    ]
