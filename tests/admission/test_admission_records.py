"""We store and reject the objects that a real API server stored and rejected."""

import gzip
import json
from pathlib import Path
from typing import Final

import pytest

from tests.admission.cases import DATA, Case, read_cases
from tests.admission.compare import differences, is_about_others, unlike_paths
from tests.admission.conformance import ADMISSION
from tests.admission.listed import NOT_CHECKED
from tests.admission.ours import Outcome, admit
from tests.conformance.front import run

CASES: Final = [case for case in read_cases(DATA) if not is_about_others(case)]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """Return our outcome for each of the objects."""
    return {case.id: admit(case.submitted) for case in CASES}


def test_there_are_enough_records() -> None:
    assert len(CASES) > 300
    assert {case.id for case in CASES} >= NOT_CHECKED.keys()


@pytest.mark.long
def test_stored_and_refused_as_by_a_real_server(outcomes: dict[str, Outcome]) -> None:
    differing = {}
    for case in CASES:
        found = differences(case, outcomes[case.id])
        if found and case.id not in NOT_CHECKED:
            differing[case.id] = found
    assert differing == {}


@pytest.mark.parametrize("identity", NOT_CHECKED)
def test_what_is_listed_as_not_checked_is_not(
    identity: str, outcomes: dict[str, Outcome]
) -> None:
    (case,) = (case for case in CASES if case.id == identity)
    assert differences(case, outcomes[identity])


def test_refusals_name_the_same_fields(outcomes: dict[str, Outcome]) -> None:
    unlike = {
        case.id: found
        for case in CASES
        if (found := unlike_paths(case, outcomes[case.id]))
    }
    assert unlike == {}


def pod_case(name: str, **spec: object) -> Case:
    tree = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }
    return Case(id=name, submitted=tree)


def test_emit_prints_one_line_a_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [pod_case("right"), pod_case("wrong", hostNetwork="yes")]
    lines = [json.dumps({"id": c.id, "submitted": c.submitted}) for c in cases]
    file = tmp_path / "cases.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert run(ADMISSION, ["emit", str(file)]) == 0
    right, wrong = map(json.loads, capsys.readouterr().out.splitlines())
    assert right["stored"]["spec"]["schedulerName"] == "default-scheduler"
    assert wrong == {
        "id": "wrong",
        "refused": "spec.hostNetwork: expected true or false, got 'yes'",
    }


def test_check_tells_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = {**pod_case("other").submitted, "spec": {"restartPolicy": "Never"}}
    cases = [
        {"id": "other", "submitted": pod_case("other").submitted, "stored": stored},
        {"id": "refused", "submitted": pod_case("a").submitted, "status": 422}
        | {"refused": 'Pod "a" is invalid: spec.priority: Invalid value: 5: no'},
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, cases)))
    assert run(ADMISSION, ["check", str(file)]) == 1
    out = capsys.readouterr().out
    assert "other: .spec.restartPolicy: 'Never' there, 'Always' here" in out
    assert "refused: we store it" in out
    assert "cases: 2 differs" in out
