"""``quaymaster run`` with the rendered rights uses no others."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.error import HTTPError

import msgspec
import pytest
from click.testing import CliRunner

from quaymaster.config import load_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_storage_class,
)
from tests.e2e.binaries import SERVED
from tests.e2e.client import ApiClient, Tree, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.deployed import (
    SECOND,
    account_of,
    apply,
    config_of,
    is_given,
    rendered,
    requests_of,
)
from tests.e2e.ports import ask, free_ports
from tests.e2e.processes import Program, eventually
from tests.kit.internals.cli import app
from tests.kit.internals.deploy import Right, rights_of

STRANGER: Final = "stranger"
QUAYMASTER: Final = Path(sys.executable).with_name("quaymaster")


@pytest.fixture(scope="module")
def plane(servers: None) -> Iterator[ControlPlane]:
    with ControlPlane(users={STRANGER: []}, audit=True) as plane:
        yield plane


def scheduler(
    plane: ControlPlane, config: Path, kubeconfig: Path
) -> tuple[Program, str]:
    """Return ``quaymaster run`` as the service account, and its pages' address."""
    (port,) = free_ports(1)
    url = f"https://127.0.0.1:{port}"
    command: list[str | Path] = [
        QUAYMASTER,
        "run",
        f"--config={config}",
        f"--kubeconfig={kubeconfig}",
        f"--secure-port={port}",
        f"--kubernetes={SERVED}",
    ]

    def is_ready() -> bool:
        try:
            return bool(ask(f"{url}/readyz"))
        except OSError:
            return False

    return plane.run(command, is_ready=is_ready), url


def pod(name: str, cpu: str, **spec: object) -> Tree:
    """Return a pod of the second scheduler."""
    requests = {"requests": {"cpu": cpu}}
    container = {"name": "main", "image": "nginx", "resources": requests}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"schedulerName": "second", "containers": [container], **spec},
    }


def play(admin: ApiClient) -> None:
    """Make the scheduler do all that the default profile can do."""

    def placed(tree: Tree) -> None:
        path = path_of(admin.create(tree))
        eventually(lambda: admin.get(path)["spec"].get("nodeName"), what=path)

    admin.create(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 1000,
        }
    )
    admin.create(make_node(name="n", capacity={"cpu": "2", "memory": "4Gi"}))
    admin.create(make_storage_class(provisioner="kubernetes.io/no-provisioner"))
    admin.create(make_persistent_volume(name="v"))
    admin.patch(f"{_VOLUME}/status", {"status": {"phase": "Available"}})
    admin.create(make_persistent_volume_claim(name="data"))
    placed(pod("low", "1500m"))
    claim = {"name": "d", "persistentVolumeClaim": {"claimName": "data"}}
    stateful = path_of(admin.create(pod("stateful", "100m", volumes=[claim])))
    eventually(lambda: admin.get(_VOLUME)["spec"].get("claimRef"))
    # The rest is done by the controller manager.
    completed = {"metadata": {"annotations": {_COMPLETED: "yes"}}}
    admin.patch(_CLAIM, {**completed, "spec": {"volumeName": "v"}})
    admin.patch(f"{_CLAIM}/status", {"status": {"phase": "Bound"}})
    eventually(lambda: admin.get(stateful)["spec"].get("nodeName"))
    dynamic = make_storage_class(name="dynamic")
    admin.create(dynamic)
    admin.create(make_persistent_volume_claim(name="late", storage_class="dynamic"))
    late = {"name": "d", "persistentVolumeClaim": {"claimName": "late"}}
    waiting = path_of(admin.create(pod("late", "100m", volumes=[late])))
    eventually(lambda: admin.get(_LATE)["metadata"].get("annotations"))
    admin.delete(waiting, grace=0)
    impossible = path_of(admin.create(pod("impossible", "64")))
    eventually(lambda: admin.get(impossible)["status"].get("conditions"))
    placed(pod("high", "1", priorityClassName="high"))


