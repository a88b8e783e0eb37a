"""One table shows all recorded sets, for both versions of Kubernetes."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.conformance.__main__ import main
from tests.conformance.front import run
from tests.conformance.recorded_set import Outcome
from tests.conformance.sets import SETS
from tests.conformance.table import RELEASES, Row, rows, table


@pytest.fixture
def few_histories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the set ``queue`` have two cases of one family, one of which differs."""

    def outcomes(case: str) -> Iterator[Outcome]:
        yield Outcome.of("" if case == "equal" else f"{case}: other pods")

    queue = attrs.evolve(
        SETS["queue"],
        stored=lambda version: ["equal", f"differs-{version}"],
        family_of=lambda _case: "basic",
        outcomes=outcomes,
    )
    monkeypatch.setattr("tests.conformance.table.SETS", {**SETS, "queue": queue})


@pytest.mark.usefixtures("few_histories")
def test_table_has_a_row_for_each_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["queue", "karpenter"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "| set | Kubernetes | cases | equal | listed | differs | not played |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| queue | 1.36.2 | 2 | 1 | 0 | 1 | 0 |",
        "| queue | 1.37.2 | 2 | 1 | 0 | 1 | 0 |",
        "| karpenter | | | | | | issue 37 |",
        "differs-1.36: other pods",
        "differs-1.37: other pods",
    ]


@pytest.mark.usefixtures("few_histories")
def test_quick_run_plays_the_first_case_of_each_family(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["queue", "--quick"]) == 0
    assert "| queue | 1.37.2 | 1 | 1 | 0 | 0 | 0 |" in capsys.readouterr().out


def test_unknown_set_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["queues"])
    assert "expected one of parity, devices, queue" in capsys.readouterr().err


def test_row_names_what_is_counted_if_that_is_not_cases() -> None:
    row = Row("upstream (calls)", "1.37.2", 2, Counter({"equal": 1200, "listed": 1}))
    (*_, line) = table([row])
    assert line == "| upstream (calls) | 1.37.2 | 2 | 1,200 | 1 | 0 | 0 |"


def test_every_version_of_a_set_names_its_release() -> None:
    versions = {version for recorded in SETS.values() for version in recorded.versions}
    assert versions == RELEASES.keys()


@pytest.mark.nightly
def test_first_cases_of_all_sets_are_equal_or_listed() -> None:
    played = list(rows(is_quick=True))
    assert [text for row in played for text in row.texts] == []
    assert {row.name for row in played} >= {"parity", "world", "upstream (calls)"}


def failing_case(case: str) -> dict[str, str]:
    return {"id": case, "text": {"works": "yes"}[case]}


@pytest.mark.parametrize("command", ["emit", "check"])
def test_a_case_that_fails_does_not_end_the_others(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def outcomes(case: str) -> Iterator[Outcome]:
        yield Outcome.of(failing_case(case)["text"].removeprefix("yes"))

    recorded = attrs.evolve(
        SETS["queue"],
        read=lambda _path, _version: ["broken", "works"],
        family_of=lambda _case: "basic",
        answer=failing_case,
        outcomes=outcomes,
    )
    assert run(recorded, [command, str(tmp_path)]) == 1
    printed, errors = capsys.readouterr()
    assert "case 1: KeyError('broken')" in printed + errors
    assert "works" in printed or "1 equal" in printed
