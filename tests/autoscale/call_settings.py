"""Settings of calls that the record lacks: those of upstream's tests.

They are from ``core/scaleup/orchestrator/orchestrator_test.go`` and
``core/scaledown/budgets/budgets_test.go``.
"""

from collections.abc import Mapping
from typing import Any, Final

from tests.autoscale.cases import Tree

__all__ = ["CROP_TEST", "group_tree", "in_progress", "is_atomic", "limits_of"]

_MI: Final = 1 << 20
_ATOMIC_TEST: Final = "TestZeroOrMaxNodeScaling"
_SKIPPED_TEST: Final = "TestScaleUpSimulationForSkippedNodeGroups"
_LIMITS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Atomic_ScaleUp_max_cores_limit_hit": {"cores_total": (0, 3)},
    "Atomic_ScaleUp_max_memory_limit_hit": {"memory_total": (0, 3000)},
    "TestScaleUpMaxCoresLimitHit": {"cores_total": (0, 9)},
    "TestScaleUpMaxCoresLimitHitWithNotAutoscaledGroup": {"cores_total": (0, 9)},
    "TestScaleUpMaxMemoryLimitHit": {"memory_total": (0, 1300 * _MI)},
    "TestScaleUpMaxMemoryLimitHitWithNotAutoscaledGroup": {
        "memory_total": (0, 1300 * _MI)
    },
    "TestNoScaleUpMaxCoresLimitHit": {
        "cores_total": (0, 7),
        "memory_total": (0, 1150),
    },
}

CROP_TEST: Final = "TestCropNodesToBudgets"
_CROPS: Final[Mapping[str, tuple[int, int]]] = {
    "empty nodes with deletions in progress, within budget": (1, 1),
    "empty nodes with deletions in progress, exceeding budget": (1, 1),
    "empty atomic nodes with deletions in progress, exceeding budget": (3, 3),
    "empty nodes with deletions in progress, 0 budget left": (5, 5),
    "empty atomic nodes with deletions in progress, 0 budget left": (5, 5),
    "empty nodes with deletions in progress, budget exceeded": (50, 50),
    "drain nodes with deletions in progress, within budget": (1, 2),
    "drain nodes with deletions in progress, exceeding drain budget": (1, 2),
    "drain atomic nodes with deletions in progress, exceeding drain budget": (1, 2),
    "drain nodes with deletions in progress, 0 drain budget left": (1, 5),
    "drain atomic nodes with deletions in progress, 0 drain budget left": (1, 5),
    "drain nodes with deletions in progress, drain budget exceeded": (1, 50),
    "drain nodes with deletions in progress, exceeding overall budget": (7, 1),
    "drain nodes with deletions in progress, 0 overall budget left": (10, 0),
    "drain nodes with deletions in progress, overall budget exceeded": (50, 0),
    "empty&drain nodes with deletions in progress, 0 overall budget left": (10, 0),
    "empty&drain atomic nodes with deletions in progress, 0 overall budget left": (
        10,
        0,
    ),
    "empty&drain atomic nodes in same group with deletions in progress, "
    "0 overall budget left": (10, 0),
    "empty&drain nodes with deletions in progress, overall budget exceeded "
    "(shouldn't happen, just a sanity check)": (50, 0),
    "empty&drain nodes with deletions in progress, 0 drain budget left": (0, 5),
    "empty&drain atomic nodes with deletions in progress, 0 drain budget left": (0, 5),
    "empty&drain nodes with deletions in progress, drain budget exceeded "
    "(shouldn't happen, just a sanity check)": (0, 9),
    "empty&drain nodes with deletions in progress, overall budget exceeded, "
    "only empty nodes fit": (5, 3),
    "empty&drain nodes with deletions in progress, overall budget exceeded, "
    "both empty&drain nodes fit": (5, 3),
    "empty&drain nodes with deletions in progress, drain budget exceeded": (1, 3),
    "empty&drain atomic nodes with deletions in progress, overall budget exceeded, "
    "only empty nodes fit": (5, 2),
    "empty&drain atomic nodes in same group with deletions in progress, "
    "both empty&drain nodes fit": (5, 2),
    "empty&drain atomic nodes in same group with deletions in progress, "
    "overall budget exceeded, both empty&drain nodes fit": (5, 2),
    "empty&drain atomic nodes in same group with deletions in progress, "
    "drain budget exceeded, both empty&drain nodes fit": (2, 2),
    "empty&drain regular and atomic nodes with deletions in progress, "
    "overall budget exceeded, only empty atomic is deleted": (5, 2),
    "empty&drain regular and atomic nodes in same group with deletions in progress, "
    "overall budget exceeded, both empty&drain atomic nodes fit": (5, 2),
    "empty&drain regular and atomic nodes in same group with deletions in progress, "
    "both empty&drain nodes fit": (2, 2),
}
"""How many empty nodes and nodes with pods are being removed."""


def limits_of(case: Tree) -> Mapping[str, Any]:
    """Return the limits of the cluster in a scale-up, and how skipped groups count."""
    test, name = case["test"], case["sub"].rpartition("/")[2]
    if test == _SKIPPED_TEST:
        is_on = name.startswith("feature_flag_is_enabled")
        return {"scaleup_simulation_for_skipped_node_groups_enabled": is_on}
    return _LIMITS.get(name if test == _ATOMIC_TEST else test, {})


def is_atomic(case: Tree, group: Tree) -> bool:
    """Return whether a group grows to its maximum at once: one that had no nodes."""
    return bool(case["test"] == _ATOMIC_TEST and not group["target"])


def in_progress(case: Tree) -> tuple[int, int]:
    """Return how many empty nodes and nodes with pods are being removed."""
    name = case["sub"].rpartition("/")[2]
    found = {key.replace(" ", "_"): value for key, value in _CROPS.items()}
    return found.get(name, (0, 0))


def group_tree(name: str) -> Tree:
    """Return a group of the test of removals; its minimum is above its maximum."""
    if name.startswith("atomic-"):
        size = int(name.removeprefix("atomic-"))
        return {"exists": True, "id": name, "max": 10000, "min": 0, "target": size}
    return {"exists": True, "id": name, "max": 0, "min": 100, "target": 3}
