"""Recorded decisions of the built-in plugins: by scalar hooks, twins, and no memo."""

from collections.abc import Mapping
from itertools import islice, product
from typing import Final

import pytest

from quaymaster.config import KUBERNETES_VERSIONS
from quaymaster.scheduler import PluginRegistry
from tests.parity.cluster import Path
from tests.parity.recorded import recorded
from tests.parity.report import check_cases

_DEVICES: Final = (
    "dra_admin_access",
    "dra_basic",
    "dra_binding_conditions",
    "dra_constraints",
    "dra_consumable_capacity",
    "dra_extended_resource",
    "dra_mixed",
    "dra_partitionable",
    "dra_prioritized_list",
    "dra_scope",
    "dra_selectors",
    "dra_taints",
)
"""These were recorded with 1.36 alone."""

_FAMILIES: Final = (
    "balanced_allocation",
    "image_locality",
    "inter_pod_affinity",
    "mixed",
    "node_affinity",
    "node_declared_features",
    "node_ports",
    "node_resources_fit",
    "node_unschedulable_name",
    "nominated",
    "pod_topology_spread",
    "preemption",
    "profiles",
    "scheduling_gates",
    "taint_toleration",
    "volume_binding",
    "volume_limits",
    "volume_restrictions",
    "volume_zone",
)
_FIRST = 2
"""How many cases of a family every run plays; all of them take minutes."""

_PLAIN = 5
"""How many cases the long run begins with where nothing is remembered."""

_LARGE: Final = {"dra_prioritized_list", "mixed"}
"""Families whose cases alone are over the budget of a test."""

_MOST: Final = {"mixed": 15}
"""How many of a family are played at all: mixed cases are large, and made of what the
other families have. `python -m tests.parity check` plays all 150."""


_FEW: Final = 40
"""How many of a family are played by scalar hooks alone for a later version: that they
and the twins agree does not depend on it, but in few plugins."""


_STEP: Final = 15
"""One of so many cases is played with nothing remembered, beside the first ones:
`python -m tests.parity check --path plain` plays all of them."""

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
            *product(_DEVICES, ["1.36"]),
            *product(_FAMILIES, KUBERNETES_VERSIONS),
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
