"""Runs histories, and shrinks those that break an invariant."""

import re
from collections import Counter
from collections.abc import Sequence

import attrs

from tests.chaos.kinds import HISTORIES
from tests.chaos.scale import few_rows
from tests.chaos.steps import Step

__all__ = ["Outcome", "replay", "script", "shrink"]


@attrs.frozen(kw_only=True)
class Outcome:
    """The outcome of a history.

    Attributes:
        violation: The broken invariant, or an empty text.
        counts: The number of steps, and how often each kind of fault happened.
    """

    violation: str
    counts: Counter[str]


def replay(
    seed: int, steps: Sequence[Step], version: str = "1.36", kind: str = "pods"
) -> Outcome:
    """Run one history from its steps; an exception counts as a violation, too.

    Args:
        seed: See `Machine`.
        steps: The steps.
        version: The version of Kubernetes.
        kind: The kind of history; see `tests.chaos.kinds`.
    """
    machine = HISTORIES[kind].make(seed, version)
    taken = 0
    violation = ""
    with machine.alarms.listening(), few_rows(machine.few_rows):
        try:
            for step in steps:
                taken += 1
                machine.run(step)
            machine.finish()
        except Exception as error:
            violation = f"{type(error).__name__}: {error}"
    return Outcome(violation=violation, counts=machine.counts + Counter(steps=taken))


def shrink(
    seed: int, steps: Sequence[Step], version: str = "1.36", kind: str = "pods"
) -> Sequence[Step]:
    """Remove steps as long as the same violation remains, longest sequences first."""
    violation = _without_names(replay(seed, steps, version, kind).violation)
    best = list(steps)
    size = len(best) // 2
    while size:
        start, before = 0, len(best)
        while start < len(best):
            fewer = best[:start] + best[start + size :]
            found = replay(seed, fewer, version, kind).violation
            if _without_names(found) == violation:
                best = fewer
            else:
                start += size
        if size > 1 or len(best) == before:
            size //= 2
    return best


def script(
    seed: int, steps: Sequence[Step], version: str = "1.36", kind: str = "pods"
) -> str:
    """Return a program that runs a history again, from the repository's root."""
    lines = "".join(f"    {step!r},\n" for step in steps)
    return (
        "from tests.chaos.run import replay\n\n"
        f"steps = [\n{lines}]\n"
        f"print(replay({seed}, steps, {version!r}, {kind!r}).violation)\n"
    )


def _without_names(violation: str) -> str:
    """Return a violation without the names of pods and nodes, and without numbers."""
    return re.sub(r"(?:[a-z]+/)?(?:pod|node|claim)-\d+|\d+", "", violation)
