"""Scenario files are parsed, and their mistakes are reported."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from quaymaster.scenarios import (
    ScenarioErrors,
    load_scenario,
    parse_scenario,
    scenario_schema,
)
from tests.kit.internals.scenarios import check_input
from tests.kit.scenarios import REGISTRY, deployment, one_pod, parsed

HEADER = "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Scenario\n"


def reported_problems(text: str) -> list[str]:
    with pytest.raises(ScenarioErrors) as caught:
        parse_scenario(HEADER + text, registry=REGISTRY, file="s.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_all_mistakes_are_reported_at_once_with_their_places() -> None:
    found = reported_problems(
        """
steps:
- at: 5 minutes
  scale: {target: web, replicas: -1}
- drain: {node: n}
assertions:
- pods: {state: Runing}
  at: 10m
"""
    )
    assert found == [
        (
            "s.yaml: steps[0].at: expected a duration such as 15s, 0s or more, "
            "got '5 minutes'"
        ),
        (
            "s.yaml: steps[0].scale.target: expected KIND/NAME or NAMESPACE/KIND/NAME, "
            "such as deploy/web, got 'web'"
        ),
        (
            "s.yaml: steps[0].scale.replicas: expected an integer from 0 to 1000000, "
            "got -1"
        ),
        "s.yaml: steps[1].drain.node: unknown field; did you mean 'nodes'?",
        "s.yaml: steps[1].drain.nodes: required, but not given",
        (
            "s.yaml: assertions[0].pods.state: expected one of 'Pending', 'Running', "
            "'Succeeded', 'Any', got 'Runing'"
        ),
    ]


def test_a_step_has_one_action() -> None:
    none, two = reported_problems(
        """
steps:
- name: nothing
- cordon: {nodes: a}
  uncordon: {nodes: b}
"""
    )
    assert none.startswith("s.yaml: steps[0]: expected exactly one action (create, ")
    assert none.endswith("got none")
    assert two.endswith("got cordon, uncordon")


def test_times_have_an_order_and_an_end() -> None:
    found = reported_problems(
        """
until: 30m
steps:
- {at: 20m, cordon: {nodes: a}}
- {at: 10m, cordon: {nodes: a}}
assertions:
- {at: 1h, pods: {atLeast: 1}}
- placed: {by: 40m}
- {from: 20m, to: 10m, pods: {atLeast: 1}}
- {at: 1m, evictions: {}}
"""
    )
    assert found == [
        "s.yaml: assertions[2].from: expected at most to",
        "s.yaml: assertions[3].at: expected from and to, or no time at all, with this",
    ]
    found = reported_problems(
        """
until: 30m
steps:
- {at: 20m, cordon: {nodes: a}}
- {at: 10m, cordon: {nodes: a}}
assertions:
- {at: 1h, pods: {atLeast: 1}}
- placed: {by: 40m}
"""
    )
    assert found == [
        "s.yaml: steps[1].at: expected 20m0s or more, as before it, got 10m0s",
        (
            "s.yaml: assertions[0].at: expected at most 30m0s, the end ('until'), "
            "got 1h0m0s"
        ),
        (
            "s.yaml: assertions[1].placed.by: expected at most 30m0s, the end ('until')"
            ", got 40m0s"
        ),
    ]


def test_names_in_a_scenario_must_exist() -> None:
    found = reported_problems(
        """
config: bin-pakking
input:
  nodes: ["3:cpu=4"]
  files: [none.yaml]
  objects:
  - {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containrs: []}}
steps:
- name: a
  create: {objects: [{apiVersion: v1, kind: Node, metadata: {name: x}}],
           runTime: {constant: 1m}}
