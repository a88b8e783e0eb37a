"""The calls of Kubernetes' own unit tests as a recorded set."""

from collections.abc import Iterator
from typing import Final

from tests.conformance.recorded_set import RecordedSet
from tests.kit.internals.testing import Json, RecordedCase, read_cases
from tests.upstream.families import DATA, PLAYED, family_of, play
from tests.upstream.judge import outcomes

__all__ = ["UPSTREAM"]


def _stored(_version: str) -> Iterator[RecordedCase]:
    for file in PLAYED:
        yield from read_cases(DATA / f"{file}.jsonl.gz")


def _answer(case: RecordedCase) -> Json:
    answers = [None if isinstance(played, str) else played for played in play(case)]
    return {"id": case.name, "answers": answers}


UPSTREAM: Final = RecordedSet(
    name="upstream",
    read=lambda path, _version: read_cases(path),
    stored=_stored,
    versions=("1.37",),
    family_of=family_of,
    answer=_answer,
    outcomes=outcomes,
    unit="calls",
)
