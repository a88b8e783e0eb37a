"""A scenario that is ready to run, and its result."""

from collections.abc import Sequence
from pathlib import Path

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._base.displayed import Tabular
from quaymaster._base.notices import Notice
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES, PodTimes
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._studies.scenarios.checks import Assertion
from quaymaster._studies.scenarios.model import Step
from quaymaster._studies.scenarios.templates import Template
from quaymaster._studies.simulation.history import History
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.step_placements import PlacedPod, WorkloadSpread
from quaymaster._studies.simulation.stuck_rollouts import StuckRollout

__all__ = ["AssertionResult", "Scenario", "ScenarioResult", "StepPart", "StepResult"]


@attrs.frozen(kw_only=True, eq=False)
class StepPart:
    """What a step needs from other files.

    Attributes:
        templates: The objects that it creates.
        objects: The objects that it applies.
        run_times: Measured run times, in seconds.
        config: The configuration with which it lets the scheduler continue.
    """

    templates: Sequence[Template] = ()
    objects: Sequence[ApiObject] = ()
    run_times: Sequence[float] = ()
    config: SchedulerConfig | None = None


@attrs.frozen(kw_only=True, eq=False)
class Scenario:
    """A scenario with the content of all files that it names.

    Attributes:
        name: Its name.
        file: Its path; empty if it was not read from a file.
        description: A description.
        config: The scheduler's configuration.
        seed: The seed of random choices.
        objects: The objects at the start.
        times: How long pods need to start and to end.
        until: When it ends, in seconds since the beginning; None: once all is done.
        steps: The steps, in order.
        parts: What each step needs from other files, in the same order.
        assertions: The assertions.
        kinds: The kinds that plugins declare, in addition to Kubernetes' own.
        notices: What was left out or assumed while reading.
    """

    name: str
    file: str = ""
    description: str = ""
    config: SchedulerConfig = attrs.field(repr=False)
    seed: int = 0
    objects: Sequence[ApiObject] = attrs.field(default=(), repr=False)
    times: PodTimes = DEFAULT_POD_TIMES
    until: float | None = None
    steps: Sequence[Step] = ()
    parts: Sequence[StepPart] = attrs.field(default=(), repr=False)
    assertions: Sequence[Assertion] = ()
    kinds: Sequence[type[ApiObject]] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder that other files are relative to."""
        return Path(self.file).parent


@attrs.frozen(kw_only=True)
class AssertionResult:
    """The result of an assertion, of a check, or of a wait.

    Attributes:
        name: Its name.
        passed: Whether it held.
        expected: What was expected, in words.
        found: What was found, in words.
        failed_at: When it failed first, in seconds since the beginning; None if not.
        objects: The pods (``namespace/name``) or nodes (``node/name``) it failed for.
    """

    name: str
    passed: bool
    expected: str
    found: str
    failed_at: float | None = None
    objects: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class StepResult:
    """The result of a step.

    Attributes:
        name: Its name.
        action: Its action: the key in the file.
        began: When it happened first, in seconds since the beginning; None if the
            scenario ended before.
        ended: When it happened last, when its wait was over, or when its drains and
            rotations were done.
        took: How long that was, in seconds; None if it did not happen, or if a drain
            was not done at the end.
        times: How often it happened.
        objects: How many objects it created, changed or deleted.
        evicted: How many pods its drains evicted.
        lost: How many pods were lost together with their nodes.
        refused: The messages of the cluster's rejections, each with its number.
        may_fail: Whether rejections are allowed.
        notes: What else a user should know.
        placed: The pods that got a node before the next step began, or the end, and
            still had it then; by workload and key.
        spread: For each workload whose pods came or went in that time, the number of
            pods per topology domain before and after.
        stuck_rollouts: The rollouts that were not complete and made no progress when
            the next step began, or at the end.
    """

    name: str
    action: str
    began: float | None = None
    ended: float | None = None
    took: float | None = None
    times: int = 0
    objects: int = 0
    evicted: int = 0
    lost: int = 0
    refused: tuple[tuple[str, int], ...] = ()
    may_fail: bool = False
    notes: tuple[str, ...] = ()
    placed: tuple[PlacedPod, ...] = ()
    spread: tuple[WorkloadSpread, ...] = ()
    stuck_rollouts: tuple[StuckRollout, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing was rejected, or rejections are allowed."""
        return self.may_fail or not self.refused


@attrs.frozen(kw_only=True)
class ScenarioResult(Tabular):
    """The result of a scenario. Times are seconds since the beginning.

    Attributes:
        name: The name of the scenario.
        file: Its path; empty if it was not read from a file.
        seed: The seed of its random choices.
        assertions: The results of waits and checks, in the order of the steps, then
            those of the assertions, in their order.
        steps: The results of the steps.
        ended: When it ended.
        simulation: The placements, and why other pods have no node.
        history: The history of every pod and node.
        stuck_rollouts: The rollouts that are not complete and make no progress at the
            end.
        observed: The observed run for a report; None unless requested.
        states: The observed run before the first step, and after each step until the
            next one began; of long scenarios of large clusters only the last ones.
            Empty unless requested.
    """

    name: str
    file: str = ""
    seed: int = 0
    assertions: tuple[AssertionResult, ...]
    steps: tuple[StepResult, ...]
    ended: float
    simulation: SimulationResult
    history: History = attrs.field(repr=False, eq=False)
    stuck_rollouts: tuple[StuckRollout, ...] = ()
    observed: ObservedRun | None = attrs.field(default=None, repr=False, eq=False)
    states: tuple[ObservedRun, ...] = attrs.field(default=(), repr=False, eq=False)

    @property
    def passed(self) -> bool:
        """Whether all conditions hold and every step succeeded."""
        held = all(assertion.passed for assertion in self.assertions)
        return held and all(step.passed for step in self.steps)
