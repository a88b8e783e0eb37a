"""Benchmark files are loaded, and their mistakes are reported."""

from pathlib import Path

import pytest

from tests.kit.internals.perf import (
    CreateNodes,
    CreatePods,
    PerfErrors,
    find_files,
    ignored_gates,
    load_workloads,
    select,
)

CASE = """
- name: Basic
  featureGates: {SchedulerQueueingHints: true}
  labels: [all]
  defaultPodTemplatePath: ../templates/pod.yaml
  workloadTemplate:
  - {opcode: createNodes, countParam: $nodes}
  - {opcode: createPods, countParam: $pods, collectMetrics: true}
  workloads:
  - name: small
    labels: [short]
    params: {nodes: 2, pods: 3}
  - name: 5k/large
    featureGates: {SchedulerQueueingHints: false}
    labels: [performance]
    threshold: 270
    params: {nodes: 5000, pods: 10000}
"""


def write(folder: Path, text: str, topic: str = "topic") -> str:
    file = folder / topic / "performance-config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


def case(*operations: str, workload: str = "name: one", more: str = "") -> str:
    listed = "".join(f"  - {operation}\n" for operation in operations)
    collecting = "  - {opcode: createPods, count: 1, collectMetrics: true}\n"
    return (
        f"- name: Case\n{more}  workloadTemplate:\n{collecting}{listed}"
        f"  workloads:\n  - {{{workload}}}\n"
    )


def test_parameters_replace_the_fields_that_name_them(tmp_path: Path) -> None:
    small, large = load_workloads([write(tmp_path, CASE)])
    assert small.operations == (
        CreateNodes(opcode="createNodes", count=2, count_param="$nodes"),
        CreatePods(
            opcode="createPods", count=3, count_param="$pods", collect_metrics=True
        ),
    )
    assert large.operations[1].count == 10000  # type: ignore[union-attr]  # createPods


def test_a_workload_inherits_and_overrides_fields_of_its_case(
    tmp_path: Path,
) -> None:
    small, large = load_workloads([write(tmp_path, CASE)])
    assert (small.name, large.name) == ("Basic/small", "Basic/5k/large")
    assert small.feature_gates == {"SchedulerQueueingHints": True}
    assert large.feature_gates == {"SchedulerQueueingHints": False}
    assert small.labels == ("all", "short")
    assert (small.threshold, large.threshold) == (0, 270)
    assert small.path("../templates/pod.yaml") == tmp_path / "templates" / "pod.yaml"


def test_a_threshold_may_be_for_one_topic_only(tmp_path: Path) -> None:
    text = case(workload="name: one, threshold: {misc: 40}")
    here, there = load_workloads(
        [write(tmp_path, text, "misc"), write(tmp_path, text, "volumes")]
    )
    assert (here.threshold, there.threshold) == (40, 0)


def test_a_pod_set_is_the_same_pods_in_each_of_its_namespaces(tmp_path: Path) -> None:
    operation = (
        "{opcode: createPodSets, countParam: $sets, namespacePrefix: ns, "
        "createPodsOp: {opcode: createPods, countParam: $pods, collectMetrics: true}}"
    )
    text = case(operation, workload="name: one, params: {sets: 2, pods: 4}")
    (workload,) = load_workloads([write(tmp_path, text)])
    sets = [step for step in workload.operations[1:] if isinstance(step, CreatePods)]
    assert [(pod_set.namespace, pod_set.count) for pod_set in sets] == [
        ("ns-0", 4),
        ("ns-1", 4),
    ]


def test_a_directory_means_the_files_below_it(tmp_path: Path) -> None:
    files = [write(tmp_path, CASE, "a"), write(tmp_path, CASE, "b/c")]
    assert find_files([str(tmp_path), files[0]]) == files


def test_a_directory_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PerfErrors, match=r"no performance-config\.yaml in this"):
        find_files([str(tmp_path)])


@pytest.mark.parametrize(
    ("names", "labels", "expected"),
    [
        ((), (), ["Basic/small", "Basic/5k/large"]),
        ((), ("all", "-performance"), ["Basic/small"]),
        ((), ("all,+performance",), ["Basic/5k/large"]),
        (("Basic/small",), (), ["Basic/small"]),
        (("Basic",), ("performance",), ["Basic/5k/large"]),
        (("*/large",), (), ["Basic/5k/large"]),
    ],
)
def test_workloads_are_chosen_by_name_and_label(
    tmp_path: Path, names: list[str], labels: list[str], expected: list[str]
) -> None:
    workloads = load_workloads([write(tmp_path, CASE)])
    assert [workload.name for workload in select(workloads, names, labels)] == expected


@pytest.mark.parametrize(
    ("names", "labels", "message"),
    [
        (("Basic/smal",), (), "Basic/smal: no such workload; did you mean"),
        ((), ("large",), "no workload has the labels large"),
    ],
)
def test_choosing_nothing_is_an_error(
    tmp_path: Path, names: list[str], labels: list[str], message: str
) -> None:
    workloads = load_workloads([write(tmp_path, CASE)])
    with pytest.raises(PerfErrors, match=message):
        select(workloads, names, labels)


