"""Questions about what a pod requests, answered by the commands."""

from pathlib import Path

from tests.kit.answers import answer

CASES = Path(__file__).parent


def placed(path: str) -> list[str]:
    return [pod["pod"] for pod in answer("simulate", str(CASES / path))["placements"]]


def test_a_sidecar_adds_to_init_containers_behind_it_and_to_containers() -> None:
    pods = placed("12-sidecar-before-init/input.yaml")
    assert pods == ["default/init-then-sidecar"]


def test_a_deferred_resize_keeps_the_room_and_an_infeasible_one_does_not() -> None:
    assert placed("19-deferred-resize/input.yaml") == []
    assert placed("19-deferred-resize/infeasible.yaml") == ["default/new"]


def test_one_more_node_in_the_zone_of_the_volume_places_the_pod() -> None:
    path = "17-anti-affinity-needs-a-node/input.yaml"
    assert placed(path) == []
    zone = "label:topology.ebs.csi.aws.com/zone=us-a"
    zone += ",label:topology.kubernetes.io/zone=us-a"
    node = f"1:cpu=4,memory=16Gi,{zone}"
    change = ("--add-nodes", f"{node},label:pool=data")
    [step] = answer("what-if", str(CASES / path), *change)["steps"]
    assert [pod["pod"] for pod in step["placed"]] == ["default/pod-a"]
