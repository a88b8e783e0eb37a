"""A line of text describes nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Node
from quaymaster.inmemory import NodesSpecError, make_nodes
from quaymaster.objects import Quantity, Taint


def names(nodes: list[Node]) -> list[str]:
    return [node.name for node in nodes]


def test_count_and_resources_make_equal_nodes() -> None:
    nodes = make_nodes(["3:cpu=4,memory=16Gi"])
    assert names(nodes) == ["node-000", "node-001", "node-002"]
    for node in nodes:
        assert node.status.allocatable == node.status.capacity
        assert node.status.capacity == {
            "cpu": Quantity("4"),
            "memory": Quantity("16Gi"),
            "pods": Quantity("110"),
            "ephemeral-storage": Quantity("100Gi"),
        }


def test_nodes_have_the_labels_of_real_ones() -> None:
    (node,) = make_nodes(["1:cpu=1500m,memory=1Gi,zones=1"])
    assert node.labels == {
        "kubernetes.io/hostname": "node-000",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": "1500mcpu-1Gi",
        "beta.kubernetes.io/instance-type": "1500mcpu-1Gi",
        "topology.kubernetes.io/zone": "zone-a",
        "failure-domain.beta.kubernetes.io/zone": "zone-a",
        "topology.kubernetes.io/region": "region",
        "failure-domain.beta.kubernetes.io/region": "region",
    }


def test_nodes_without_zones_are_in_no_region() -> None:
    (node,) = make_nodes(["1:cpu=1,memory=1Gi"])
    assert not any("region" in label or "zone" in label for label in node.labels)


def test_instance_type_can_be_given() -> None:
    (node,) = make_nodes(["1:cpu=1,memory=1Gi,instance-type=m5.large"])
    assert node.labels["node.kubernetes.io/instance-type"] == "m5.large"


def test_labels_may_be_empty() -> None:
    (node,) = make_nodes(["1:cpu=1,memory=1Gi,label:node-role.kubernetes.io/worker="])
    assert node.labels["node-role.kubernetes.io/worker"] == ""


def test_zones_take_turns() -> None:
    nodes = make_nodes(["5:cpu=1,memory=1Gi,zones=3,region=eu"])
    zones = [node.labels["topology.kubernetes.io/zone"] for node in nodes]
    assert zones == ["zone-a", "zone-b", "zone-c", "zone-a", "zone-b"]
    assert {node.labels["topology.kubernetes.io/region"] for node in nodes} == {"eu"}


def test_zones_go_on_after_z() -> None:
    nodes = make_nodes(["28:cpu=1,memory=1Gi,zones=28"])
    zones = [node.labels["topology.kubernetes.io/zone"] for node in nodes]
    assert zones[25:] == ["zone-z", "zone-aa", "zone-ab"]


def test_all_resources_can_be_given() -> None:
    (node,) = make_nodes(
        ["1:cpu=4,memory=1Gi,pods=20,ephemeral-storage=1Ti,nvidia.com/gpu=8"]
    )
    assert node.status.capacity == {
        "cpu": Quantity(4),
        "memory": Quantity("1Gi"),
        "pods": Quantity(20),
        "ephemeral-storage": Quantity("1Ti"),
        "nvidia.com/gpu": Quantity(8),
    }


def test_labels_and_taints_can_be_given() -> None:
    (node,) = make_nodes(
        [
            "1:cpu=4,memory=1Gi,label:disk=ssd,label:a/b=c,taint:only=ml:NoSchedule,taint:old:NoExecute"
        ]
    )
    assert (node.labels["disk"], node.labels["a/b"]) == ("ssd", "c")
    assert node.spec.taints == (
        Taint(key="only", value="ml", effect="NoSchedule"),
        Taint(key="old", effect="NoExecute"),
    )


def test_several_lines_count_on() -> None:
    nodes = make_nodes(
        [
            "2:cpu=1,memory=1Gi",
            "1:cpu=2,memory=1Gi",
            "1:cpu=3,memory=1Gi,name=gpu",
            "1:cpu=4,memory=1Gi",
        ]
    )
    assert names(nodes) == ["node-000", "node-001", "node-002", "gpu-000", "node-003"]


def test_existing_names_are_skipped() -> None:
    nodes = make_nodes(["2:cpu=1,memory=1Gi"], taken=["node-000", "node-002"])
    assert names(nodes) == ["node-001", "node-003"]


def test_large_groups_get_more_digits() -> None:
    assert names(make_nodes(["1001:cpu=1,memory=1Gi"]))[-1] == "node-1000"
    assert names(make_nodes(["1001:cpu=1,memory=1Gi"]))[0] == "node-0000"


def test_zero_nodes_are_not_an_error() -> None:
    assert make_nodes(["0:cpu=1,memory=1Gi"]) == []
    assert make_nodes([]) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "expected COUNT:KEY=VALUE"),
        ("100", "expected COUNT:KEY=VALUE"),
        ("x:cpu=4", "expected COUNT:KEY=VALUE"),
        ("-1:cpu=4", "expected COUNT:KEY=VALUE"),
        ("3:", "expected COUNT:KEY=VALUE"),
        (f"{'9' * 40}:cpu=4", "expected at most 18 digits before the colon, got 40"),
        ("3:cpu", "expected KEY=VALUE between commas, got 'cpu'"),
        ("3:cpu=4,,", "expected KEY=VALUE between commas, got nothing"),
        ("3:cpu=4,cpu=5", "cpu: expected once, came twice"),
        ("3:cpu=much", "cpu: expected a quantity"),
        ("3:cpu=-4", "cpu: expected an amount of at least 0, got '-4'"),
        ("3:cores=4", "cores: expected cpu, memory, pods"),
        ("3:zones=0", "zones: expected a number of at least 1, got '0'"),
        ("3:zones=many", "zones: expected a number of at least 1, got 'many'"),
        ("3:cpu=4", "expected memory, too, such as memory=16Gi; got none"),
        ("3:memory=4Gi", "expected cpu, too, such as cpu=4; got none"),
        ("3:zones=3", "expected cpu, too, such as cpu=4; got none"),
        ("3:name=My_Node", "name: expected lower-case letters"),
        ("3:devices=gpu:x", "devices: expected DRIVER:COUNT, such as gpu.example"),
        ("3:devices=a.b:0", "devices: a.b: expected 1 to 1024 devices, got 0"),
        ("3:devices=a.b:1,devices=a.b:1", "devices: a.b: expected once, came twice"),
        ("3:taint:a=b", "taint: expected KEY=VALUE:EFFECT"),
        ("3:taint:a=b:Never", "taint: expected KEY=VALUE:EFFECT"),
    ],
)
def test_error_of_an_invalid_line_shows_the_expected_form(
    spec: str, message: str
) -> None:
    with pytest.raises(NodesSpecError) as caught:
        make_nodes([spec])
    assert f"nodes {spec!r}: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.spec == spec


@given(
    counts=st.lists(st.integers(0, 30), max_size=4),
    taken=st.sets(st.integers(0, 60).map(lambda number: f"node-{number:03}")),
)
def test_names_never_clash(counts: list[int], taken: set[str]) -> None:
    nodes = make_nodes([f"{count}:cpu=1,memory=1Gi" for count in counts], taken=taken)
    assert len(set(names(nodes)) | taken) == sum(counts) + len(taken)
