"""The recorded cases of the suite, as each version of Kubernetes decided them.

All versions decided the same cases. The files have the decisions of 1.36 in full, and
those of later versions as merge patches (RFC 7386), one for the case and one for each
of its pods.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from quaymaster.config import Kubernetes
from tests.parity.cases import Case, Json, read_cases

__all__ = ["recorded"]

_DATA: Final = Path(__file__).parent / "data"
_FIRST: Final = "1.36"


def recorded(family: str, version: str = _FIRST) -> Iterator[Case]:
    """Read the cases of a family, one case at a time.

    Args:
        family: The family.
        version: The version of Kubernetes.
    """
    (file,) = _DATA.glob(f"{family}.jsonl.*")
    cases = read_cases(file)
    return cases if version == _FIRST else _patched(cases, family, version)


def _patched(cases: Iterator[Case], family: str, version: str) -> Iterator[Case]:
    kubernetes = Kubernetes(version)
    with gzip.open(_DATA / version / f"{family}.jsonl.gz", "rt") as lines:
        for case, line in zip(cases, lines, strict=True):
            patch = json.loads(line)
            assert patch["id"] == case.case_id
            assert case.expect is not None
            expect = _merged(case.expect, patch["expect"])
            if "pods" in expect:
                pods = zip(expect["pods"], patch["pods"], strict=True)
                expect["pods"] = [_merged(pod, change) for pod, change in pods]
            yield attrs.evolve(case, expect=expect, kubernetes=kubernetes)


def _merged(whole: Json, patch: Json) -> Json:
    merged = dict(whole)
    for key, value in patch.items():
        if value is None:
            del merged[key]
        elif isinstance(value, dict):
            merged[key] = _merged(merged.get(key, {}), value)
        else:
            merged[key] = value
    return merged
