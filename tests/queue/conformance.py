"""The histories of upstream's queue as a recorded set."""

from collections.abc import Iterator
from typing import Any, Final

from quaymaster.config import KUBERNETES_VERSIONS
from tests.conformance.recorded_set import Outcome, RecordedSet
from tests.queue.cases import FAMILIES, Case, read_cases, read_family
from tests.queue.differences import first_difference
from tests.queue.player import play

__all__ = ["QUEUE"]

_DEFECT: Final = "upstream has a pod in two queues"


def _stored(version: str) -> Iterator[Case]:
    for family in FAMILIES:
        yield from read_family(family, version)


def _answer(case: Case) -> dict[str, Any]:
    return {"id": case.case_id, "results": list(play(case))}


def _outcomes(case: Case) -> Iterator[Outcome]:
    reason = _DEFECT if case.has_two_queues else ""
    yield Outcome.of(first_difference(case) or "", reason)


QUEUE: Final = RecordedSet(
    name="queue",
    read=read_cases,
    stored=_stored,
    versions=KUBERNETES_VERSIONS,
    family_of=lambda case: case.case_id.rpartition("-")[0],
    answer=_answer,
    outcomes=_outcomes,
)
