"""The texts of expressions with several errors, as cel-go v0.29 reports them."""

import gzip
import json
from pathlib import Path
from typing import Final

import pytest

from kubernetes_cel import CelCompilationError, compile_selector

DATA: Final = Path(__file__).parent / "data" / "error_texts.jsonl.gz"
RECORDS: Final = [*map(json.loads, gzip.decompress(DATA.read_bytes()).splitlines())]


@pytest.mark.parametrize("record", RECORDS, ids=lambda each: each["expression"])
def test_all_errors_have_the_recorded_texts(record: dict[str, str]) -> None:
    with pytest.raises(CelCompilationError) as rejection:
        compile_selector(record["expression"])
    assert rejection.value.detail == record["detail"]


def test_errors_beyond_the_first_100_are_counted() -> None:
    text = " && ".join(f"x{number}" for number in range(130))
    with pytest.raises(CelCompilationError) as rejection:
        compile_selector(text)
    error = rejection.value
    assert (error.line, error.column, len(error.further)) == (1, 1, 99)
    assert error.detail.endswith("\n30 more errors were truncated")
