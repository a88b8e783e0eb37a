"""Runs scenarios: step after step, in virtual time."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, count, repeat
from typing import Final

import attrs

from quaymaster._api.objects.groups import PodGroup
from quaymaster._base.errors import Problem, counted
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.inmemory.pod_times import INSTANT_POD_TIMES, PodTimes
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.changes.change import Effect
from quaymaster._studies.scenarios.acting import Actor
from quaymaster._studies.scenarios.arrivals import arrivals
from quaymaster._studies.scenarios.checks import Assertion, Checks
from quaymaster._studies.scenarios.errors import ScenarioErrors
from quaymaster._studies.scenarios.intervals import Window
from quaymaster._studies.scenarios.judging import judge
from quaymaster._studies.scenarios.scenario import (
    AssertionResult,
    Scenario,
    ScenarioResult,
    StepResult,
)
from quaymaster._studies.scenarios.step_objects import step_problems
from quaymaster._studies.scenarios.taken import evictions_of
from quaymaster._studies.scenarios.tally import Tally
from quaymaster._studies.scenarios.verdicts import Events, Verdict, span
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.disruptions import Disruptions
from quaymaster._studies.simulation.history import History
from quaymaster._studies.simulation.observed_states import ObservedStates
from quaymaster._studies.simulation.results import ProgressFn
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.simulation.step_placements import (
    DEFAULT_TOPOLOGY_KEYS,
    PlacementTracker,
    StepPlacements,
)
from quaymaster._studies.simulation.stuck_rollouts import RolloutTracker, StuckRollout

__all__ = ["check_input", "run_scenario"]

_MOMENT: Final = 1e-6
_REASONS: Final = 3


def run_scenario(
    scenario: Scenario,
    *,
    registry: PluginRegistry | None = None,
    config: SchedulerConfig | None = None,
    seed: int | None = None,
    on_progress: ProgressFn | None = None,
    max_pods: int = MAX_PODS,
    observe: bool = False,
    topology_keys: Sequence[str] = DEFAULT_TOPOLOGY_KEYS,
    times: PodTimes | None = None,
    autoscaler: AutoscalerFactory | None = None,
) -> ScenarioResult:
    """Run a scenario in virtual time, and evaluate its assertions.

    Args:
        scenario: The scenario.
        registry: Where plugins are found by name; by default the installed plugins.
        config: The scheduler's configuration, instead of the scenario's own.
        seed: Decides what is random, instead of the scenario's own.
        on_progress: Called with the progress.
        max_pods: How many pods workloads may ask for in all.
        observe: Whether the result has ``observed``, as for `Simulation`.
        topology_keys: The node labels over whose values the pods of each workload are
            counted before and after each step.
        times: How long pods need to start and to end, instead of the scenario's own.
        autoscaler: Makes what adds and removes nodes; by default nothing does.

    Raises:
        ScenarioErrors: The objects of its input are invalid, or create too many pods.
        ProfileError: A profile's plugins cannot be built.
    """
    chosen = scenario.seed if seed is None else seed
    played = config or scenario.config
    cluster = _filled(
        scenario, chosen, max_pods, played.kubernetes, times or scenario.times
    )
    history = History(cluster)
    with Simulation(
        cluster,
        config=played,
        registry=registry,
        seed=chosen,
        observe=observe,
        autoscaler=autoscaler,
    ) as simulation:
        placements = PlacementTracker(history, topology_keys)
        states = ObservedStates(simulation if observe else None)
        run = _Run(
            scenario, chosen, simulation, history, placements, states, on_progress
        )
        run.play()
        seen = simulation.observed(scenario.name) if observe else None
        return attrs.evolve(run.result(), observed=seen, states=states.runs)


def check_input(scenario: Scenario) -> None:
    """Check that the objects of a scenario's input and of its steps can be stored.

    Raises:
        ScenarioErrors: They are invalid, or create too many pods.
    """
    kubernetes = scenario.config.kubernetes
    cluster = _filled(scenario, scenario.seed, MAX_PODS, kubernetes)
    problems = list(step_problems(scenario, cluster))
    if problems:
        raise ScenarioErrors(problems)


def _filled(
    scenario: Scenario,
    seed: int,
    max_pods: int,
    kubernetes: Kubernetes,
    times: PodTimes = INSTANT_POD_TIMES,
) -> InMemoryCluster:
    try:
        return filled_cluster(
            scenario.objects, seed, max_pods, kubernetes=kubernetes, times=times
        )
    except AdmissionError as error:
        raise ScenarioErrors(
            Problem(
                where=f"{scenario.file or scenario.name}: input ({problem.where})",
                path=problem.path,
                message=problem.message,
            )
            for problem in error.problems
        ) from error


class _Run:
    """A running scenario."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        simulation: Simulation,
        history: History,
        placements: PlacementTracker,
        states: ObservedStates,
        on_progress: ProgressFn | None,
    ) -> None:
        self._scenario = scenario
        self._seed = seed
        self._simulation = simulation
        self._history = history
        self._placements = placements
        self._placed: list[StepPlacements] = []
        self._states = states
        scaler = simulation.autoscaler
        self._disruptions = Disruptions(simulation.cluster) if scaler else None
        self._rollouts = RolloutTracker(simulation, history)
        self._stuck: list[tuple[StuckRollout, ...]] = []
        self._on_progress = on_progress
        self._results: list[AssertionResult] = []
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._sequence = count()
        self._actors = [
            Actor(step, index, part, scenario, seed, simulation)
            for index, (step, part) in enumerate(
                zip(scenario.steps, scenario.parts, strict=True)
            )
        ]

    def play(self) -> None:
        """Play all steps, and continue until the end."""
        begun, last = 0.0, "before"
        for actor in self._actors:
            step = actor.step
            if step.at is not None:
                # A step whose time has passed, because an earlier one lasted longer,
                # begins at once.
                begun = max(step.at.total_seconds(), self._simulation.now)
            elif step.after is not None:
                begun += step.after.total_seconds()
            if self._is_over(begun):
                break
            self._go_on(begun)
            # Before the next step acts: its placements belong to it, not to this one.
            self._end_step(last, is_settled=False)
            last = actor.name
            self._play(actor)
            begun = self._simulation.now
        self._finish()
        self._end_step(last, is_settled=self._scenario.until is None)

    def result(self) -> ScenarioResult:
        """Evaluate the assertions, and return the result."""
        scenario, events = self._scenario, self._events()
        results = [
            _named(assertion, judge(assertion, events, _window(assertion, events.end)))
            for assertion in scenario.assertions
        ]
        return ScenarioResult(
            name=scenario.name,
            file=scenario.file,
            seed=self._seed,
            assertions=(*self._results, *results),
            steps=tuple(self._step_results()),
            ended=events.end,
            simulation=self._simulation.result(),
            history=self._history,
            stuck_rollouts=self._stuck[-1],
        )

    def _end_step(self, name: str, *, is_settled: bool) -> None:
        """Record the placements of a step, the stuck rollouts, and the state."""
        self._states.look(name)
        self._placed.append(self._placements.take())
        self._stuck.append(self._rollouts.take(is_settled=is_settled))

    def _step_results(self) -> Iterator[StepResult]:
        """Return the result of each step, with the placements of its pods."""
        # The first entries are those before the first step.
        placements = chain(self._placed[1:], repeat(StepPlacements()))
        rollouts = chain(self._stuck[1:], repeat(()))
        for actor, step, stuck in zip(self._actors, placements, rollouts, strict=False):
            yield attrs.evolve(
                actor.result(),
                placed=step.placed,
                spread=step.spread,
                stuck_rollouts=stuck,
            )

    def _play(self, actor: Actor) -> None:
        step = actor.step
        if step.wait_until is not None:
            actor.note_time()
            self._wait(actor, step.wait_until, step.wait_until.timeout.total_seconds())
            actor.note_end()
        elif step.check is not None:
            actor.note_time()
            verdict = judge(step.check, self._events(), None)
            self._results.append(_result(actor.name, self._with_reasons(verdict)))
        elif step.repeat is not None:
            begun = self._simulation.now
            self._repeat(actor, begun, arrivals(step.repeat, actor.stream))
        else:
            self._act(actor)

    def _act(self, actor: Actor) -> None:
        actor.act()
        step = actor.step
        failure = step.fail_nodes or step.fail_zone
        if failure is not None and failure.back_after is not None and actor.lost:
            back = self._simulation.now + failure.back_after.total_seconds()
            # A copy, since the next repetition of the step replaces the list.
            self._call_at(back, partial(actor.bring_back, tuple(actor.lost)))

    # Times are drawn one by one: a process without an end cannot be listed.
    def _repeat(self, actor: Actor, begun: float, times: Iterator[float]) -> None:
        """Schedule the next repetition of a step."""
        time = next(times, None)
        if time is None:
            return

        def happen() -> None:
            self._act(actor)
            self._repeat(actor, begun, times)

        self._call_at(begun + time, happen)

    def _wait(self, actor: Actor, condition: Checks, timeout: float) -> None:
        simulation = self._simulation
        begun = simulation.now
        deadline = begun + timeout
        if self._scenario.until is not None:
            deadline = min(deadline, self._scenario.until)
        verdict = judge(condition, self._events(), None)
        tally, seen = Tally(self._history, condition), self._history.changes
        while not verdict.holds and simulation.now < deadline:
            # From moment to moment, since the condition can only change when something
            # happens.
            self._go_on(min(deadline, self._next_moment()))
            self._history.catch_up()
            is_over = simulation.now >= deadline
            # The full judgement reads the whole history; the tally is a cheap test that
            # rules most moments out.
            if is_over or (self._history.changes != seen and tally.may_hold()):
                verdict = judge(condition, self._events(), None)
            seen = self._history.changes
        now = simulation.now
        expected = f"{verdict.expected}, within {span(timeout)}"
        if verdict.holds:
            text = f"{verdict.found}; waited for {span(now - begun)}"
            verdict = attrs.evolve(verdict, expected=expected, found=text)
        else:
            verdict = attrs.evolve(verdict, expected=expected, failed_at=now)
        self._results.append(_result(actor.name, self._with_reasons(verdict)))

    def _with_reasons(self, verdict: Verdict) -> Verdict:
        """Add the current reasons why the pods that fail a condition have no node."""
        blamed = set(verdict.objects)
        waiting = [
            pod
            for pod in self._simulation.result().unscheduled
            if not verdict.holds and pod.pod in blamed
        ]
        if not waiting:
            return verdict
        reasons = Counter(", ".join(pod.reasons) or pod.message for pod in waiting)
        listed = "; ".join(
            f"{counted(number, 'pod')}: {reason}"
            for reason, number in reasons.most_common(_REASONS)
        )
        return attrs.evolve(verdict, found=f"{verdict.found} ({listed})")

    def _next_moment(self) -> float:
        """Return the next time at which anything may happen."""
        simulation = self._simulation
        due = simulation.cluster.clock.next_due()
        times = [self._due[0][0]] if self._due else []
        if due is not None:
            times.append(simulation.now + due - simulation.cluster.clock.now())
        # A moment ahead at least: a timer that is due now would keep the clock where it
        # is.
        return max(min(times, default=float("inf")), simulation.now + _MOMENT)

    def _finish(self) -> None:
        scenario = self._scenario
        if scenario.until is not None:
            self._go_on(scenario.until)
        else:
            while self._due:
                self._go_on(self._due[0][0])
            # An assertion about a later time needs the history until then.
            self._go_on(max(map(_last_time, scenario.assertions), default=0.0))
            # After the last step: what follows from it belongs to the result.
            self._simulation.settle()
        self._history.catch_up()

    def _go_on(self, time: float) -> None:
        """Run everything that is due until a time; do nothing for the past."""
        while self._due and self._due[0][0] <= time:
            due, _, call = heapq.heappop(self._due)
            # The simulation first reaches the time of the call, which may be later than
            # the last event.
            self._simulation.run_until(due)
            call()
            self._report_progress()
        self._simulation.run_until(max(time, self._simulation.now))
        self._report_progress()

    def _call_at(self, time: float, call: Callable[[], None]) -> None:
        # By the number, calls at the same time keep their order, and are never
        # compared.
        heapq.heappush(self._due, (time, next(self._sequence), call))

    def _is_over(self, time: float) -> bool:
        until = self._scenario.until
        return until is not None and max(time, self._simulation.now) > until

    def _events(self) -> Events:
        """Return the history so far."""
        self._history.catch_up()
        effects: list[Effect] = [
            effect for actor in self._actors for effect in actor.effects
        ]
        preempted = self._simulation.preempted
        scaler, scaled = self._simulation.autoscaler, self._disruptions
        disruptions = scaled.so_far() if scaled is not None else ()
        return Events(
            history=self._history,
            evictions=evictions_of(self._history, effects, preempted, disruptions),
            end=self._simulation.now,
            quorums=self._quorums(),
            autoscaled=scaler.nodes() if scaler is not None else None,
        )

    def _quorums(self) -> dict[str, int] | None:
        """Return the quorum of each PodGroup that there is; None without the gate."""
        simulation = self._simulation
        if not simulation.config.kubernetes.enabled("GenericWorkload"):
            return None
        groups = simulation.cluster.list(PodGroup).items
        return {group.key: group.min_count for group in groups}

    def _report_progress(self) -> None:
        if self._on_progress is not None:
            self._on_progress(self._history.placed, len(self._history.pods))


def _last_time(assertion: Assertion) -> float:
    by = None if assertion.placed is None else assertion.placed.by
    times = [
        time
        for time in (assertion.at, assertion.since, assertion.to, by)
        if time is not None
    ]
    return max((time.total_seconds() for time in times), default=0.0)


def _window(assertion: Assertion, end: float) -> Window | None:
    if assertion.at is not None:
        return Window(
            since=assertion.at.total_seconds(), to=assertion.at.total_seconds()
        )
    if assertion.since is None and assertion.to is None:
        return None
    since = 0.0 if assertion.since is None else assertion.since.total_seconds()
    return Window(
        since=since, to=end if assertion.to is None else assertion.to.total_seconds()
    )


def _named(assertion: Assertion, verdict: Verdict) -> AssertionResult:
    return _result(assertion.name or verdict.expected, verdict)


def _result(name: str, verdict: Verdict) -> AssertionResult:
    return AssertionResult(
        name=name,
        passed=verdict.holds,
        expected=verdict.expected,
        found=verdict.found,
        failed_at=verdict.failed_at,
        objects=verdict.objects,
    )
