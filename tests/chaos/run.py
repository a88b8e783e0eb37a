"""Run histories, and shrink those that break an invariant."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import attrs

from quaymaster.testing import Fault
from tests.chaos.machine import Machine
from tests.chaos.steps import Step

__all__ = ["Outcome", "quiet", "replay", "script", "shrink"]


@attrs.frozen(kw_only=True)
class Outcome:
    """How a history went.

    Attributes:
        violation: What broke, or empty.
        steps: How many steps were taken.
        faults: How often each fault happened.
    """

    violation: str
    steps: int
    faults: Counter[Fault]


def replay(seed: int, steps: Sequence[Step]) -> Outcome:
    """Run one history from its steps; an exception is a violation, too."""
    machine = Machine(seed)
    taken = 0
    violation = ""
    try:
        for step in steps:
            taken += 1
            machine.run(step)
        machine.finish()
    except Exception as error:
        violation = f"{type(error).__name__}: {error}"
    return Outcome(violation=violation, steps=taken, faults=machine.faults.counts)


def shrink(seed: int, steps: Sequence[Step]) -> Sequence[Step]:
    """Drop steps as long as some violation remains, longest runs first."""
    best = list(steps)
    size = len(best) // 2
    while size:
        start = 0
        while start < len(best):
            fewer = best[:start] + best[start + size :]
            if replay(seed, fewer).violation:
                best = fewer
            else:
                start += size
        size //= 2
    return best


def script(seed: int, steps: Sequence[Step]) -> str:
    """The text of a program that runs a history again, from the repository's root."""
    lines = "".join(f"    {step!r},\n" for step in steps)
    return (
        "from tests.chaos.run import replay\n\n"
        f"steps = [\n{lines}]\n"
        f"print(replay({seed}, steps).violation)\n"
    )


@contextmanager
def quiet() -> Iterator[None]:
    """Keep failures that are part of a history out of the log."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
