"""The objects of ``quaymaster deploy render``, on a real API server."""

import re
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest
import yaml
from click.testing import CliRunner

from tests.docs.navigation import ROOT
from tests.docs.snippets import read_page
from tests.docs.test_docs import squeezed
from tests.e2e.binaries import RELEASES, SERVED
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
    """Start a cluster with a user who has exactly the rendered rights."""
    with ControlPlane(users={PILOT: []}, audit=True) as plane:
        grant(plane.client(), rendered(*SECOND), PILOT)
        yield plane


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """Write the ConfigMap of the second scheduler to a file."""
    (found,) = [tree for tree in rendered(*SECOND) if tree["kind"] == "ConfigMap"]
    file = tmp_path / "configmap.yaml"
    file.write_text(yaml.safe_dump(found))
    return file


def doctor(plane: ControlPlane, config_file: Path, *options: str) -> list[Tree]:
    """Return the doctor's findings for the user with these rights."""
    kubeconfig = str(plane.kubeconfig(PILOT))
    where = ["--config", str(config_file), "--kubeconfig", kubeconfig]
    where += ["--kubernetes", str(SERVED)]
    result = CliRunner().invoke(
        app, ["doctor", *where, "--secure-port=0", "-o", "json", *options]
    )
    found: list[Tree] = msgspec.json.decode(result.stdout)
    assert result.exit_code == int(
        any(finding["state"] == "missing" for finding in found)
    )
    return found


def test_doctor_is_content_with_what_is_rendered(
    plane: ControlPlane, config_file: Path
) -> None:
    found = doctor(plane, config_file)
    assert [finding for finding in found if finding["state"] != "ok"] == []
    said = {finding["check"]: finding["found"] for finding in found}
    assert said["server"] == "answers as pilot"
    assert said["version"] == f"v{RELEASES[SERVED.version]}"
    assert said["lease"].startswith("kube-system/second does not exist yet")
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


def test_page_shows_what_the_doctor_says(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = read_page(PAGE)
    for name, text in page.files.items():
        Path(name).write_text(text)
    (command, *_) = [
        command.line for command in page.commands if "berths" in command.line
    ]
    assert CliRunner().invoke(app, shlex.split(command)[1:]).exit_code == 0
    admin = plane.client()
    for kind in ("serviceaccount", "clusterrole", "clusterrolebinding", "role"):
        admin.create(yaml.safe_load(Path(f"berths/{kind}.yaml").read_text()))
    admin.create(yaml.safe_load(Path("berths/rolebinding.yaml").read_text()))
    role = yaml.safe_load(Path("berths/clusterrole.yaml").read_text())
    (at,) = [at for at, what, verb in rights_in(role) if (what, verb) == SERVICES]
    admin.replace(without(role, at, *SERVICES))
    shown, words = page_output()
    where = [f"--kubeconfig={plane.kubeconfig()}", "--secure-port=0"]
    left_out = ("version",) if SERVED.since("1.37") else ("kinds", "version")

    def output() -> list[str]:
        result = CliRunner().invoke(app, [*words, *where])
        lines = squeezed(result.stdout)
        return [line for line in lines if not line.startswith(left_out)]

    # The version is the server's, and the command does not check a port. The page is
    # about the newest version, which serves one kind more than 1.36.
    wanted = [line for line in shown if not line.startswith(("port", *left_out))]
    eventually(lambda: output() == wanted, what="\n".join(wanted))


PAGE = ROOT / "docs" / "how-to" / "run-on-a-cluster.md"
SERVICES = ("services", "list")


def page_output() -> tuple[list[str], list[str]]:
    """Return the doctor's output on the page, and the arguments of its command."""
    text = PAGE.read_text()
    (command,) = re.findall(r"^\$ quaymaster (doctor .*)$", text, re.MULTILINE)
    (block,) = re.findall(r"```text\n(CHECK .*?)```", text, re.DOTALL)
    return squeezed(block), shlex.split(command)


def rights_in(role: Tree) -> Iterator[tuple[int, str, str]]:
    """Yield each right of a role: the rule's place, the resource and the verb."""
    for at, rule in enumerate(role["rules"]):
        for resource in rule["resources"]:
            for verb in rule["verbs"]:
                yield at, resource, verb


def without(role: Tree, at: int, resource: str, verb: str) -> Tree:
    """Return the role without one of its rights."""
    rules = list(role["rules"])
    rule = rules.pop(at)
    others = [other for other in rule["resources"] if other != resource]
    verbs = [other for other in rule["verbs"] if other != verb]
    rules += [{**rule, "resources": others}] if others else []
    rules += [{**rule, "resources": [resource], "verbs": verbs}] if verbs else []
    return {**role, "rules": rules}


def lacking(plane: ControlPlane, config_file: Path) -> list[tuple[str, str, str]]:
    """Return the rights that the doctor misses; check that it names who needs them."""
    found = [
        finding
        for finding in doctor(plane, config_file)
        if finding["state"] == "missing"
    ]
    assert all(finding["neededBy"] for finding in found)
    rights = [finding["right"] for finding in found]
    return [(right["verb"], right["resource"], right["group"]) for right in rights]


def lacks_only(
    plane: ControlPlane, config_file: Path, rights: list[tuple[str, str, str]]
) -> bool:
    return lacking(plane, config_file) == rights


def test_doctor_names_each_right_that_is_taken_away(
    plane: ControlPlane, config_file: Path
) -> None:
    admin = plane.client()
    roles = [tree for tree in rendered(*SECOND) if tree["kind"].endswith("Role")]
    tried = 0
    for role in roles:
        for at, resource, verb in rights_in(role):
            admin.replace(without(role, at, resource, verb))
            expected = [(verb, resource, role["rules"][at]["apiGroups"][0])]
            # The server learns of changed roles by a watch.
            eventually(
                partial(lacks_only, plane, config_file, expected),
                what=f"a doctor that misses {expected} alone",
            )
            tried += 1
        admin.replace(role)
    # Rules that taint devices are followed since 1.37: get, list and watch.
    assert tried == (75 if SERVED.since("1.37") else 72)
    eventually(lambda: not lacking(plane, config_file))
