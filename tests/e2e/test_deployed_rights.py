"""What ``quaymaster deploy render`` prints, on a real API server."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest
import yaml
from click.testing import CliRunner

from tests.e2e.client import ApiClient, Tree, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.deployed import PILOT, SECOND, grant, rendered
from tests.e2e.processes import eventually
from tests.kit.internals.cli import app


@pytest.mark.parametrize(
    "arguments",
    [(), SECOND, ("--config", "bin-packing", "--replicas", "1"), ("-n", "default")],
    ids=["the only one", "a second one", "bin-packing", "another namespace"],
)
def test_server_takes_everything_and_warns_of_nothing(
    admin: ApiClient, arguments: tuple[str, ...]
) -> None:
    query = {"dryRun": "All", "fieldValidation": "Strict"}
    for tree in rendered(*arguments):
        path = path_of(tree, named=False)
        stored = admin.request("POST", path, tree, query=query)
        assert stored["metadata"]["name"] == tree["metadata"]["name"]


@pytest.fixture(scope="module")
def plane(servers: None) -> Iterator[ControlPlane]:
    """A cluster with a user who has exactly the rights that are rendered."""
    with ControlPlane(users={PILOT: []}, audit=True) as plane:
        grant(plane.client(), rendered(*SECOND), PILOT)
        yield plane


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """The ConfigMap of the second scheduler."""
    (found,) = [tree for tree in rendered(*SECOND) if tree["kind"] == "ConfigMap"]
    file = tmp_path / "configmap.yaml"
    file.write_text(yaml.safe_dump(found))
    return file


def doctor(plane: ControlPlane, config_file: Path, *options: str) -> list[Tree]:
    """What the doctor says to the user with the rights."""
    kubeconfig = str(plane.kubeconfig(PILOT))
    where = ["--config", str(config_file), "--kubeconfig", kubeconfig]
    result = CliRunner().invoke(
        app, ["doctor", *where, "--secure-port=0", "-o", "json", *options]
    )
    found: list[Tree] = msgspec.json.decode(result.stdout)
    assert result.exit_code == int(any(one["state"] == "missing" for one in found))
    return found


def test_doctor_is_content_with_what_is_rendered(
    plane: ControlPlane, config_file: Path
) -> None:
    found = doctor(plane, config_file)
    assert [one for one in found if one["state"] != "ok"] == []
    said = {one["check"]: one["found"] for one in found}
    assert said["server"] == "answers as pilot"
    assert said["version"] == "v1.36.2"
    assert said["lease"].startswith("kube-system/second is not there yet")
    assert said["rights"].endswith("rights, all given")


def test_doctor_looks_with_the_rights_of_another_user(
    plane: ControlPlane, config_file: Path
) -> None:
    where = ["--config", str(config_file), "--kubeconfig", str(plane.kubeconfig())]
    options = [*where, "--secure-port=0"]
    mine = CliRunner().invoke(app, ["doctor", *options])
    assert mine.exit_code == 0
    assert "answers as admin" in mine.stdout
    theirs = CliRunner().invoke(app, ["doctor", *options, "--as", "nobody"])
    assert theirs.exit_code == 1
    assert "list nodes: needed by the scheduler" in theirs.stdout


def rights_in(role: Tree) -> Iterator[tuple[int, str, str]]:
    """Each right of a role: the rule's place, the resource and the verb."""
    for at, rule in enumerate(role["rules"]):
        for resource in rule["resources"]:
            for verb in rule["verbs"]:
                yield at, resource, verb


def without(role: Tree, at: int, resource: str, verb: str) -> Tree:
    """The role with all of its rights but one."""
    rules = list(role["rules"])
    rule = rules.pop(at)
    others = [one for one in rule["resources"] if one != resource]
    verbs = [one for one in rule["verbs"] if one != verb]
    rules += [{**rule, "resources": others}] if others else []
    rules += [{**rule, "resources": [resource], "verbs": verbs}] if verbs else []
    return {**role, "rules": rules}


def lacking(plane: ControlPlane, config_file: Path) -> list[tuple[str, str, str]]:
    """The rights that the doctor misses; each with somebody who needs it."""
    found = [one for one in doctor(plane, config_file) if one["state"] == "missing"]
    assert all(one["neededBy"] for one in found)
    rights = [one["right"] for one in found]
    return [(one["verb"], one["resource"], one["group"]) for one in rights]


def lacks_only(
    plane: ControlPlane, config_file: Path, rights: list[tuple[str, str, str]]
) -> bool:
    return lacking(plane, config_file) == rights


def test_doctor_names_each_right_that_is_taken_away(
    plane: ControlPlane, config_file: Path
) -> None:
    admin = plane.client()
    roles = [one for one in rendered(*SECOND) if one["kind"].endswith("Role")]
    tried = 0
    for role in roles:
        for at, resource, verb in rights_in(role):
            admin.replace(without(role, at, resource, verb))
            expected = [(verb, resource, role["rules"][at]["apiGroups"][0])]
            # The server hears of its roles by a watch of its own.
            eventually(
                partial(lacks_only, plane, config_file, expected),
                what=f"a doctor that misses {expected} alone",
            )
            tried += 1
        admin.replace(role)
    assert tried == 60
    eventually(lambda: not lacking(plane, config_file))
