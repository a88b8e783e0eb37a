"""Every recorded decision of the built-in plugins, on both paths."""

from itertools import islice
from pathlib import Path as FilePath

import pytest

from quaymaster.scheduler import PluginRegistry
from tests.parity.cases import read_cases
from tests.parity.cluster import Path
from tests.parity.report import check_cases

_DATA = FilePath(__file__).parent / "data"
_FAMILIES = (
    "balanced_allocation",
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
    "image_locality",
    "node_affinity",
    "node_declared_features",
    "node_ports",
    "node_resources_fit",
    "node_unschedulable_name",
    "nominated",
    "preemption",
    "profiles",
    "scheduling_gates",
    "taint_toleration",
    "volume_binding",
    "volume_limits",
    "volume_restrictions",
    "volume_zone",
)
_FIRST = 5
"""How many cases of a family every run plays; all of them take minutes."""


@pytest.mark.parametrize("path", ["scalar", "twin"])
@pytest.mark.parametrize(
    "part",
    [
        pytest.param((0, _FIRST), id="first"),
        pytest.param((_FIRST, None), id="rest", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("family", _FAMILIES)
def test_decisions_are_those_of_kube_scheduler(
    family: str, part: tuple[int, int | None], path: Path
) -> None:
    cases = islice(read_cases(_DATA / f"{family}.jsonl.gz"), *part)
    (report,) = check_cases(cases, PluginRegistry.discover(), [path])
    assert report.family == family
    assert report.covered == report.cases > 0
    assert not report.tally.differences, "\n".join(report.lines(differences=3))
