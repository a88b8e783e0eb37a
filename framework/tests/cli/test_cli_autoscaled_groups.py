"""``--autoscaler`` with PodGroups: as upstream, their pods are tried one by one."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.gang_files import gang_yaml
from tests.kit.internals.cli import app

AUTOSCALER = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: ClusterAutoscaler
groups:
- name: rack
  max: 6
  resources: {cpu: 4, memory: 16Gi}
  labels: {topology.kubernetes.io/rack: r9}
"""


@pytest.mark.long
@pytest.mark.parametrize("in_rack", [False, True], ids=["anywhere", "in a rack"])
def test_a_pending_gang_gets_the_nodes_that_its_pods_need(
    tmp_path: Path, in_rack: bool
) -> None:
    gang, autoscaler = tmp_path / "gang.yaml", tmp_path / "autoscaler.yaml"
    cluster = (
        "apiVersion: v1\nkind: Node\nmetadata: {name: tiny}\n"
        "status: {allocatable: {cpu: 100m, memory: 1Gi, pods: 10}}\n---\n"
    )
    gang.write_text(cluster + gang_yaml("train", 3, pods=3, cpu=3, in_rack=in_rack))
    autoscaler.write_text(AUTOSCALER)
    command = ["simulate", str(gang), "--config", "groups", "-o", "json"]
    result = CliRunner().invoke(app, [*command, "--autoscaler", str(autoscaler)])
    document = json.loads(result.stdout)
    nodes = {placement["node"] for placement in document["placements"]}
    assert nodes == {"rack-0", "rack-1", "rack-2"}
