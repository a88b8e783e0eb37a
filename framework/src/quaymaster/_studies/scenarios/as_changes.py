"""Converts the steps of a scenario to changes, to report the effect of each."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import attrs

from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._studies.changes.change import ChangeError, ClusterChange, Effect
from quaymaster._studies.scenarios.acting import Actor
from quaymaster._studies.scenarios.arrivals import arrivals
from quaymaster._studies.scenarios.model import ACTIONS
from quaymaster._studies.scenarios.scenario import Scenario
from quaymaster._studies.simulation.run import Simulation

__all__ = ["changes_of", "notices_of_left_out"]

_NO_CHANGES = ("wait_until", "check")


def changes_of(scenario: Scenario, *, seed: int | None = None) -> list[ClusterChange]:
    """Return the steps of a scenario as changes, in their order.

    Each is made at its time: at the step's ``at``, or ``after`` the previous step, and
    at once if that time is over. Repetitions of a step, and nodes that return, belong
    to that step. Steps that wait or check change nothing and are left out.

    Args:
        scenario: The scenario.
        seed: Decides what is random, instead of the scenario's own.
    """
    course = _Course(scenario, scenario.seed if seed is None else seed)
    return [
        _StepChange(course, index)
        for index, step in enumerate(scenario.steps)
        if step.action not in _NO_CHANGES
    ]


def notices_of_left_out(scenario: Scenario) -> Sequence[Notice]:
    """Return notices about the parts of a scenario that are not changes."""
    left = [
        ACTIONS[step.action] for step in scenario.steps if step.action in _NO_CHANGES
    ]
    left += ["assertions"] if scenario.assertions else []
    left += ["until"] if scenario.until is not None else []
    if not left:
        return ()
    names = ", ".join(dict.fromkeys(left))
    message = f"left out: {names}; 'quaymaster scenario run' plays the whole scenario"
    return (Notice(reason=NoticeReason.LEFT_OUT, where=scenario.file, message=message),)


@attrs.define
class _Course:
    """The progress of the steps of a scenario.

    Attributes:
        scenario: The scenario.
        seed: Decides what is random.
        begun: When the last step was made, in seconds since the beginning.
    """

    scenario: Scenario
    seed: int
    begun: float = 0.0

    def next_time(self, index: int, now: float) -> float:
        """Return the time of a step: now, or later."""
        step = self.scenario.steps[index]
        if step.at is not None:
            return max(now, step.at.total_seconds())
        if step.after is not None:
            return max(now, self.begun + step.after.total_seconds())
        return now


class _StepChange:
    """A step as a change.

    Args:
        course: The progress of the steps.
        index: The step's number.
    """

    def __init__(self, course: _Course, index: int) -> None:
        self._course = course
        self._index = index
        self._step = course.scenario.steps[index]
        self._noted: dict[str, None] = {}

    def __str__(self) -> str:
        action = ACTIONS[self._step.action]
        return self._step.name or f"{action} (steps[{self._index}])"

    def apply(self, simulation: Simulation) -> Effect:
        """Wait for the step's time, and make it; see `ClusterChange.apply`.

        Raises:
            ChangeError: The cluster rejects it, and the step may not fail.
        """
        course, step = self._course, self._step
        scenario = course.scenario
        simulation.run_until(course.next_time(self._index, simulation.now))
        course.begun = simulation.now
        part = scenario.parts[self._index]
        actor = Actor(step, self._index, part, scenario, course.seed, simulation)
        effect = Effect(change=str(self), at=simulation.now)
        if step.repeat is None:
            self._act(actor, effect, simulation)
        else:
            times = arrivals(step.repeat, actor.stream)
            self._repeat(actor, effect, simulation, times)
        return effect

    def _repeat(
        self,
        actor: Actor,
        effect: Effect,
        simulation: Simulation,
        times: Iterator[float],
    ) -> None:
        """Schedule the next repetition of the step."""
        time = next(times, None)
        if time is None:
            return

        def happen() -> None:
            self._act(actor, effect, simulation)
            self._repeat(actor, effect, simulation, times)

        _call_at(simulation, effect.at + time, happen)

    def _act(self, actor: Actor, effect: Effect, simulation: Simulation) -> None:
        before = len(actor.effects)
        actor.act()
        effects = actor.effects[before:]
        for part in effects:
            effect.take_in(part)
        if not self._step.name and self._step.repeat is None and effects:
            effect.change = ", ".join(part.change for part in effects)
        self._note_refused(actor, effect)
        failure = self._step.fail_nodes or self._step.fail_zone
        if failure is not None and failure.back_after is not None and actor.lost:
            back = simulation.now + failure.back_after.total_seconds()
            lost = tuple(actor.lost)
            _call_at(simulation, back, partial(actor.bring_back, lost))

    def _note_refused(self, actor: Actor, effect: Effect) -> None:
        for message, _ in actor.result().refused:
            if message in self._noted:
                continue
            if not self._step.may_fail and self._step.repeat is None:
                file = self._course.scenario.file or self._course.scenario.name
                action = ACTIONS[self._step.action]
                place = f"{file}: steps[{self._index}].{action}"
                raise ChangeError(place, message)
            self._noted[message] = None
            effect.notes.append(f"refused: {message}")


def _call_at(simulation: Simulation, time: float, call: Callable[[], None]) -> None:
    clock = simulation.cluster.clock
    clock.call_at(clock.now() + time - simulation.now, call)
