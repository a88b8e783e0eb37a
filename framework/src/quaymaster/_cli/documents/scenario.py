"""The result of ``scenario``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.autoscaler import AutoscalerPart
from quaymaster._cli.documents.parts import (
    DocumentPart,
    PlacedPart,
    SpreadPart,
    StuckRolloutPart,
    WarningPart,
)

__all__ = [
    "AssertionPart",
    "PendingPodPart",
    "RefusedPart",
    "ScenarioDocument",
    "ScenarioStepPart",
    "ScenarioSummary",
]


class AssertionPart(DocumentPart, frozen=True):
    """The result of an assertion, of a check, or of a wait.

    Attributes:
        passed: Whether it held.
        name: Its name.
        expected: What was expected, in words.
        found: What was found, in words.
        failed_at: When it failed first, in seconds since the beginning; null if not.
        objects: The pods and nodes that it failed for.
    """

    passed: bool
    name: str
    expected: str
    found: str
    failed_at: float | None
    objects: list[str]


class RefusedPart(DocumentPart, frozen=True):
    """A rejection by the cluster.

    Attributes:
        message: The message.
        times: How often it occurred.
    """

    message: str
    times: int


class ScenarioStepPart(DocumentPart, frozen=True):
    """The result of a step. Times are seconds since the beginning.

    Attributes:
        name: Its name.
        action: Its action: the key in the file.
        passed: Whether nothing was refused, or may be.
        began: When it happened first; null if the scenario ended before.
        ended: When it happened last, or when its work was done.
        took: How long that was; null if it did not happen or was not done.
        times: How often it happened.
        objects: How many objects it created, changed or deleted.
        evicted: How many pods its drains evicted.
        lost: How many pods were lost together with their nodes.
        refused: The rejections by the cluster.
        notes: What else a user should know.
        placed: The pods that got a node, and still had it when the next step began.
        spread: The number of pods per topology domain before and after.
        stuck_rollouts: The rollouts that made no progress when the next step began.
    """

    name: str
    action: str
    passed: bool
    began: float | None
    ended: float | None
    took: float | None
    times: int
    objects: int
    evicted: int
    lost: int
    refused: list[RefusedPart]
    notes: list[str]
    placed: list[PlacedPart]
    spread: list[SpreadPart]
    stuck_rollouts: list[StuckRolloutPart]


class PendingPodPart(DocumentPart, frozen=True):
    """A pod without a node at the end.

    Attributes:
        pod: Its namespace and name.
        reason: One word, as in the condition PodScheduled.
        message: Why, in upstream's words.
    """

    pod: str
    reason: str
    message: str


class ScenarioSummary(DocumentPart, frozen=True):
    """The numbers of a scenario.

    Attributes:
        ended: When it ended, in seconds since the beginning.
        pods: How many pods there were, deleted ones included.
        placed: How many of them got a node.
        unscheduled: How many pods have no node at the end.
        preempted: How many pods were preempted.
        nodes: How many nodes there are at the end.
    """

    ended: float
    pods: int
    placed: int
    unscheduled: int
    preempted: int
    nodes: int


class ScenarioDocument(DocumentPart, frozen=True):
    """The result of one scenario; ``scenario run -o json`` prints a list of them.

    Attributes:
        scenario: The name of the scenario.
        file: Its path.
        seed: The seed of its random choices.
        passed: Whether everything held.
        assertions: The results of waits, checks and assertions.
        steps: The results of the steps.
        unscheduled: The pods without a node at the end.
        stuck_rollouts: The rollouts that make no progress at the end.
        summary: The numbers of the scenario.
        warnings: What was left out or assumed.
        autoscaler: The nodes that came and went, with --autoscaler.
    """

    scenario: str
    file: str
    seed: int
    passed: bool
    assertions: list[AssertionPart]
    steps: list[ScenarioStepPart]
    unscheduled: list[PendingPodPart]
    stuck_rollouts: list[StuckRolloutPart]
    summary: ScenarioSummary
    warnings: list[WarningPart]
    autoscaler: AutoscalerPart | UnsetType = UNSET
