"""Reads traces: a configuration, operations, and the states of upstream's queue."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from quaymaster.config import Kubernetes

__all__ = ["DATA", "FAMILIES", "Case", "Json", "read_cases", "read_family"]

DATA = Path(__file__).parent / "data"

FAMILIES = sorted(file.name.split(".")[0] for file in DATA.glob("*.jsonl.gz"))

Json: TypeAlias = Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Case:
    """One trace.

    Attributes:
        case_id: ``family-number``.
        config: The queue's configuration and its plugins.
        operations: The operations, in order.
        expected: The state after each operation; empty if the file has none.
        kubernetes: The version of Kubernetes.
    """

    case_id: str
    config: Json
    operations: Sequence[Json]
    expected: Sequence[Json]
    kubernetes: Kubernetes

    @property
    def has_two_queues(self) -> bool:
        """Whether upstream has one pod in two queues, which is a defect."""
        return any("inTwoQueues" in result for result in self.expected)


def read_cases(file: Path, version: str = "1.36") -> Iterator[Case]:
    """Read the traces of one family.

    Args:
        file: The file, in upstream's form.
        version: The version of Kubernetes.
    """
    kubernetes = Kubernetes(version)
    for record in _lines(file):
        case = record["case"]
        yield Case(
            case_id=case["id"],
            config=case["config"],
            operations=case["ops"],
            expected=record.get("expect", {}).get("results", ()),
            kubernetes=kubernetes,
        )


def read_family(family: str, version: str) -> Iterator[Case]:
    """Read the stored traces of one family, as a version plays them.

    The file of a newer version has its differences from 1.36: for each trace, the
    fields of each state that differ.

    Args:
        family: One of `FAMILIES`.
        version: The version of Kubernetes.
    """
    name = f"{family}.jsonl.gz"
    cases = read_cases(DATA / name, version)
    if version == "1.36":
        yield from cases
        return
    for case, record in zip(cases, _lines(DATA / version / name), strict=True):
        assert case.case_id == record["id"]
        expected = list(case.expected)
        for step, fields in record["changes"]:
            expected[step] = {**expected[step], **fields}
        yield attrs.evolve(case, expected=expected)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
