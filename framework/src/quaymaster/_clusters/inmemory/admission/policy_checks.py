"""Checks disruption budgets and priority classes.

Mirrors ``pkg/apis/policy/validation`` and ``pkg/apis/scheduling/validation``
(Kubernetes v1.36).
"""

from typing import Final

from quaymaster._api.objects import PodDisruptionBudget, PriorityClass
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import PERCENTAGE
from quaymaster._clusters.inmemory.admission.classes import SYSTEM_PRIORITY_CLASSES
from quaymaster._clusters.inmemory.admission.placement_checks import check_selector

__all__ = ["check_budget", "check_priority_class"]

_EVICTION_POLICIES: Final = ("IfHealthyBudget", "AlwaysAllow")
_MAX_USER_PRIORITY: Final = 1_000_000_000
_SYSTEM_VALUES: Final = {c.name: c.value for c in SYSTEM_PRIORITY_CLASSES}


def check_budget(budget: PodDisruptionBudget, report: Report) -> None:
    """Check that a budget has at most one limit, a number or a percentage."""
    spec = budget.spec
    if spec.min_available is not None and spec.max_unavailable is not None:
        report.add("spec", "expected minAvailable or maxUnavailable, got both")
    for path, limit in (
        ("spec.minAvailable", spec.min_available),
        ("spec.maxUnavailable", spec.max_unavailable),
    ):
        if isinstance(limit, str):
            report.formed(limit, PERCENTAGE, path)
        else:
            report.at_least(limit, path)
    check_selector(spec.selector, "spec.selector", report)
    policy = spec.unhealthy_pod_eviction_policy
    if policy is not None:
        report.one_of(policy, _EVICTION_POLICIES, "spec.unhealthyPodEvictionPolicy")


def check_priority_class(priority_class: PriorityClass, report: Report) -> None:
    """Check that only the system's classes have its prefix and the highest values."""
    name, value = priority_class.metadata.name, priority_class.value
    # Values above a billion would preempt system pods, so they are kept for the
    # system's own classes.
    if not name.startswith("system-"):
        expected = f"at most {_MAX_USER_PRIORITY}"
        report.expect(value <= _MAX_USER_PRIORITY, "value", expected, value)
    elif _SYSTEM_VALUES.get(name) != value or priority_class.global_default:
        expected = "a name that does not begin with system-"
        report.expect(False, "metadata.name", expected, name)
    policy = priority_class.preemption_policy
    if policy is not None:
        report.one_of(policy, ("PreemptLowerPriority", "Never"), "preemptionPolicy")