def test_gates_without_effect_are_reported() -> None:
    gates = {"SchedulerQueueingHints": False, "NodeDeclaredFeatures": False}
    assert ignored_gates(gates) == {"SchedulerQueueingHints": False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            case("{opcode: createNode}"),
            "Case.workloadTemplate[1].opcode: unknown opcode 'createNode'; did you "
            "mean 'createNodes'?",
            id="unknown opcode",
        ),
        pytest.param(
            case("{count: 3}"),
            "Case.workloadTemplate[1].opcode: unknown opcode nothing",
            id="no opcode",
        ),
        pytest.param(
            case("{opcode: createNodes, countParm: $a}"),
            "Case.workloadTemplate[1].countParm: unknown field; did you mean",
            id="unknown field",
        ),
        pytest.param(
            case("{opcode: createNodes, count: -1}"),
            "Case.workloadTemplate[1].count: expected an integer, 0 or more, got -1",
            id="negative count",
        ),
        pytest.param(
            case("{opcode: createNodes, countParam: nodes}"),
            "Case.workloadTemplate[1].countParam: expected the name of a parameter "
            "behind a $, such as $initNodes, got 'nodes'",
            id="parameter without a dollar sign",
        ),
        pytest.param(
            case("{opcode: createNodes, countParam: $nodes}"),
            "Case.workloadTemplate[1].countParam: Case.workloads[0] (one) has no "
            "parameter 'nodes' (known: none)",
            id="missing parameter",
        ),
        pytest.param(
            case(
                "{opcode: createNodes, countParam: $size}",
                workload="name: one, params: {size: many}",
            ),
            "Case.workloadTemplate[1].countParam: expected a number of at least 0 for "
            "$size, got 'many' in Case.workloads[0] (one)",
            id="parameter of the wrong type",
        ),
        pytest.param(
            case(
                "{opcode: sleep, durationParam: $t}",
                workload="name: one, params: {t: 5}",
            ),
            "Case.workloadTemplate[1].durationParam: expected a duration such as 15s "
            "for $t, got 5",
            id="parameter that is no duration",
        ),
        pytest.param(
            case(workload="name: one, params: {size: 1}"),
            "Case.workloads[0].params.size: no operation uses it",
            id="unused parameter",
        ),
        pytest.param(
            case(more="  featureGates: {SchedulerQueuingHints: true}\n"),
            "Case.featureGates.SchedulerQueuingHints: unknown feature gate; did you "
            "mean 'SchedulerQueueingHints'?",
            id="unknown gate",
        ),
        pytest.param(
            case("{opcode: churn, mode: recreate, templatePaths: [a]}"),
            "Case.workloadTemplate[1].number: expected at least 1 with the mode",
            id="recreation without a number",
        ),
        pytest.param(
            case("{opcode: barrier, stageRequirement: Done}"),
            "Case.workloadTemplate[1].stageRequirement: expected one of 'Scheduled', "
            "'Attempted', got 'Done'",
            id="unknown stage",
        ),
        pytest.param(
            case(
                "{opcode: createPods, skipWaitToCompletion: true, collectMetrics: true}"
            ),
            "Case.workloadTemplate[1].skipWaitToCompletion: expected not both this and "
            "collectMetrics",
            id="measuring what is not waited for",
        ),
        pytest.param(
            case("{opcode: createPods, persistentVolumeTemplatePath: a}"),
            "Case.workloadTemplate[1].persistentVolumeTemplatePath: expected together",
            id="volume without a claim",
        ),
        pytest.param(
            case("{opcode: createPods, steadyState: true}"),
            "Case.workloadTemplate[1].duration: expected a time to keep",
            id="steady state without an end",
        ),
        pytest.param(
            case("{opcode: updateAny, templatePath: a, subresources: [scale]}"),
            "Case.workloadTemplate[1].subresources: expected none, or resize alone",
            id="unknown subresource",
        ),
        pytest.param(
            "- {name: Case, workloadTemplate: [{opcode: sleep}], "
            "workloads: [{name: one}]}",
            "Case.workloadTemplate: expected an operation that collects metrics",
            id="nothing is measured",
        ),
        pytest.param(
            case() + case(), "Case: expected a name of its own", id="same case twice"
        ),
        pytest.param(
            case() + "  - {name: one}\n",
            "Case.workloads[1].name: expected a name of its own",
            id="same workload twice",
        ),
        pytest.param("- {name: Case}", "[0].workloads: required", id="no workloads"),
        pytest.param("- 3", "[0]: expected a mapping, got 3", id="no case"),
        pytest.param("a: b", "expected a list of test cases, got", id="no list"),
        pytest.param("a: [", "line 2, column 1", id="no YAML"),
    ],
)
def test_a_mistake_is_reported_with_file_and_place(
    tmp_path: Path, text: str, message: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(PerfErrors) as caught:
        load_workloads([file])
    assert f"{file}: {message}" in str(caught.value)


def test_all_mistakes_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    wrong = case("{opcode: sleep, durationn: 1s}", "{opcode: nap}")
    files = [write(tmp_path, wrong, "a"), write(tmp_path, wrong, "b")]
    with pytest.raises(PerfErrors) as caught:
        load_workloads([*files, str(tmp_path / "none.yaml")])
    assert len(caught.value.problems) == 5
    assert "none.yaml: no such file" in str(caught.value)
