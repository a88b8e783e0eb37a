"""Recorded decisions of the built-in plugins: by hooks, by twins, without a cache."""

import math
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Final, get_args

import pytest
from _pytest.mark import ParameterSet

from quaymaster.config import KUBERNETES_VERSIONS
from quaymaster.scheduler import PluginRegistry
from tests.parity.cluster import Path
from tests.parity.families import DEVICE_FAMILIES, FAMILIES
from tests.parity.recorded import recorded
from tests.parity.report import check_cases

_FIRST = 2
"""The number of cases of a family in every run; all of them take minutes."""

_PLAIN = 5
"""The number of first cases that the long run plays without a cache."""

_LARGE: Final = {"dra_prioritized_list", "mixed"}
"""Families whose single cases exceed the budget of a test."""

_MOST: Final = {"mixed": 15}
"""The number of cases of large families in the long suite. Mixed cases are large and
combine the other families.
"""

_FEW: Final = 40
"""The number of first cases of a family that the long suite plays by scalar hooks, one
of two or, with two versions, one of four.
"""

_STEP: Final = 15
"""Besides the first cases, every case with this distance is played without a cache.
``python -m tests.parity check --path plain`` plays all of them.
"""

_LAST: Final = slice(_FEW, None)
"""The cases that scalar hooks play at night."""

_LONG_RUNS: Final[Sequence[tuple[str, slice, Path]]] = (
    ("more-plain", slice(_FIRST, _PLAIN), "plain"),
    ("rest-plain", slice(_STEP - 1, None, _STEP), "plain"),
)


def _runs() -> Iterator[ParameterSet]:
    """Yield the runs of all families.

    The long suite plays every second case, with one of the versions if there are
    records of several; the nightly suite plays the rest.
    """
    for family in DEVICE_FAMILIES:
        yield from _version_runs(family, "1.36", parts=2, chosen=0)
    for family, (index, version) in product(FAMILIES, enumerate(KUBERNETES_VERSIONS)):
        yield from _version_runs(family, version, parts=4, chosen=2 * index)


def _version_runs(
    family: str, version: str, *, parts: int, chosen: int
) -> Iterator[ParameterSet]:
    """Yield the runs of the records of one version.

    Args:
        family: The family.
        version: The version.
        parts: Into how many parts the cases after the first are divided.
        chosen: The part that the long suite plays.
    """
    yield from _first_runs(family, version)
    yield from _long_runs(family, version)
    for index in range(parts):
        mark = "long" if index == chosen else "nightly"
        part, few = (slice(_FIRST + index, end, parts) for end in (None, _FEW))
        name = f"part{index}"
        yield _run(family, version, f"{name}-twin", part, "twin", mark=mark)
        yield _run(family, version, f"{name}-scalar", few, "scalar", mark=mark)
    yield _run(family, version, "last-scalar", _LAST, "scalar", mark="nightly")


def _first_runs(family: str, version: str) -> Iterator[ParameterSet]:
    """Yield the runs of the first cases, on all paths."""
    part, mark = slice(0, _FIRST), "long" if family in _LARGE else ""
    for path in get_args(Path):
        yield _run(family, version, f"first-{path}", part, path, mark=mark)


def _long_runs(family: str, version: str) -> Iterator[ParameterSet]:
    for name, part, path in _LONG_RUNS:
        yield _run(family, version, name, part, path, mark="long")


def _run(
    family: str, version: str, name: str, part: slice, path: Path, *, mark: str
) -> ParameterSet:
    if mark == "long" and family in _MOST:
        part = slice(part.start, min(part.stop or math.inf, _MOST[family]), part.step)
    return pytest.param(
        family,
        version,
        part,
        path,
        id=f"{family}-{version}-{name}",
        marks=[getattr(pytest.mark, mark)] if mark else [],
    )


@pytest.mark.parametrize(("family", "version", "part", "path"), list(_runs()))
def test_decisions_are_those_of_kube_scheduler(
    family: str, version: str, part: slice, path: Path
) -> None:
    cases = islice(recorded(family, version), part.start, part.stop, part.step)
    (report,) = check_cases(cases, PluginRegistry.discover(), [path])
    assert report.family == family
    assert report.covered == report.cases > 0
    assert not report.tally.differences, "\n".join(report.lines(differences=3))
