"""Checks how workloads replace their pods.

Mirrors ``ValidateDeploymentStrategy``, ``ValidateDaemonSetUpdateStrategy`` and
``validateRollingUpdateStatefulSet`` (``pkg/apis/apps/validation``, Kubernetes v1.36),
with the defaults filled in.
"""

import re
from typing import Final

from quaymaster._api.objects import DaemonSet, Deployment, StatefulSet
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import PERCENTAGE, Form

__all__ = ["check_strategy"]

_ROLLING: Final = "RollingUpdate"
_ANY_PERCENTAGE: Final = Form(
    "a number or a percentage such as 130%",
    # A surge may exceed 100 %, while more than all pods cannot be unavailable.
    lambda text: re.fullmatch("[0-9]+%", text, re.ASCII) is not None,
)


def check_strategy(
    workload: Deployment | StatefulSet | DaemonSet, report: Report
) -> None:
    """Check that a strategy exists, and that its limits let an update progress."""
    if isinstance(workload, Deployment):
        _check_deployment(workload, report)
    elif isinstance(workload, DaemonSet):
        _check_daemon_set(workload, report)
    else:
        _check_stateful_set(workload, report)


def _check_deployment(workload: Deployment, report: Report) -> None:
    strategy = workload.spec.strategy
    report.one_of(strategy.type, (_ROLLING, "Recreate"), "spec.strategy")
    rolling = strategy.rolling_update
    if rolling is None:
        return
    path = "spec.strategy.rollingUpdate"
    if strategy.type == "Recreate":
        report.add(path, "expected none, since the strategy is Recreate")
        return
    _check_limit(rolling.max_unavailable, f"{path}.maxUnavailable", PERCENTAGE, report)
    _check_limit(rolling.max_surge, f"{path}.maxSurge", _ANY_PERCENTAGE, report)
    # With both limits at 0, the update could neither remove nor add a pod.
    if _is_zero(rolling.max_unavailable) and _is_zero(rolling.max_surge):
        message = "expected more than 0, since maxSurge is 0"
        report.add(f"{path}.maxUnavailable", message)


def _check_daemon_set(workload: DaemonSet, report: Report) -> None:
    strategy = workload.spec.update_strategy
    path = "spec.updateStrategy"
    report.one_of(strategy.type, (_ROLLING, "OnDelete"), path)
    rolling = strategy.rolling_update
    if rolling is None or strategy.type == "OnDelete":
        return
    path += ".rollingUpdate"
    _check_limit(rolling.max_unavailable, f"{path}.maxUnavailable", PERCENTAGE, report)
    _check_limit(rolling.max_surge, f"{path}.maxSurge", PERCENTAGE, report)
    surges = rolling.max_surge is not None and not _is_zero(rolling.max_surge)
    if not surges and _is_zero(rolling.max_unavailable):
        message = "expected more than 0, since maxSurge is 0"
        report.add(f"{path}.maxUnavailable", message)
    # A DaemonSet has one pod for each node, so an update either adds the new pod first
    # or removes the old one first.
    elif surges and not _is_zero(rolling.max_unavailable):
        message = "expected 0, since maxUnavailable is not (by default, it is 1)"
        report.add(f"{path}.maxSurge", message)


def _check_stateful_set(workload: StatefulSet, report: Report) -> None:
    strategy = workload.spec.update_strategy
    path = "spec.updateStrategy"
    report.one_of(strategy.type, (_ROLLING, "OnDelete"), path)
    rolling = strategy.rolling_update
    if rolling is None:
        return
    path += ".rollingUpdate"
    if strategy.type == "OnDelete":
        report.add(path, "expected none, since the strategy is OnDelete")
        return
    report.at_least(rolling.partition, f"{path}.partition")
    _check_limit(rolling.max_unavailable, f"{path}.maxUnavailable", PERCENTAGE, report)
    if _is_zero(rolling.max_unavailable):
        report.add(f"{path}.maxUnavailable", "expected more than 0, got 0")


def _check_limit(
    limit: int | str | None, path: str, form: Form, report: Report
) -> None:
    if isinstance(limit, str):
        report.formed(limit, form, path)
    else:
        report.at_least(limit, path)


def _is_zero(limit: int | str | None) -> bool:
    """Return whether a limit is zero; a limit that is not set is not."""
    if isinstance(limit, str):
        return limit.rstrip("%").strip("0") == ""
    return limit == 0
