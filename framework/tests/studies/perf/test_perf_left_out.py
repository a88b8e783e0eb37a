"""Only the workloads that cannot run are left out."""

from pathlib import Path

import pytest

from quaymaster.config import Kubernetes
from tests.kit.internals.perf import (
    CreatePodGroups,
    PerfErrors,
    load_workloads,
    run_workload,
    why_left_out,
)

V1_37 = Kubernetes("1.37")
CASES = """
- name: Plain
  workloadTemplate:
  - {opcode: createNodes, count: 1}
  - {opcode: createPods, countParam: $pods, collectMetrics: true}
  workloads:
  - {name: whole, params: {pods: 2}}
  - {name: lacking}
- name: Groups
  featureGates: {GenericWorkload: true}
  workloadTemplate:
  - opcode: createPodGroups
    namespace: gangs
    templatePath: podgroup.yaml
    countParam: $groups
    templateParams: {minCount: $size, priority: 1000}
  - opcode: createPods
    countParam: $groups
    countMultiplierParam: $size
    collectMetrics: true
  workloads:
  - {name: small, params: {groups: 2, size: 3}}
"""


def write(folder: Path, text: str) -> str:
    file = folder / "performance-config.yaml"
    file.write_text(text)
    return str(file)


def case(more: str = "", workload: str = "name: one") -> str:
    return (
        f"- name: Case\n{more}  workloadTemplate:\n"
        "  - {opcode: createPods, count: 1, collectMetrics: true}\n"
        f"  workloads:\n  - {{{workload}}}\n"
    )


def test_workloads_that_cannot_run_are_read_nevertheless(tmp_path: Path) -> None:
    *_, groups = load_workloads([write(tmp_path, CASES)])
    create, pods = groups.operations
    assert isinstance(create, CreatePodGroups)
    assert create.count == 2
    assert create.template_params == {"minCount": 3, "priority": 1000}
    assert pods.count == 6  # type: ignore[union-attr]  # createPods


def test_each_workload_has_its_own_reason(tmp_path: Path) -> None:
    workloads = load_workloads([write(tmp_path, CASES)])
    reasons = {workload.name: why_left_out(workload, V1_37) for workload in workloads}
    assert reasons["Plain/whole"] == ""
    assert reasons["Plain/lacking"] == ("no parameter 'pods', which an operation names")
    assert reasons["Groups/small"] == ""


def test_gates_that_depend_on_each_other_are_checked_together(tmp_path: Path) -> None:
    both = "GenericWorkload: true, TopologyAwareWorkloadScheduling: true"
    text = case(workload=f"name: one, featureGates: {{{both}}}")
    (workload,) = load_workloads([write(tmp_path, text)])
    assert why_left_out(workload, V1_37) == ""
    lonely = text.replace("GenericWorkload: true, ", "")
    (workload,) = load_workloads([write(tmp_path, lonely)])
    assert why_left_out(workload, V1_37) == (
        "feature gate TopologyAwareWorkloadScheduling: is on, but depends on gates "
        "that are off: GenericWorkload"
    )


def test_a_workload_that_is_left_out_is_not_run(tmp_path: Path) -> None:
    _, lacking, _ = load_workloads([write(tmp_path, CASES)])
    outcome = run_workload(lacking)
    assert outcome.status == "left out"
    assert outcome.reason == "no parameter 'pods', which an operation names"
    assert not outcome.measurements


