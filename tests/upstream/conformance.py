"""The calls of Kubernetes' own unit tests as a recorded set."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.conformance.recorded_set import RecordedSet
from tests.kit.internals.testing import Json, RecordedCase, read_cases
from tests.upstream.families import DATA, PLAYED, family_of, play
from tests.upstream.judge import outcomes
from tests.upstream.listed import is_random, reason_of

__all__ = ["UPSTREAM"]


def _stored(_version: str) -> Iterator[RecordedCase]:
    for file in PLAYED:
        yield from read_cases(DATA / f"{file}.jsonl.gz")


def _answer(case: RecordedCase) -> Json:
    """Return our answers; null for calls that are not played, or listed with a reason.

    What is random is null, too: the form of an answer has no way to leave it out.
    """
    answers = [
        _emitted(case, call, played)
        for call, played in zip(case.calls, play(case), strict=True)
    ]
    return {"id": case.name, "answers": answers}


def _emitted(case: RecordedCase, call: Json, played: Json | str) -> Json | None:
    if isinstance(played, str) or is_random(call) or reason_of(case, call):
        return None
    return played


def _read(path: Path, _version: str) -> Iterator[RecordedCase]:
    """Read the cases of a file; they may lack the recorded answers, to emit ours."""
    open_text = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as lines:
        yield from read_cases(map(_with_answers, map(json.loads, lines)))


def _with_answers(record: Json) -> Json:
    unknown: list[Json] = [{} for _ in record["case"]["calls"]]
    return {"expect": {"answers": unknown}, **record}


UPSTREAM: Final = RecordedSet(
    name="upstream",
    read=_read,
    stored=_stored,
    versions=("1.37",),
    family_of=family_of,
    answer=_answer,
    outcomes=outcomes,
    unit="calls",
)
