"""The objects of ``quaymaster deploy render``, and a user with exactly their rights."""

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
    "RequestCounts",
    "account_of",
    "apply",
    "config_of",
    "grant",
    "is_given",
    "rendered",
    "requests_of",
]

Tree: TypeAlias = dict[str, Any]
RequestCounts: TypeAlias = Counter[Right | str]
"""The number of requests by right, or by path if it is not a resource."""

PILOT: Final = "pilot"
SECOND: Final = ("--scheduler-name", "second", "--name", "second")
"""The options of a second scheduler."""

_RBAC: Final = "rbac.authorization.k8s.io"


def rendered(*arguments: str) -> list[Tree]:
    """Return the objects of a deployment."""
    result = CliRunner().invoke(app, ["deploy", "render", *arguments])
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


def config_of(trees: Sequence[Tree], folder: Path) -> Path:
    """Write the configuration of a deployment to a file, as its pods find it."""
    (found,) = [tree for tree in trees if tree["kind"] == "ConfigMap"]
    file = folder / "config.yaml"
    file.write_text(found["data"]["config.yaml"])
    return file


def apply(admin: ApiClient, trees: Sequence[Tree]) -> None:
    """Create all objects of a deployment."""
    for tree in trees:
        admin.create(tree)


def account_of(plane: ControlPlane, trees: Sequence[Tree]) -> tuple[str, Path]:
    """Return the user of a deployment's service account, and its kubeconfig."""
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
    """Create the roles of a deployment, and bind them to a user."""
    subject = {"kind": "User", "name": user, "apiGroup": _RBAC}
    for tree in trees:
        if tree["kind"].endswith("Role"):
            admin.create(tree)
        elif tree["kind"].endswith("RoleBinding"):
            admin.create({**tree, "subjects": [subject]})


def requests_of(plane: ControlPlane, user: str) -> RequestCounts:
    """Count a user's requests to the server; the cluster needs ``audit``."""
    counts: RequestCounts = Counter()
    for event in plane.audit_events():
        if event["user"]["username"] != user:
            continue
        about = event.get("objectRef") or {}
        if "resource" not in about:
            counts[event["requestURI"].partition("?")[0]] += 1
            continue
        part = about.get("subresource", "")
        resource = "/".join(filter(None, (about["resource"], part)))
        where = (about.get("namespace", ""), about.get("name", ""))
        counts[Right(event["verb"], resource, about.get("apiGroup", ""), *where)] += 1
    return counts


def is_given(right: Right, needs: Sequence[Need]) -> bool:
    """Whether a right is one of the needed ones."""
    return any(
        (needed.verb, needed.resource, needed.group)
        == (right.verb, right.resource, right.group)
        and needed.namespace in ("", right.namespace)
        and needed.name in ("", right.name)
        for needed in (need.right for need in needs)
    )
