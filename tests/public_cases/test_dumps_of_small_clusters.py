"""Dumps of k3s, kind and minikube pass through every command."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app

CASES = Path(__file__).parent
K3S = CASES / "42-k3s-local-path" / "input.yaml"
BOUND = """
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: bound
  annotations:
    pv.kubernetes.io/bind-completed: "yes"
    pv.kubernetes.io/bound-by-controller: "yes"
    volume.kubernetes.io/selected-node: k3s-1
    volume.kubernetes.io/storage-provisioner: PROVISIONER
  finalizers: [kubernetes.io/pvc-protection]
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: local-path
  volumeName: pvc-7c1d
  resources: {requests: {storage: 1Gi}}
status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}}
---
apiVersion: v1
kind: PersistentVolume
metadata:
  name: pvc-7c1d
  annotations: {pv.kubernetes.io/provisioned-by: PROVISIONER}
  finalizers: [kubernetes.io/pv-protection]
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  claimRef: {kind: PersistentVolumeClaim, namespace: default, name: bound}
  hostPath: {path: /opt/pvc-7c1d, type: DirectoryOrCreate}
  persistentVolumeReclaimPolicy: Delete
  storageClassName: local-path
status: {phase: Bound}
---
apiVersion: v1
kind: Pod
metadata: {name: runs}
spec:
  nodeName: k3s-1
  containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]
  volumes: [{name: d, persistentVolumeClaim: {claimName: bound}}]
status:
  phase: Running
  conditions: [{type: Ready, status: "True"}]
"""
PROVISIONERS = (
    "rancher.io/local-path",
    "k8s.io/minikube-hostpath",
    "openebs.io/local",
    "docker.io/hostpath",
    "cluster.local/nfs-subdir-external-provisioner",
)
COMMANDS = (
    ("simulate", "DUMP", "--report", "report.html"),
    ("explain", "postgres-0", "DUMP"),
    ("capacity", "DUMP", "--fit", "sts/postgres"),
    ("plan", "DUMP", "--node-group", "cpu=2,memory=4Gi"),
    ("what-if", "DUMP", "--drain", "k3s-1", "--drain-timeout", "1m"),
    ("snapshot", "DUMP", "-o", "snapshot.yaml"),
    ("compare", "default", "bin-packing", "DUMP"),
)


@pytest.fixture
def dump(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "dump.yaml"
    text = K3S.read_text() + BOUND.replace("PROVISIONER", request.param)
    path.write_text(text.replace("rancher.io/local-path", request.param))
    return str(path)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("dump", PROVISIONERS, indirect=True)
def test_a_dump_passes_through_a_command(
    dump: str,
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [dump if word == "DUMP" else word for word in command]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
