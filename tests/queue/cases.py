"""Reads traces: a configuration, operations, and the states of upstream's queue."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

__all__ = ["DATA", "Case", "Json", "read_cases"]

DATA = Path(__file__).parent / "data"

Json: TypeAlias = Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Case:
    """One trace.

    Attributes:
        case_id: ``family-number``.
        config: The queue's configuration and its plugins.
        operations: What happens, in order.
        expected: The state after each operation.
    """

    case_id: str
    config: Json
    operations: Sequence[Json]
    expected: Sequence[Json]


def read_cases(file: Path) -> Iterator[Case]:
    """Read the traces of one family."""
    with gzip.open(file, "rt") as lines:
        for line in lines:
            record = json.loads(line)
            case = record["case"]
            yield Case(
                case_id=case["id"],
                config=case["config"],
                operations=case["ops"],
                expected=record.get("expect", {}).get("results", ()),
            )
