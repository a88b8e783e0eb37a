"""Timed stations, for the attempts that are measured in detail."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from quaymaster._api.objects import Pod
from quaymaster._core.binding.stations import BindingStations, PausedPreBind
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PostFilterResult
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import FitError, Unfit
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.cycle.filtering import Filters, KindOnNode
from quaymaster._core.cycle.post_filter import PostFilterStation
from quaymaster._core.cycle.pre_filter import PreFilterOutcome
from quaymaster._core.cycle.scoring import Ranking, Scores
from quaymaster._core.runtime.measured_hooks import RunHere, status_label
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._core.state.arrays import Rows

__all__ = ["PointTimes", "measured_algorithm", "measured_stations"]

T = TypeVar("T")


class PointTimes:
    """Measures the extension points of one profile.

    Args:
        metrics: Records the times.
        profile: The profile's name.
        run_here: Runs a call on the engine's thread; may be called from any thread.
    """

    def __init__(
        self, metrics: SchedulerMetrics, profile: str, run_here: RunHere
    ) -> None:
        self.states = metrics.sampling.states
        self._metrics = metrics
        self._profile = profile
        self._run_here = run_here

    def take(
        self,
        point: str,
        call: Callable[[], T],
        status: Callable[[T], str] = status_label,
    ) -> T:
        """Make a call at an extension point, and record its duration."""
        weight = self._metrics.sampling.weight
        start = self._metrics.now()
        answer = call()
        seconds = self._metrics.now() - start
        labels = (point, status(answer), self._profile)
        self._run_here(lambda: self._metrics.points[labels].observe(seconds, weight))
        return answer


class _TimedFilters:
    """Implements `Filters`."""

    def __init__(self, inner: Filters, times: PointTimes) -> None:
        self._inner = inner
        self._times = times
        self.has_unfit = False

    def known_unfit(self, _attempt: Attempt) -> None:
        """Return None: each extension point is measured."""

    def unfit(self, attempt: Attempt, outcome: FitError) -> Unfit:
        return self._inner.unfit(attempt, outcome)

    def kind_on_node(self, attempt: Attempt) -> KindOnNode | None:
        return self._inner.kind_on_node(attempt)

    def prepare(self, attempt: Attempt) -> PreFilterOutcome:
        return self._times.take(
            "PreFilter",
            lambda: self._inner.prepare(attempt),
            lambda outcome: status_label(outcome.status),
        )

    def passing(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        return self._times.take("Filter", lambda: self._inner.passing(attempt, rows))


class _TimedScores:
    """Implements `Scores`."""

    def __init__(self, inner: Scores, times: PointTimes) -> None:
        self._inner = inner
        self._times = times

    def prepare(self, attempt: Attempt, rows: Rows) -> Status | None:
        return self._times.take("PreScore", lambda: self._inner.prepare(attempt, rows))

    def ranking(self, attempt: Attempt, rows: Rows) -> Ranking | Status:
        return self._times.take("Score", lambda: self._inner.ranking(attempt, rows))


class _TimedPostFilter(PostFilterStation):
    def __init__(self, inner: PostFilterStation, times: PointTimes) -> None:
        vars(self).update(vars(inner))  # for what is not timed
        self._inner = inner
        self._times = times

    def __bool__(self) -> bool:
        return bool(self._inner)

    def run(
        self,
        state: CycleState,
        pod: Pod,
        diagnosis: Diagnosis,
        answers: list[PostFilterResult],
    ) -> PostFilterResult:
        return self._times.take(
            "PostFilter", lambda: self._inner.run(state, pod, diagnosis, answers)
        )


def measured_algorithm(algorithm: Algorithm, times: PointTimes) -> Algorithm:
    """Return the same algorithm, with the same memo, and timed stations."""
    filters = _TimedFilters(algorithm.filters, times)
    other = algorithm.with_stations(filters, _TimedScores(algorithm.scores, times))
    other.post_filter = _TimedPostFilter(algorithm.post_filter, times)
    return other


def measured_stations(stations: BindingStations, times: PointTimes) -> BindingStations:
    """Return the same stations from Reserve to PostBind, timed."""
    return _TimedStations(stations, times)


class _TimedStations(BindingStations):
    def __init__(self, inner: BindingStations, times: PointTimes) -> None:
        vars(self).update(vars(inner))  # for what is not timed
        self._inner = inner
        self._times = times

    def is_idle(self, _state: CycleState) -> bool:
        """Return False: each extension point is measured, even without plugins."""
        return False

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self._times.take(
            "Reserve", lambda: self._inner.reserve(state, pod, node_name)
        )

    def unreserve(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> Sequence[Status]:
        return self._times.take(
            "Unreserve", lambda: self._inner.unreserve(state, pod, node_name)
        )

    def permit(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> Mapping[str, float] | Status:
        return self._times.take(
            "Permit",
            lambda: self._inner.permit(state, pod, node_name),
            lambda answer: (
                Code.WAIT.label
                if answer and not isinstance(answer, Status)
                else status_label(answer)
            ),
        )

    def pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self._times.take(
            "PreBindPreFlight", lambda: self._inner.pre_flight(state, pod, node_name)
        )

    def pre_bind(
        self, state: CycleState, pod: Pod, node_name: str, start: int = 0
    ) -> PausedPreBind | Status | None:
        return self._watched(
            "PreBind", state, lambda: self._inner.pre_bind(state, pod, node_name, start)
        )

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self._watched(
            "Bind", state, lambda: self._inner.bind(state, pod, node_name)
        )

    def post_bind(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> Sequence[Status]:
        return self._times.take(
            "PostBind", lambda: self._inner.post_bind(state, pod, node_name)
        )

    def _watched(self, point: str, state: CycleState, call: Callable[[], T]) -> T:
        """Time a call and its plugins, which may run outside the engine's thread."""
        states = self._times.states
        states.add(id(state))
        try:
            return self._times.take(point, call)
        finally:
            states.discard(id(state))