@pytest.mark.parametrize(
    ("version", "gates", "reason"),
    [
        ("1.37", "DynamicResourceAllocation: true", ""),
        ("1.37", "OpportunisticBatching: false", ""),
        ("1.37", "SchedulerQueueingHints: false", ""),
        ("1.37", "StorageCapacityScoring: false", ""),
        ("1.36", "StorageCapacityScoring: true", ""),
        ("1.37", "GenericWorkload: false", ""),
        ("1.37", "GenericWorkload: true", ""),
        (
            "1.36",
            "GenericWorkload: true",
            "feature gate GenericWorkload: only false is played, its default in 1.36",
        ),
        (
            "1.37",
            "DRAAdminAccess: false",
            "feature gate DRAAdminAccess: Kubernetes 1.37 locks it to true",
        ),
        (
            "1.36",
            "DRADeviceCompatibilityGroups: true",
            (
                "feature gate DRADeviceCompatibilityGroups: the scheduler of 1.36 "
                "reads no such feature gate"
            ),
        ),
    ],
)
def test_an_unsupported_gate_leaves_out_its_workload(
    tmp_path: Path, version: str, gates: str, reason: str
) -> None:
    text = case(workload=f"name: one, featureGates: {{{gates}}}")
    (workload,) = load_workloads([write(tmp_path, text)])
    assert why_left_out(workload, Kubernetes(version)) == reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            CASES.replace("templatePath: podgroup.yaml", "templatePth: x"),
            "Groups.workloadTemplate[0].templatePath: required",
            id="pod groups without a template",
        ),
        pytest.param(
            CASES.replace("    countParam: $groups\n    templateP", "    templateP"),
            "Groups.workloadTemplate[0].count: expected at least 1, or countParam",
            id="no pod groups",
        ),
        pytest.param(
            CASES.replace("minCount: $size", "minCount: $siz"),
            "Groups.workloadTemplate[0].templateParams.minCount: Groups.workloads[0] "
            "(small) has no parameter 'siz'; did you mean 'size'?",
            id="a template's parameter that no workload has",
        ),
        pytest.param(
            CASES.replace("minCount: $size", "minCount: '$siz|[a'"),
            "Groups.workloadTemplate[0].templateParams.minCount: expected a default "
            "value in YAML, got '[a': ",
            id="a default that is not YAML",
        ),
        pytest.param(
            CASES.replace("countMultiplierParam: $size", "countMultiplierParam: 3"),
            "Groups.workloadTemplate[1].countMultiplierParam: expected",
            id="a multiplier without a dollar sign",
        ),
        pytest.param(
            CASES.replace("size: 3", "size: many"),
            "Groups.workloadTemplate[1].countMultiplierParam: expected a number of at "
            "least 0 for $size, got 'many' in Groups.workloads[0] (small)",
            id="a multiplier that is not a number",
        ),
        pytest.param(
            case("  metricsCollectorConfig: {metrics: {a: [{labl: b}]}}\n"),
            "Case.metricsCollectorConfig.metrics",
            id="a metric's label without a name",
        ),
        pytest.param(
            case("  defaultThresholdMetricSelector: {name: a}\n"),
            "Case.defaultThresholdMetricSelector.dataBucket: required",
            id="a threshold's metric without a figure",
        ),
        pytest.param(
            case().replace(
                "- {opcode: c",
                "- {opcode: startCollectingProfile, type: Heap, "
                "filePath: a}\n  - {opcode: c",
            ),
            "Case.workloadTemplate[0].type: expected CPU, got 'Heap'",
            id="a profile of another type",
        ),
    ],
)
def test_mistakes_are_errors_in_left_out_workloads_too(
    tmp_path: Path, text: str, message: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(PerfErrors) as caught:
        load_workloads([file])
    assert f"{file}: {message}" in str(caught.value)


def test_metrics_that_are_not_measured_are_named(tmp_path: Path) -> None:
    text = case(
        "  metricsCollectorConfig:\n    metrics:\n"
        "      scheduler_queue_incoming_pods_total: [{label: q, values: [a]}]\n"
        "      scheduler_scheduling_attempt_duration_seconds:\n"
    )
    (workload,) = load_workloads([write(tmp_path, text)])
    outcome = run_workload(workload)
    note = "Case: not measured here: scheduler_queue_incoming_pods_total"
    assert note in outcome.notes


def test_a_threshold_for_another_figure_is_not_compared(tmp_path: Path) -> None:
    selector = "{name: scheduler_queueing_hint_seconds, dataBucket: Perc99}"
    text = case(
        workload=f"name: one, threshold: 5, thresholdMetricSelector: {selector}"
    )
    (workload,) = load_workloads([write(tmp_path, text)])
    assert workload.threshold == 0
    assert workload.threshold_metric == "scheduler_queueing_hint_seconds (Perc99)"
