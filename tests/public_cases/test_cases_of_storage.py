"""Questions about provisioned volumes, answered by the commands."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app

CASES = Path(__file__).parent
K3S = CASES / "42-k3s-local-path" / "input.yaml"
CAPACITY = CASES / "25-storage-capacity-two-claims"
SECOND_NODE = """
---
apiVersion: v1
kind: Node
metadata: {name: k3s-2, labels: {kubernetes.io/hostname: k3s-2}}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "110"}}
"""


def run(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*arguments, "-o", "json"])
    assert result.exit_code in (0, 1), result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def placements(path: Path) -> dict[str, str | None]:
    return {pod["pod"]: pod["node"] for pod in run("simulate", str(path))["placements"]}


@pytest.mark.parametrize(
    "provisioner",
    [
        "rancher.io/local-path",
        "k8s.io/minikube-hostpath",
        "openebs.io/local",
        "docker.io/hostpath",
        "cluster.local/nfs-subdir-external-provisioner",
        "example.com/not-in-any-list",
    ],
)
def test_a_provisioner_with_a_slash_provisions_volumes(
    provisioner: str, tmp_path: Path
) -> None:
    path = tmp_path / "input.yaml"
    path.write_text(K3S.read_text().replace("rancher.io/local-path", provisioner))
    assert placements(path) == {"default/postgres-0": "k3s-1"}


def test_a_drain_leaves_a_pod_with_a_local_disk_pending(tmp_path: Path) -> None:
    path = tmp_path / "input.yaml"
    path.write_text(K3S.read_text() + SECOND_NODE)
    answer = run("what-if", str(path), "--drain", "k3s-1")
    (pod,) = answer["after"]["pending"]
    assert pod["pod"] == "default/postgres-0"
    assert "node(s) didn't match PersistentVolume's node affinity" in pod["reasons"]


def test_claims_of_one_pod_are_compared_with_the_capacity_one_by_one() -> None:
    answer = run("simulate", str(CAPACITY / "input.yaml"))
    assert [pod["pod"] for pod in answer["placements"]] == ["default/two-claims"]
    (pod,) = answer["unscheduled"]
    assert pod["pod"] == "default/too-big"
    assert "did not have enough free storage" in pod["message"]


@pytest.mark.long
def test_one_of_five_claims_of_7gi_fits_into_10gi() -> None:
    path = CAPACITY / "five-replicas.yaml"
    assert placements(path) == {"default/db-0": "s1"}
    answer = CliRunner().invoke(app, ["capacity", str(path), "--fit", "sts/db"])
    assert "0 more of sts/db fit" in answer.stdout


def test_capacity_counts_the_volumes_that_published_capacity_allows(
    tmp_path: Path,
) -> None:
    path = tmp_path / "input.yaml"
    text = (CAPACITY / "five-replicas.yaml").read_text()
    path.write_text(text.replace("10Gi", "30Gi").replace("replicas: 5", "replicas: 1"))
    answer = CliRunner().invoke(app, ["capacity", str(path), "--fit", "sts/db"])
    assert "3 more of sts/db fit" in answer.stdout
