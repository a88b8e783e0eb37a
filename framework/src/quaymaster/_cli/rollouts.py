"""Prints rollouts that are stuck."""

from collections.abc import Iterable
from typing import Final

from quaymaster._cli.columns import Columns
from quaymaster._cli.output import print_line
from quaymaster._cli.results import duration
from quaymaster._studies.simulation.stuck_rollouts import StuckRollout

__all__ = ["STUCK", "print_stuck"]

_REASON: Final = ": "
"""In a message, what separates the number of pods from the reason."""

STUCK: Final = Columns[StuckRollout](
    *("namespace", "workload", "seconds", "pending", "message", "exceededDeadline")
)
"""What documents have about stuck rollouts; times are in seconds."""


def print_stuck(
    steps: Iterable[tuple[str, Iterable[StuckRollout]]],
    at_end: Iterable[StuckRollout],
) -> None:
    """Print each rollout that was stuck after a step or is stuck at last.

    Rollouts that are stuck for the same reason are listed below it.

    Args:
        steps: What to print before the lines of each step, and the rollouts that were
            stuck when it had ended.
        at_end: The rollouts that are stuck at the end; they are not printed for steps.
    """
    at_end = list(at_end)
    names = {_name(rollout) for rollout in at_end}
    for prefix, rollouts in steps:
        others = [rollout for rollout in rollouts if _name(rollout) not in names]
        _print_rollouts(others, f"{prefix}: ")
    _print_rollouts(at_end, "")


def _print_rollouts(rollouts: Iterable[StuckRollout], prefix: str) -> None:
    by_reason: dict[str, list[StuckRollout]] = {}
    for rollout in rollouts:
        _, _, reason = rollout.message.partition(_REASON)
        by_reason.setdefault(reason or rollout.message, []).append(rollout)
    for reason, group in by_reason.items():
        if len(group) == 1:
            [rollout] = group
            print_line(f"{prefix}Rollout of {_times(rollout)}: {rollout.message}")
            continue
        print_line(f"{prefix}{len(group)} rollouts stuck: {reason}")
        for rollout in group:
            pods, has_reason, _ = rollout.message.partition(_REASON)
            print_line(f"  {_times(rollout)}" + (f": {pods}" if has_reason else ""))


def _name(rollout: StuckRollout) -> tuple[str, str]:
    return rollout.namespace, rollout.workload


def _times(rollout: StuckRollout) -> str:
    place = ""
    if rollout.namespace != "default":
        place = f" in namespace {rollout.namespace}"
    # A step ends when nothing more happens, which may be the moment that it got stuck.
    times = f"stuck for {duration(rollout.seconds)}" if rollout.seconds else "stuck"
    if rollout.exceeded_deadline:
        times += ", exceeded its progress deadline"
    return f"{rollout.workload}{place} {times}"
