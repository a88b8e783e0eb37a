"""The command that prints our results for recorded selectors."""

import json
from pathlib import Path

import pytest

from tests.cel.__main__ import main
from tests.cel.cases import RECORDED, read_cases
from tests.cel.emit import emitted


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
    cases = [case for case, _ in read_cases(RECORDED)]
    assert [json.loads(line) for line in lines] == [emitted(case) for case in cases]