# Without reads of single objects, as to settle a binding, and without lists, which are
# needed only where watches cannot begin with the existing objects.
_SELDOM: Final = {
    ("patch", "events"),
    # No pod of the test claims devices.
    ("create", "resourceclaims"),
    ("update", "resourceclaims"),
    ("delete", "resourceclaims"),
    ("patch", "resourceclaims/status"),
    ("patch", "resourceclaims/binding"),
}
# Kubernetes binds the role system:public-info-viewer to all users.
_READ_BY_WHOEVER_SIGNS_IN: Final = {"/version"}
_FORBIDDEN: Final = 403
_VOLUME: Final = "/api/v1/persistentvolumes/v"
_CLAIM: Final = "/api/v1/namespaces/default/persistentvolumeclaims/data"
_LATE: Final = "/api/v1/namespaces/default/persistentvolumeclaims/late"
_COMPLETED: Final = "pv.kubernetes.io/bind-completed"


def test_it_works_with_these_rights_and_asks_for_nothing_else(
    plane: ControlPlane, tmp_path: Path
) -> None:
    trees = rendered(*SECOND)
    apply(plane.client(), trees)
    user, kubeconfig = account_of(plane, trees)
    config = config_of(trees, tmp_path)
    program, url = scheduler(plane, config, kubeconfig)
    with plane.kubelets(), program:
        play(plane.client())
        # A read of pages without the right to makes it send both reviews.
        with pytest.raises(HTTPError, match="403"):
            ask(f"{url}/configz", token=plane.token(STRANGER))
        eventually(lambda: not rivals(plane, config))
        other = tmp_path / "other.yaml"
        other.write_text(
            config.read_text().replace("resourceName: second", "resourceName: other")
        )
        host = socket.gethostname()
        eventually(
            lambda: (
                rivals(plane, other)
                == [f"{host} has recently scheduled pods of 'second'"]
            )
        )
    requests = requests_of(plane, user)
    registry = PluginRegistry.discover()
    needs = rights_of(load_config(config, registry, kubernetes=SERVED), registry)
    paths = {request for request in requests if isinstance(request, str)}
    foreign = {
        str(request)
        for request in requests
        if isinstance(request, Right) and not is_given(request, needs)
    }
    assert (paths, foreign) == (_READ_BY_WHOEVER_SIGNS_IN, set())
    assert not [event for event in plane.audit_events() if is_refused(event, user)]
    done = {
        (request.verb, request.resource)
        for request in requests
        if isinstance(request, Right)
    }
    verbs = {(need.right.verb, need.right.resource) for need in needs}
    unused = {verb for verb in verbs - done if verb[0] not in ("get", "list")}
    assert unused <= _SELDOM


def rivals(plane: ControlPlane, config: Path) -> list[str]:
    """Return the schedulers of the same pods that the doctor finds with all rights."""
    where = [f"--config={config}", f"--kubeconfig={plane.kubeconfig()}"]
    words = ["doctor", *where, "--secure-port=0", "-o", "json"]
    found = msgspec.json.decode(CliRunner().invoke(app, words).stdout)
    rivals_found = [finding for finding in found if finding["check"] == "rivals"]
    return [finding["found"] for finding in rivals_found if finding["state"] != "ok"]


def test_doctor_agrees_as_the_account_and_on_its_behalf(
    plane: ControlPlane, tmp_path: Path
) -> None:
    trees = rendered("--scheduler-name", "third", "--name", "third")
    apply(plane.client(), trees)
    user, kubeconfig = account_of(plane, trees)
    asking = ["doctor", f"--config={config_of(trees, tmp_path)}", "--secure-port=0"]
    for how in (
        [f"--kubeconfig={kubeconfig}"],
        [f"--kubeconfig={plane.kubeconfig()}", f"--as={user}"],
    ):
        result = CliRunner().invoke(app, [*asking, *how])
        assert result.exit_code == 0, result.output
        assert f"answers as {user}" in result.stdout


def is_refused(event: Tree, user: str) -> bool:
    """Whether a request of the scheduler was refused for a missing right."""
    code = event.get("responseStatus", {}).get("code")
    return bool(event["user"]["username"] == user and code == _FORBIDDEN)
