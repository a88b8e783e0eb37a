"""The errors of tests whose pods are not where they should be."""

from collections.abc import Iterable, Iterator

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.options import HookError
from quaymaster._core.cycle.explanation import Explanation, NodeScores

__all__ = ["ScheduleError", "UnexpectedHookErrors", "diagnosis"]


class ScheduleError(QuaymasterError, AssertionError):
    """A pod is not where a test expects it; the message explains its attempt.

    `SchedulerHarness.assert_scheduled` and `SchedulerHarness.assert_pending` raise it.
    """


class UnexpectedHookErrors(QuaymasterError, AssertionError):
    """Hooks failed, and the test does not expect it.

    The fixture ``scheduler`` raises it at the end of a test, as
    `SchedulerHarness.assert_no_errors` does.

    Attributes:
        errors: The failures.
    """

    def __init__(self, errors: Iterable[HookError]) -> None:
        self.errors = tuple(errors)
        lines = [
            f"{error.plugin}.{error.hook}"
            + (f" for pod {error.pod}" if error.pod else "")
            + f": {describe_exception(error.error)}"
            for error in self.errors
        ]
        text = "\n  ".join(dict.fromkeys(lines))
        super().__init__(f"hooks failed that the test does not expect:\n  {text}")


def diagnosis(explanation: Explanation) -> str:
    """Return the answer of each plugin for each node, a node a line."""
    lines = list(_lines(explanation))
    return "\n".join(f"  {line}" for line in lines)


def _lines(explanation: Explanation) -> Iterator[str]:
    if explanation.message:
        yield explanation.message
    if explanation.status is not None:
        yield f"{explanation.status.code.label}: {explanation.status.message}"
    for rejected in explanation.rejections:
        why = ", ".join(rejected.reasons)
        who = rejected.plugin or "PreFilter"
        yield f"node {rejected.node}: {who} says {rejected.code.label}: {why}"
    for scores in explanation.scores:
        yield f"node {scores.node}: {_scored(scores)}"


def _scored(scores: NodeScores) -> str:
    parts = " + ".join(
        f"{plugin} {score.weighted} (raw {score.raw})"
        for plugin, score in scores.plugins.items()
    )
    return f"{scores.total} = {parts}" if parts else "passes"
