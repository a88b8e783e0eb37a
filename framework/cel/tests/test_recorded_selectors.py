"""Every recorded selector, on every device for which upstream recorded a result."""

import gzip
import json
from pathlib import Path
from typing import Any, Final

import pytest

from kubernetes_cel import (
    CelCompilationError,
    CelEvaluationError,
    Selector,
    compile_selector,
    device_environment,
    device_value,
)

ENVIRONMENT: Final = device_environment("1.36")
DATA: Final = Path(__file__).parent / "data" / "selectors.jsonl.gz"
RECORDS: Final = [*map(json.loads, gzip.decompress(DATA.read_bytes()).splitlines())]
COMPILED: Final = [record for record in RECORDS if "results" in record["expect"]]
REJECTED: Final = [record for record in RECORDS if "compileError" in record["expect"]]


def name_of(record: dict[str, Any]) -> str:
    return str(record["case"]["id"])


def verdict(selector: Selector, driver: str, device: dict[str, Any]) -> bool | None:
    """Whether a device matches, or None for an error: messages are not compared."""
    try:
        return selector.matches(device_value(driver, device, list_attributes=False))
    except CelEvaluationError:
        return None


def test_every_record_is_tested() -> None:
    assert len(COMPILED) + len(REJECTED) == len(RECORDS) > 0


@pytest.mark.parametrize("record", COMPILED, ids=name_of)
def test_selector_has_the_recorded_cost_and_results(record: dict[str, Any]) -> None:
    case, expect = record["case"], record["expect"]
    selector = compile_selector(case["expression"], ENVIRONMENT)
    assert selector.max_cost == expect["maxCost"]
    verdicts = [verdict(selector, case["driver"], device) for device in case["devices"]]
    recorded = [None if isinstance(each, str) else each for each in expect["results"]]
    assert verdicts == recorded


@pytest.mark.parametrize("record", REJECTED, ids=name_of)
def test_selector_that_upstream_rejects_is_rejected(record: dict[str, Any]) -> None:
    with pytest.raises(CelCompilationError):
        compile_selector(record["case"]["expression"], ENVIRONMENT)
