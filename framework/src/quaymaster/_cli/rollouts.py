"""Prints rollouts that are stuck."""

from collections.abc import Iterable
from typing import Final

from quaymaster._cli.columns import Columns
from quaymaster._cli.output import print_line
from quaymaster._cli.results import duration
from quaymaster._studies.simulation.stuck_rollouts import StuckRollout

__all__ = ["STUCK", "print_stuck"]


STUCK: Final = Columns[StuckRollout](
    *("namespace", "workload", "seconds", "pending", "message", "exceededDeadline")
)
"""What documents have about stuck rollouts; times are in seconds."""


def print_stuck(
    steps: Iterable[tuple[str, Iterable[StuckRollout]]],
    at_end: Iterable[StuckRollout],
) -> None:
    """Print one line for each rollout that was stuck after a step or is stuck at last.

    Args:
        steps: What to print before the lines of each step, and the rollouts that were
            stuck when it had ended.
        at_end: The rollouts that are stuck at the end; they are not printed for steps.
    """
    at_end = list(at_end)
    names = {_name(rollout) for rollout in at_end}
    for prefix, rollouts in steps:
        for rollout in rollouts:
            if _name(rollout) not in names:
                print_line(f"{prefix}: {_text(rollout)}")
    for rollout in at_end:
        print_line(_text(rollout))


def _name(rollout: StuckRollout) -> tuple[str, str]:
    return rollout.namespace, rollout.workload


def _text(rollout: StuckRollout) -> str:
    place = ""
    if rollout.namespace != "default":
        place = f" in namespace {rollout.namespace}"
    # A step ends when nothing more happens, which may be the moment that it got stuck.
    times = f"stuck for {duration(rollout.seconds)}" if rollout.seconds else "stuck"
    if rollout.exceeded_deadline:
        times += ", exceeded its progress deadline"
    return f"Rollout of {rollout.workload}{place} {times}: {rollout.message}"
