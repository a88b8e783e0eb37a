"""What ``quaymaster deploy render`` gives, and a user with exactly these rights."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml
from click.testing import CliRunner

from tests.e2e.client import ApiClient, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.files import write_kubeconfig
from tests.kit.internals.cli import app
from tests.kit.internals.deploy import Need, Right

__all__ = [
    "PILOT",
    "SECOND",
    "Asked",
    "account_of",
    "apply",
    "asked_by",
    "config_of",
    "grant",
    "is_given",
    "rendered",
]

Tree: TypeAlias = dict[str, Any]
Asked: TypeAlias = Counter[Right | str]
"""How often something was asked for: a right, or a path of no resource."""

PILOT: Final = "pilot"
SECOND: Final = ("--scheduler-name", "second", "--name", "second")
"""The options of a second scheduler."""

_RBAC: Final = "rbac.authorization.k8s.io"


def rendered(*arguments: str) -> list[Tree]:
    """The objects of a deployment."""
    result = CliRunner().invoke(app, ["deploy", "render", *arguments])
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


def config_of(trees: Sequence[Tree], folder: Path) -> Path:
    """The configuration of a deployment, as its pods find it."""
    (found,) = [tree for tree in trees if tree["kind"] == "ConfigMap"]
    file = folder / "config.yaml"
    file.write_text(found["data"]["config.yaml"])
    return file


def apply(admin: ApiClient, trees: Sequence[Tree]) -> None:
    """Create all objects of a deployment."""
    for tree in trees:
        admin.create(tree)


def account_of(plane: ControlPlane, trees: Sequence[Tree]) -> tuple[str, Path]:
    """The user that a deployment's service account is, and a kubeconfig of it."""
    (account,) = [tree for tree in trees if tree["kind"] == "ServiceAccount"]
    metadata = account["metadata"]
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": 3600},
    }
    answer = plane.client().request("POST", f"{path_of(account)}/token", request)
    file = plane.folder / f"{metadata['name']}.kubeconfig"
    write_kubeconfig(file, plane.url, plane.authority, answer["status"]["token"])
    user = f"system:serviceaccount:{metadata['namespace']}:{metadata['name']}"
    return user, file


def grant(admin: ApiClient, trees: Sequence[Tree], user: str) -> None:
    """Create the roles of a deployment, and give them to a user."""
    subject = {"kind": "User", "name": user, "apiGroup": _RBAC}
    for tree in trees:
        if tree["kind"].endswith("Role"):
            admin.create(tree)
        elif tree["kind"].endswith("RoleBinding"):
            admin.create({**tree, "subjects": [subject]})


def asked_by(plane: ControlPlane, user: str) -> Asked:
    """What a user has asked of the server; the cluster needs ``audit``."""
    asked: Asked = Counter()
    for event in plane.audit_events():
        if event["user"]["username"] != user:
            continue
        about = event.get("objectRef") or {}
        if "resource" not in about:
            asked[event["requestURI"].partition("?")[0]] += 1
            continue
        part = about.get("subresource", "")
        resource = "/".join(filter(None, (about["resource"], part)))
        where = (about.get("namespace", ""), about.get("name", ""))
        asked[Right(event["verb"], resource, about.get("apiGroup", ""), *where)] += 1
    return asked


def is_given(right: Right, needs: Sequence[Need]) -> bool:
    """Whether a right is one of those that are needed."""
    return any(
        (one.verb, one.resource, one.group) == (right.verb, right.resource, right.group)
        and one.namespace in ("", right.namespace)
        and one.name in ("", right.name)
        for one in (need.right for need in needs)
    )
