"""``capacity --fit podgroup/NAME`` counts whole gangs, by topology domain."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from quaymaster.simulation import GroupNotFoundError
from tests.kit.gang_files import GATES, gang_yaml, rack_yaml, yaml_file
from tests.kit.internals.cli import app
from tests.kit.results import checked_result


def run(tmp_path: Path, manifest: str, *arguments: str) -> Result:
    path = tmp_path / "cluster.yaml"
    path.write_text(manifest)
    result = CliRunner().invoke(app, ("capacity", *arguments, str(path), *GATES))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def headroom(tmp_path: Path, manifest: str, *arguments: str) -> dict[str, Any]:
    command = ("--fit", "podgroup/train", "-o", "json", *arguments)
    document = json.loads(run(tmp_path, manifest, *command).stdout)
    checked_result("capacity", document)
    [answer] = document["headroom"]
    assert isinstance(answer, dict)
    return answer


def test_whole_gangs_are_counted_in_each_rack(tmp_path: Path) -> None:
    manifest = yaml_file(
        rack_yaml(1), rack_yaml(2), gang_yaml("train", 3, pods=3, in_rack=True)
    )
    answer = headroom(tmp_path, manifest)
    # Each rack has room for four pods, and the gang is in one of them.
    assert answer["fits"] == 1
    assert answer["groupSize"] == 3
    assert sorted(answer["domains"].values()) == [0, 1]
    assert "minCount (3)" in answer["message"]
    assert "preemption" not in answer["message"]


def test_the_answer_is_a_sentence(tmp_path: Path) -> None:
    manifest = yaml_file(rack_yaml(1), gang_yaml("train", 2, pods=2, in_rack=True))
    text = run(tmp_path, manifest, "--fit", "podgroup/train").stdout
    assert "1 more gang of 2 like podgroup/train fits (rack-1: 1); then " in text


def test_a_group_that_lacks_pods_is_copied_with_its_quorum(tmp_path: Path) -> None:
    manifest = yaml_file(rack_yaml(1), gang_yaml("train", 4, pods=1))
    answer = headroom(tmp_path, manifest)
    assert answer["groupSize"] == 4
    assert answer["fits"] == 1
    assert answer["domains"] == {}


def test_gangs_are_not_tried_beyond_the_limit(tmp_path: Path) -> None:
    manifest = yaml_file(rack_yaml(1), gang_yaml("train", 1, pods=1))
    answer = headroom(tmp_path, manifest, "--at-most", "2")
    assert answer["fits"] == 2
    assert answer["limit"] == 2
    assert answer["message"] == ""


def test_gangs_fit_into_the_cluster_as_it_stands(tmp_path: Path) -> None:
    manifest = yaml_file(rack_yaml(1), gang_yaml("train", 2, pods=2, in_rack=True))
    assert headroom(tmp_path, manifest, "--as-it-stands")["fits"] == 2


def test_a_group_without_pods_cannot_be_copied(tmp_path: Path) -> None:
    manifest = yaml_file(rack_yaml(1), gang_yaml("train", 2, pods=0))
    with pytest.raises(GroupNotFoundError, match="it has no pods"):
        run(tmp_path, manifest, "--fit", "podgroup/train")


def test_no_gang_fits(tmp_path: Path) -> None:
    manifest = yaml_file(rack_yaml(1), gang_yaml("train", 9, pods=9))
    result = run(tmp_path, manifest, "--fit", "podgroup/train", "--require-fit")
    assert "0 more gangs of 9 like podgroup/train fit; then " in result.stdout
    assert result.exit_code == 1


@pytest.mark.parametrize("config", ["groups", "default"])
def test_gangs_of_a_priority_class_evict_nobody(tmp_path: Path, config: str) -> None:
    gang = gang_yaml("train", 2, pods=2, in_rack=True)
    urgent = gang.replace("spec:", "spec:\n  priorityClassName: urgent", 1)
    urgent = urgent.replace("containers:", "priorityClassName: urgent\n  containers:")
    lowly = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: lowly}
spec:
  nodeName: node-1-1
  containers: [{name: c, image: nginx, resources: {requests: {cpu: "1"}}}]
"""
    manifest = yaml_file(rack_yaml(1), urgent, lowly)
    answer = headroom(tmp_path, manifest, "--config", config)
    assert answer["fits"] == 0, answer
