"""Plays one fault in the middle of one burst."""

import time
from contextlib import nullcontext, suppress
from typing import Final

import attrs

from tests.e2e.faults.faults import Fault
from tests.e2e.faults.stage import Stage
from tests.e2e.faults.verdict import longest_parting, problems
from tests.e2e.processes import ProcessError

__all__ = ["Outcome", "play"]

_WITHIN: Final = 120.0  # seconds for the rest of the burst, after the fault


@attrs.frozen(kw_only=True)
class Outcome:
    """The result of a fault.

    Attributes:
        problems: The broken invariants; empty if there are none.
        bound_before: The number of bound pods when it began.
        lasted: The seconds of the fault itself.
        until_first: The seconds from its end until the next pod was bound.
        until_all: The seconds from its end until all were bound.
        refused: The number of refused requests to bind.
        restarts: The number of restarts of schedulers.
        longest_parting: The longest time, in seconds, in which a gang was only partly
            bound.
    """

    problems: list[str]
    bound_before: int
    lasted: float
    until_first: float
    until_all: float
    refused: int
    restarts: int
    longest_parting: float

    def __str__(self) -> str:
        said = (
            f"at {self.bound_before} bound, lasted {self.lasted:.1f} s, "
            f"first bound after {self.until_first:.1f} s, all after "
            f"{self.until_all:.1f} s, {self.refused} refused, {self.restarts} restarts"
        )
        if self.longest_parting:
            said += f", gangs partly bound for {self.longest_parting:.1f} s"
        return f"{said}: {'; '.join(self.problems[:5]) or 'fine'}"


def play(stage: Stage, fault: Fault) -> Outcome:
    """Play a fault on a stage whose schedulers run."""
    restarts = sum(replica.restarts for replica in stage.replicas)
    with stage.burst():
        found: list[str] = []
        begun = over = time.time()
        before = 0
        try:
            stage.wait_mid_burst()
            before, begun = stage.bound(), time.time()
            fault.play(stage)
            over = time.time()
            stage.wait_all_bound(_WITHIN)
            with suppress(ProcessError) if fault.kills else nullcontext():
                stage.wait_all_reported()
        except ProcessError as error:
            found.append(str(error))
        found += problems(stage, may_lack_conditions=fault.kills)
        binds = stage.record.read().binds
        size = stage.gang_size
        parting = longest_parting(stage.record, size) if size else 0.0
    after = [bind.answered - over for bind in binds if bind.is_done]
    anew = [bind.received - over for bind in binds if bind.is_done]
    return Outcome(
        problems=found,
        bound_before=before,
        lasted=over - begun,
        until_first=min((each for each in anew if each > 0), default=0.0),
        until_all=max((0.0, *after)),
        refused=sum(not bind.is_done for bind in binds),
        restarts=sum(replica.restarts for replica in stage.replicas) - restarts,
        longest_parting=parting,
    )