- {name: a, cordon: {nodes: some}}
assertions:
- placed: {pods: {selector: "a b"}}
"""
    )
    text = "\n".join(found)
    assert "no such file, nor a shipped profile" in text
    assert "s.yaml: input.nodes[0]: nodes '3:cpu=4': " in text
    assert (
        "s.yaml: input.files[0]: expected a file or directory, got 'none.yaml'" in text
    )
    assert "s.yaml: input.objects[0] (Pod default/p): spec.containrs" in text
    assert "steps[0].create.runTime: expected Pods and Jobs alone, got Node 'x'" in text
    assert "steps[1].name: expected a name of its own, got that of steps[0]" in text
    assert "assertions[0].placed.pods.selector: expected a selector" in text
    assert len(found) == 7


def test_file_that_is_not_a_scenario_is_an_error() -> None:
    with pytest.raises(ScenarioErrors, match=r"x: expected a Scenario, got a list"):
        parse_scenario("[1]", registry=REGISTRY, file="x")
    with pytest.raises(ScenarioErrors, match=r"apiVersion: expected 'sim.*', got"):
        parse_scenario("{}", registry=REGISTRY, file="x")
    other = "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Tuning\n"
    with pytest.raises(ScenarioErrors, match="x: kind: expected 'Scenario', got 'Tun"):
        parse_scenario(other, registry=REGISTRY, file="x")
    with pytest.raises(ScenarioErrors, match=r"none\.yaml: No such file"):
        load_scenario("none.yaml", registry=REGISTRY)


def test_files_are_relative_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "times.txt").write_text("90  # a build\n2m\n\n")
    (tmp_path / "inner" / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
        "spec: {containers: [{name: c, image: i}]}\n"
    )
    file = tmp_path / "inner" / "s.yaml"
    file.write_text(
        HEADER + "input: {files: [pod.yaml]}\n"
        "steps: [{create: {files: [pod.yaml], count: 2, "
        "runTime: {empirical: {file: times.txt}}}}]\n"
    )
    scenario = load_scenario(file, registry=REGISTRY)
    assert [obj.name for obj in scenario.objects] == ["p"]
    assert scenario.parts[0].run_times == [90, 120]
    assert scenario.name == "s"


def test_a_file_of_run_times_is_checked(tmp_path: Path) -> None:
    (tmp_path / "times.txt").write_text("1m\nlong\n")
    step = {
        "create": {
            "objects": [one_pod("p")],
            "runTime": {"empirical": {"file": "times.txt"}},
        }
    }
    with pytest.raises(ScenarioErrors, match=r"times.txt: line 2: expected seconds"):
        parsed(step, file=str(tmp_path / "s.yaml"))


def test_objects_may_be_written_in_the_scenario() -> None:
    scenario = parsed(objects=[deployment("web", 2), one_pod("p")])
    assert [obj.key for obj in scenario.objects] == [
        "node-000",
        "node-001",
        "default/web",
        "default/p",
    ]


def test_the_schema_describes_every_field() -> None:
    schema = scenario_schema()
    definitions = schema["$defs"]
    assert isinstance(definitions, Mapping)
    silent = [
        (name, key)
        for name, record in definitions.items()
        for key, field in record["properties"].items()
        if not field.get("description")
    ]
    assert silent == []
    assert {"required": ["failZone"]} in definitions["Step"]["oneOf"]
    assert definitions["Document"]["required"] == ["apiVersion", "kind"]


def bad_pod() -> dict[str, object]:
    pod = one_pod("bad")
    pod["spec"] = {"containers": [{"name": "c"}], "priorityClassName": "nope"}
    return pod


@pytest.mark.parametrize(
    "step",
    [
        {"create": {"objects": [bad_pod()]}},
        {"create": {"objects": [bad_pod()], "count": 3}},
        {"apply": {"objects": [bad_pod()]}},
    ],
    ids=["create", "many", "apply"],
)
def test_object_of_a_later_step_is_checked_before_the_run(
    step: dict[str, object],
) -> None:
    scenario = parsed({"at": "1m", "create": {"objects": [one_pod("a")]}}, step)
    with pytest.raises(ScenarioErrors) as caught:
        check_input(scenario)
    said = str(caught.value)
    assert "scenario.yaml: steps[1]." in said
    assert "bad" in said
    assert "nope" in said


def test_objects_of_a_step_may_need_those_of_steps_before() -> None:
    important = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "important"},
        "value": 10,
    }
    pod = one_pod("a")
    pod["spec"] |= {"priorityClassName": "important"}  # type: ignore[operator]  # a mapping
    check_input(
        parsed(
            {"create": {"objects": [important]}},
            {"create": {"objects": [pod]}},
            # A name that is in use may be free by then.
            {"at": "1h", "create": {"objects": [pod]}},
        )
    )


def test_steps_that_may_fail_may_contain_rejected_objects() -> None:
    step = {"create": {"objects": [bad_pod()]}, "mayFail": True}
    check_input(parsed(step))
