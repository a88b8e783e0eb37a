"""A real API server has and drops the fields that we list.

Each object of the file is created under strict validation. Where the server rejects a
field as unknown, we do, too. We warn of the fields that it drops.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from quaymaster.config import Kubernetes
from quaymaster.manifests import ManifestErrors, NoticeReason, load
from tests.e2e.client import ApiClient, RefusedError, Tree, path_of
from tests.e2e.control_plane import ControlPlane

FILE: Final = Path(__file__).with_name("gated_fields.yaml")
OBJECTS: Final[list[Tree]] = list(yaml.safe_load_all(FILE.read_text()))
STRICT: Final = {"fieldValidation": "Strict"}


def called(tree: Tree) -> str:
    return f"{tree['kind']}-{tree['metadata']['name']}"


@pytest.fixture(scope="module")
def version(control_plane: ControlPlane) -> Kubernetes:
    served = control_plane.client().request("GET", "/version")
    return Kubernetes(f"{served['major']}.{served['minor'].rstrip('+')}")


@pytest.mark.parametrize("tree", OBJECTS, ids=called)
def test_server_drops_and_refuses_the_same_fields(
    admin: ApiClient, version: Kubernetes, tree: Tree, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(tree))
    try:
        notices = load([path], kubernetes=version).notices
    except ManifestErrors as errors:
        with pytest.raises(RefusedError, match="unknown field") as refusal:
            create(admin, tree)
        for problem in errors.problems:
            assert f'"{problem.path}"' in str(refusal.value)
        return
    warned = {
        notice.path
        for notice in notices
        if notice.reason is NoticeReason.DROPPED_FIELDS
    }
    assert set(lost(tree, create(admin, tree))) == warned


def create(admin: ApiClient, tree: Tree) -> Tree:
    """Create an object with its status, and return the stored object."""
    stored = admin.request("POST", path_of(tree, named=False), tree, query=STRICT)
    if "status" in tree and tree["kind"] != "Node":
        stored["status"] = tree["status"]
        stored = admin.request("PUT", f"{path_of(tree)}/status", stored, query=STRICT)
    return stored


def lost(given: object, stored: object, path: str = "") -> Iterator[str]:
    """Yield the fields of an object that are not in another one."""
    if isinstance(given, dict) and isinstance(stored, dict):
        for key, value in given.items():
            where = f"{path}.{key}".removeprefix(".")
            if key in stored:
                yield from lost(value, stored[key], where)
            else:
                yield where
    elif isinstance(given, list) and isinstance(stored, list):
        for index, pair in enumerate(zip(given, stored, strict=True)):
            yield from lost(*pair, f"{path}[{index}]")
