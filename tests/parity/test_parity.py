"""Recorded decisions of the built-in plugins: by hooks, by twins, without a cache."""

from collections.abc import Mapping
from itertools import islice, product
from typing import Final

import pytest

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
"""The number of cases of large families. Mixed cases are large and combine the other
families. ``python -m tests.parity check`` plays all 150.
"""


_FEW: Final = 40
"""The number of cases of a family that are played by scalar hooks for a later version.
In most plugins the agreement of hooks and twins does not depend on the version.
"""


_STEP: Final = 15
"""Besides the first cases, every case with this distance is played without a cache.
``python -m tests.parity check --path plain`` plays all of them.
"""

_RUNS: Final[Mapping[str, tuple[slice, Path]]] = {
    "first-scalar": (slice(0, _FIRST), "scalar"),
    "first-twin": (slice(0, _FIRST), "twin"),
    "first-plain": (slice(0, _FIRST), "plain"),
    "rest-scalar": (slice(_FIRST, None), "scalar"),
    "rest-twin": (slice(_FIRST, None), "twin"),
    "more-plain": (slice(_FIRST, _PLAIN), "plain"),
    "rest-plain": (slice(_STEP - 1, None, _STEP), "plain"),
}


@pytest.mark.parametrize(
    ("part", "path"),
    [
        pytest.param(*run, id=name, marks=[] if "first" in name else [pytest.mark.long])
        for name, run in _RUNS.items()
    ],
)
@pytest.mark.parametrize(
    ("family", "version"),
    [
        pytest.param(*pair, marks=[pytest.mark.long] if pair[0] in _LARGE else [])
        for pair in (
            *product(DEVICE_FAMILIES, ["1.36"]),
            *product(FAMILIES, KUBERNETES_VERSIONS),
        )
    ],
)
def test_decisions_are_those_of_kube_scheduler(
    family: str, version: str, part: slice, path: Path
) -> None:
    most = _MOST.get(family)
    if version != "1.36" and path == "scalar":
        most = most or _FEW
    cases = islice(recorded(family, version), part.start, part.stop or most, part.step)
    (report,) = check_cases(cases, PluginRegistry.discover(), [path])
    assert report.family == family
    assert report.covered == report.cases > 0
    assert not report.tally.differences, "\n".join(report.lines(differences=3))
