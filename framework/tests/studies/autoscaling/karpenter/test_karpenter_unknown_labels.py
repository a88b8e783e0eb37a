"""A misspelt label of a requirement is one warning."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from quaymaster.autoscaling import read_autoscaler
from quaymaster.simulation import Simulation
from quaymaster.testing import make_deployment, make_pod

TYPE = {
    "name": "m5.large",
    "capacity": {"cpu": 2, "memory": "8Gi", "pods": 50},
    "offerings": [{"zone": "a", "capacityType": "on-demand", "price": 0.1}],
}


def warnings_of(
    folder: Path, selector: dict[str, str], *requirements: dict[str, Any]
) -> list[str]:
    pool = {
        "metadata": {"name": "general"},
        "spec": {"template": {"spec": {"requirements": list(requirements)}}},
    }
    document = {
        "apiVersion": "simulation.quaymaster.io/v1alpha1",
        "kind": "Karpenter",
        "types": [TYPE],
        "nodePools": [pool],
    }
    file = folder / "karpenter.yaml"
    file.write_bytes(msgspec.yaml.encode(document))
    pod = make_pod(requests={"cpu": "1"}, node_selector=selector)
    web = make_deployment(name="web", replicas=3, pod=pod)
    with Simulation([web], autoscaler=read_autoscaler(str(file))) as simulation:
        simulation.run_until(60)
        notices = simulation.result().notices
    return [str(each) for each in notices if "has the label" in each.message]


def test_misspelt_label_of_pods_is_one_warning(tmp_path: Path) -> None:
    [text] = warnings_of(tmp_path, {"topology.kubernets.io/zone": "a"})
    assert text.startswith("Pod default/web-")
    assert text.endswith(
        " and 2 more: no instance type, NodePool or node has the label "
        "'topology.kubernets.io/zone'; did you mean 'topology.kubernetes.io/zone'?"
    )


def test_misspelt_label_of_a_pool_is_one_warning(tmp_path: Path) -> None:
    wrong = {"key": "topology.kubernetes.io/zome", "operator": "In", "values": ["a"]}
    [text] = warnings_of(tmp_path, {}, wrong)
    assert text == (
        "NodePool general: spec.template.spec.requirements: no instance type, NodePool "
        "or node has the label 'topology.kubernetes.io/zome'; "
        "did you mean 'topology.kubernetes.io/zone'?"
    )


@pytest.mark.parametrize("key", ["example.com/team", "topology.kubernetes.io/zone"])
def test_labels_that_pools_define_are_no_mistakes(tmp_path: Path, key: str) -> None:
    own = {"key": key, "operator": "In", "values": ["a"]}
    assert warnings_of(tmp_path, {key: "a"}, own) == []
