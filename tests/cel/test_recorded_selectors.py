"""Every recorded selector, on every device that upstream asked it about."""

import json
from pathlib import Path

import pytest

from tests.cel.__main__ import main
from tests.cel.cases import RECORDED, Json, read_cases
from tests.cel.emit import emitted

CASES = list(read_cases(RECORDED))


@pytest.mark.parametrize(
    ("case", "expect"),
    [pytest.param(*each, id=each[0]["id"]) for each in CASES],
)
def test_selector_says_what_upstream_says(case: Json, expect: Json) -> None:
    ours = emitted(case)
    if "compileError" in expect:
        assert "compileError" in ours, case["expression"]
        return
    assert "compileError" not in ours, (case["expression"], ours)
    assert ours["maxCost"] == expect["maxCost"], case["expression"]
    for device, theirs, found in zip(
        case["devices"], expect["results"], ours["results"], strict=True
    ):
        # Errors are compared as errors, their texts are not.
        same = theirs == found or (isinstance(theirs, str) and isinstance(found, str))
        assert same, (case["expression"], device, theirs, found)


def test_file_that_is_missing_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["emit", str(tmp_path / "none.gz")])
    assert stopped.value.code == 2
    assert "none.gz: " in capsys.readouterr().err


@pytest.mark.long
def test_results_are_printed_in_the_order_of_the_cases(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["emit"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [emitted(case) for case, _ in CASES]
