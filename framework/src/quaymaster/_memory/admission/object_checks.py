"""What is wrong with nodes, workloads, budgets and classes.

Mirrors ``pkg/apis/{core,apps,batch,policy,scheduling}/validation`` (Kubernetes v1.36),
as far as scheduling depends on it.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from quaymaster._memory.admission.placement_checks import check_selector
from quaymaster._memory.admission.problems import Report
from quaymaster._memory.admission.resource_checks import check_amounts
from quaymaster._memory.durations import (
    RUN_SECONDS_ANNOTATION,
    RunTimeError,
    run_seconds,
)
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    DaemonSet,
    Deployment,
    Job,
    LabelSelector,
    Node,
    ObjectMeta,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster.selectors import compile_label_selector

__all__ = [
    "SelectingWorkload",
    "check_annotations",
    "check_budget",
    "check_job",
    "check_metadata",
    "check_node",
    "check_priority_class",
    "check_replication_controller",
    "check_selecting_workload",
]

SelectingWorkload: TypeAlias = Deployment | ReplicaSet | StatefulSet | DaemonSet

_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_PERCENTAGE: Final = re.compile(r"([0-9]{1,2}|100)%", re.ASCII)
_POD_MANAGEMENT: Final = ("", "OrderedReady", "Parallel")
_COMPLETION_MODES: Final = ("NonIndexed", "Indexed")
_MAX_USER_PRIORITY: Final = 1_000_000_000


def check_metadata(metadata: ObjectMeta, report: Report) -> None:
    """An object needs a name, or the beginning of one."""
    if not metadata.name and not metadata.generate_name:
        report.add("metadata.name", "expected a name, got none")
    elif "/" in metadata.name:
        report.expect(False, "metadata.name", "a name without '/'", metadata.name)


def check_annotations(
    annotations: Mapping[str, str], path: str, report: Report
) -> None:
    """The annotations that the in-memory cluster reads must make sense."""
    try:
        run_seconds(annotations)
    except RunTimeError as error:
        report.add(f"{path}[{RUN_SECONDS_ANNOTATION}]", str(error))


def check_node(node: Node, report: Report) -> None:
    """Taints must have a key and an effect, each pair once; amounts be possible."""
    for index, taint in enumerate(node.spec.taints):
        path = f"spec.taints[{index}]"
        if not taint.key:
            report.add(f"{path}.key", "expected a key, got none")
        report.one_of(taint.effect, _EFFECTS, f"{path}.effect")
    report.unique(
        (
            (f"spec.taints[{index}]", f"{taint.key}:{taint.effect}")
            for index, taint in enumerate(node.spec.taints)
        ),
        "key and effect",
    )
    check_amounts(node.status.capacity, "status.capacity", report)
    check_amounts(node.status.allocatable, "status.allocatable", report)


def check_selecting_workload(workload: SelectingWorkload, report: Report) -> None:
    """The selector must select the pods of the template, or they grow without end."""
    _check_selects(workload.spec.selector, workload.spec.template.metadata, report)
    if not isinstance(workload, DaemonSet):
        _check_count(workload.spec.replicas, "spec.replicas", report)
    if isinstance(workload, StatefulSet):
        policy = workload.spec.pod_management_policy
        report.one_of(policy, _POD_MANAGEMENT, "spec.podManagementPolicy")
        if workload.spec.ordinals is not None:
            _check_count(workload.spec.ordinals.start, "spec.ordinals.start", report)


def check_replication_controller(rc: ReplicationController, report: Report) -> None:
    """There must be a template that the selector, by now not empty, selects."""
    _check_count(rc.spec.replicas, "spec.replicas", report)
    if rc.spec.template is None:
        report.add("spec.template", "expected a pod template, got none")
        return
    selector = LabelSelector(match_labels=rc.spec.selector)
    _check_selects(selector, rc.spec.template.metadata, report)


def check_job(job: Job, report: Report) -> None:
    """Counts must be possible, and an indexed Job must say how far to count."""
    spec = job.spec
    for path, count in (
        ("spec.parallelism", spec.parallelism),
        ("spec.completions", spec.completions),
        ("spec.backoffLimit", spec.backoff_limit),
    ):
        _check_count(count, path, report)
    mode = spec.completion_mode
    if mode is not None:
        report.one_of(mode, _COMPLETION_MODES, "spec.completionMode")
    if mode == "Indexed" and spec.completions is None:
        report.add("spec.completions", "expected a number, since it is Indexed")


def check_budget(budget: PodDisruptionBudget, report: Report) -> None:
    """At most one of two limits, each a number or a percentage."""
    spec = budget.spec
    if spec.min_available is not None and spec.max_unavailable is not None:
        report.add("spec", "expected minAvailable or maxUnavailable, got both")
    for path, limit in (
        ("spec.minAvailable", spec.min_available),
        ("spec.maxUnavailable", spec.max_unavailable),
    ):
        if isinstance(limit, str) and not _PERCENTAGE.fullmatch(limit):
            report.expect(False, path, "a number or a percentage such as 30%", limit)
        elif isinstance(limit, int):
            _check_count(limit, path, report)
    check_selector(spec.selector, "spec.selector", report)


def check_priority_class(priority_class: PriorityClass, report: Report) -> None:
    """The highest priorities are the system's own."""
    if not priority_class.metadata.name.startswith("system-"):
        value = priority_class.value
        report.expect(
            value <= _MAX_USER_PRIORITY, "value", f"at most {_MAX_USER_PRIORITY}", value
        )
    policy = priority_class.preemption_policy
    if policy is not None:
        report.one_of(policy, ("PreemptLowerPriority", "Never"), "preemptionPolicy")


def _check_selects(
    selector: LabelSelector | None, template: ObjectMeta, report: Report
) -> None:
    if selector is None or selector == LabelSelector():
        report.add("spec.selector", "expected a selector of the template's labels")
        return
    try:
        selects = compile_label_selector(selector).matches(template.labels)
    except SelectorError:
        check_selector(selector, "spec.selector", report)
    else:
        if not selects:
            report.add(
                "spec.template.metadata.labels",
                f"expected labels that spec.selector selects, got {template.labels}",
            )


def _check_count(count: int | None, path: str, report: Report) -> None:
    if count is not None:
        report.expect(count >= 0, path, "a number of at least 0", count)
