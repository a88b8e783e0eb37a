"""Groups of nodes that are described by a line, or in a file."""

from decimal import Decimal
from pathlib import Path

import pytest

from quaymaster.config import ConfigErrors
from quaymaster.planning import NodeGroup, NodeGroupError, parse_node_group
from quaymaster.planning import read_node_groups as read

HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: NodeGroups
groups:
"""
BIG = """
  - name: big
    price: 0.4
    min: 1
    max: 20
    zones: 3
    region: eu
    instanceType: large
    resources: {cpu: 16, memory: 64Gi, nvidia.com/gpu: "2"}
    labels: {disk: ssd}
    taints:
      - {key: dedicated, value: ml, effect: NoSchedule}
      - {key: slow, effect: PreferNoSchedule}
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "groups.yaml"
    path.write_text(text)
    return str(path)


def test_a_line_describes_the_group_and_its_nodes() -> None:
    group = parse_node_group("cpu=4,price=0.40,memory=16Gi,min=1,max=9,name=a,zones=2")
    assert group == NodeGroup(
        name="a",
        shape="cpu=4,memory=16Gi,zones=2",
        price=Decimal("0.4"),
        min_nodes=1,
        max_nodes=9,
    )
    assert group.spec(3) == "3:name=a,cpu=4,memory=16Gi,zones=2"
    assert group.zones() == ("zone-a", "zone-b")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cpu=4", "memory: expected|expected memory, too"),
        ("cpu=4,memory=16Gi,price=x", "price: expected an amount such as 0.40"),
        ("cpu=4,memory=16Gi,min=-1", "min: expected a number of nodes"),
        ("cpu=4,memory=16Gi,min=3,max=2", "max: expected at least min, which is 3"),
        ("cpu=4,memory=16Gi,max=1,max=2", "max: expected once, came twice"),
        ("3:cpu=4,memory=16Gi", "3:cpu: expected cpu, memory"),
        ("", "expected KEY=VALUE"),
        ("cpu=4,memory=16Gi,name=", "expected KEY=VALUE"),
    ],
)
def test_mistakes_are_reported_with_the_line(spec: str, message: str) -> None:
    with pytest.raises(NodeGroupError, match=message) as error:
        parse_node_group(spec)
    assert error.value.where == f"node group {spec!r}"


def test_a_file_has_the_same_groups(tmp_path: Path) -> None:
    [group] = read(written(tmp_path, HEAD + BIG))
    line = (
        "name=big,price=0.4,min=1,max=20,zones=3,region=eu,instance-type=large,cpu=16,"
        "memory=64Gi,nvidia.com/gpu=2,label:disk=ssd,taint:dedicated=ml:NoSchedule,"
        "taint:slow:PreferNoSchedule"
    )
    assert group == parse_node_group(line)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max: 20", "max: many", r"groups\[0\]\.max: expected an integer"),
        ("price: 0.4", "price: -1", r"groups\[0\]\.price: expected"),
        ("zones: 3", "zone: 3", r"groups\[0\].*zone"),
        ("kind: NodeGroups", "kind: Nodes", "kind: expected"),
    ],
)
def test_mistakes_in_a_file_are_reported_with_their_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    file = written(tmp_path, (HEAD + BIG).replace(old, new))
    with pytest.raises(ConfigErrors, match=message):
        read(file)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max: 20", "max: 0", r"groups\[0\] \(big\): max: expected at least min"),
        ("disk: ssd", 'disk: "a,cpu=9"', "expected no comma"),
        ("NoSchedule}", "Never}", "taint: expected"),
    ],
)
def test_groups_of_a_file_without_nodes_are_reported_with_their_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    file = written(tmp_path, (HEAD + BIG).replace(old, new, 1))
    with pytest.raises(NodeGroupError, match=message):
        read(file)
