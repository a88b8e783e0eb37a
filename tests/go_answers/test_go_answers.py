"""Our parsers give Go's answers, on the recorded texts."""

import gzip
import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.go_answers.comparing import is_same, our_answer
from tests.go_answers.texts import KINDS, questions

DATA: Final = Path(__file__).parent / "data"


def answers(kind: str) -> list[tuple[str, Any]]:
    content = gzip.decompress((DATA / f"{kind}.jsonl.gz").read_bytes())
    return [(text, answer) for text, answer in map(json.loads, content.splitlines())]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_go(kind: str) -> None:
    records = answers(kind)
    (question, *_) = questions(kind, 1, 0)
    assert len(records) > 500
    for text, go in records:
        question["text"] = text
        ours = our_answer(question)
        assert is_same(question, go, ours), (text, go, ours)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_accepted_and_rejected(kind: str) -> None:
    results = [answer for _, answer in answers(kind)]
    rejected = results.count(None)
    assert len(results) / 20 < rejected < len(results) * 9 / 10
