"""Controllers, kubelets and admission do what those of a real control plane did."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

from tests.conformance.front import run
from tests.world.cases import FILES, Tree, family_of, read_cases
from tests.world.compare_courses import course_differences
from tests.world.conformance import WORLD
from tests.world.judge import answer_to, differences
from tests.world.listed import on_page

CASES: Final = {
    case["id"]: case for file in FILES.values() for case in read_cases(file)
}
EXCUSED: Final = frozenset(on_page())


def first_of_each_family(count: int) -> list[str]:
    by_family: defaultdict[str, list[str]] = defaultdict(list)
    for name, case in CASES.items():
        if name not in EXCUSED:
            by_family[family_of(case)].append(name)
    return [name for names in by_family.values() for name in names[:count]]


def test_there_are_recordings_of_every_family() -> None:
    assert len(CASES) > 1300
    assert len({family_of(case) for case in CASES.values()}) > 40


@pytest.mark.parametrize("name", first_of_each_family(2))
def test_first_cases_of_each_family_are_as_recorded(name: str) -> None:
    assert differences(CASES[name]) == []


@pytest.mark.long
def test_all_cases_but_the_listed_ones_are_as_recorded() -> None:
    texts = {name: differences(case) for name, case in CASES.items()}
    unexpected = {
        name: text for name, text in texts.items() if text and name not in EXCUSED
    }
    assert unexpected == {}
    assert sorted(name for name in EXCUSED if not texts[name]) == []


def test_no_case_is_listed_twice() -> None:
    assert len(on_page()) == len(EXCUSED)


def write(path: Path, *cases: Tree) -> Path:
    path.write_text("\n".join(map(json.dumps, cases)))
    return path


def test_emit_prints_an_answer_that_equals_the_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [first_of_each_family(1)[0], first_of_each_family(1)[-1]]
    cases = [CASES[name] for name in names]
    assert run(WORLD, ["emit", str(write(tmp_path / "cases.jsonl", *cases))]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["id"] for answer in answers] == names
    assert list(course_differences(cases[0], answers[0])) == []


def test_check_prints_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[first_of_each_family(1)[0]]
    states = [*case["course"], {"at": 90, "pods": {"more app:1": {"ready": 1}}}]
    changed = {**case, "course": states}
    assert run(WORLD, ["check", str(write(tmp_path / "cases.jsonl", changed))]) == 1
    out = capsys.readouterr().out
    assert 'expected {"more app:1": {"ready": 1}} got null' in out
    assert "cases: 1 differs" in out


@pytest.mark.long
def test_case_with_left_out_states_may_have_three_more() -> None:
    case = CASES[first_of_each_family(1)[0]]
    loose = {**case, "loose": True, "course": case["course"][-1:]}
    assert len(case["course"]) < 5
    assert list(course_differences(loose, answer_to(case))) == []
    more = {**loose, "course": []}
    assert (
        list(course_differences({**more, "skip": ["answers"]}, answer_to(case))) == []
    )
