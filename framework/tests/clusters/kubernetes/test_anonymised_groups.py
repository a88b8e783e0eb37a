"""Groups keep their members, parents and templates under other names."""

import json
from typing import Any

import pytest

from quaymaster.objects import CompositePodGroup, PodGroup, Workload, to_wire
from quaymaster.testing import (
    make_composite_pod_group,
    make_pod,
    make_pod_group,
    make_workload,
)
from tests.kit.internals.groups import kubernetes_with_groups
from tests.kit.internals.kubernetes import anonymised, resources_of
from tests.kit.internals.objects import KindSet

SECRETS = ("orca", "tuna", "crane", "hunter2")


@pytest.fixture
def other() -> list[dict[str, Any]]:
    group = make_pod_group(name="orca", parent="tuna", workload="crane")
    objects = [
        group,
        make_composite_pod_group(name="tuna", workload="crane"),
        make_workload(name="crane", groups={"orca": 2}),
        make_pod(name="hunter2", scheduling_group="orca"),
    ]
    return anonymised([to_wire(obj) for obj in objects], KindSet())


def test_no_name_of_a_group_remains(other: list[dict[str, Any]]) -> None:
    text = json.dumps(other)
    assert [word for word in SECRETS if word in text] == []


def test_members_parents_and_templates_are_found(other: list[dict[str, Any]]) -> None:
    group, composite, workload, pod = other
    name = group["metadata"]["name"]
    assert pod["spec"]["schedulingGroup"] == {"podGroupName": name}
    parent = group["spec"]["parentCompositePodGroupName"]
    assert parent == composite["metadata"]["name"]
    assert group["spec"]["workloadRef"] == {
        "workloadName": workload["metadata"]["name"],
        "templateName": name,
    }
    assert workload["spec"]["podGroupTemplates"][0]["name"] == name


def test_group_keeps_its_protection_and_its_topology() -> None:
    tree = to_wire(make_pod_group(topology_key="example.com/rack"))
    protection = "scheduling.k8s.io/podgroup-protection"
    tree["metadata"]["finalizers"] = [protection]
    (group,) = anonymised([tree], KindSet())
    assert group["metadata"]["finalizers"] == [protection]
    topology = group["spec"]["schedulingConstraints"]["topology"]
    assert topology == [{"key": "example.com/rack"}]


def test_groups_are_read_of_a_server_while_their_gates_are_on() -> None:
    kinds = {PodGroup.kind, Workload.kind, CompositePodGroup.kind}
    assert not kinds & {resource.kind for resource in resources_of()}
    read = {resource.kind for resource in resources_of((), kubernetes_with_groups())}
    assert kinds & read == {"PodGroup", "Workload"}
