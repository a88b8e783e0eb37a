"""Commands support kinds that plugins and packages declare."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from tests.kit.fake_api_server import fake_api_server, kubeconfig_for
from tests.kit.internals.cli import app
from tests.kit.packages import MakeDistribution

KINDS = """
from typing import ClassVar
from quaymaster import ApiObject
from quaymaster.objects import ApiValue

class LaneSpec(ApiValue, frozen=True, kw_only=True):
    open: bool = False

class Lane(ApiObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Lane"
    plural: ClassVar[str] = "lanes"
    spec: LaneSpec = LaneSpec()
"""
PLUGIN = """
from quaymaster import Change, EventsOf, Status, hookimpl
from acme_kinds import Lane

class Lanes:
    kinds = (Lane,)

    def __init__(self, args, handle):
        self.informers = handle.informers

    @hookimpl
    def pre_filter(self, pod):
        lane = self.informers.get(Lane, f"{pod.namespace}/{pod.labels['lane']}")
        if lane is None or not lane.spec.open:
            return Status.unresolvable("the lane is closed")

    @hookimpl
    def events_to_register(self):
        return [EventsOf("lanes.v1.acme.example")(Change.ADD | Change.UPDATE)]
"""
OBJECTS = """
apiVersion: acme.example/v1
kind: Lane
metadata: {name: left}
spec: {open: true}
---
apiVersion: acme.example/v1
kind: Lane
metadata: {name: right}
---
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {lane: left}}
spec: {containers: [{name: main, image: nginx}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b, labels: {lane: right}}
spec: {containers: [{name: main, image: nginx}]}
"""
ONE_NODE = "1:cpu=4,memory=8Gi"
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Lanes}]}}
"""


@pytest.fixture
def installed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_distribution: MakeDistribution,
) -> Path:
    """Install a plugin with a kind, and a package of kinds, in an input folder."""
    make_distribution("acme-kinds", {}, module="acme_kinds", code=KINDS)
    make_distribution(
        "acme-lanes",
        {"Lanes": "acme_lanes:Lanes"},
        module="acme_lanes",
        code=PLUGIN,
    )
    monkeypatch.chdir(tmp_path)
    Path("in.yaml").write_text(OBJECTS)
    Path("lanes.yaml").write_text(CONFIG)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def simulate(*arguments: str) -> Result:
    return run("simulate", "in.yaml", "--nodes", ONE_NODE, *arguments)


def test_plugin_of_the_profile_declares_its_kind(installed: Path) -> None:
    result = simulate("--config", "lanes.yaml", "--strict")
    assert result.exit_code == 0, result.output
    assert "the lane is closed" in result.stdout
    assert "1 of 2 pods" in " ".join(result.stdout.split())
    assert result.stderr == ""


@pytest.mark.long
def test_kind_is_read_from_a_live_cluster(installed: Path) -> None:
    lane, _, *pods = yaml.safe_load_all(OBJECTS)
    with fake_api_server() as server:
        server.items["/apis/acme.example/v1/lanes"] = [lane]
        kubeconfig_for(server, installed)
        Path("in.yaml").write_text(yaml.safe_dump_all(pods))
        live = ("--kubeconfig", "kubeconfig", "--config", "lanes.yaml")
        result = simulate(*live)
        assert result.exit_code == 0, result.output
        assert "1 of 2 pods" in " ".join(result.stdout.split())
        run("snapshot", *live, "-o", "kept.json")
    assert simulate("kept.json", "--config", "lanes.yaml").stdout == result.stdout


def test_without_the_plugin_its_kind_is_unknown(installed: Path) -> None:
    result = simulate()
    assert result.exit_code == 0
    assert result.stderr == (
        "skipped 2 objects that scheduling does not know: Lane (acme.example/v1) x2\n"
    )


def test_unknown_field_of_the_kind_is_an_error(installed: Path) -> None:
    Path("in.yaml").write_text(OBJECTS.replace("{open:", "{opne:"))
    result = simulate("--config", "lanes.yaml")
    assert str(result.exception) == (
        "in.yaml: document 1 (Lane default/left): spec.opne: unknown field; "
        "did you mean 'open'?"
    )


def test_explain_supports_the_kind(installed: Path) -> None:
    result = run(
        "explain", "b", "in.yaml", "--nodes", ONE_NODE, "--config", "lanes.yaml"
    )
    assert "the lane is closed" in result.stdout
    assert result.stderr == ""


@pytest.mark.long
def test_kinds_of_a_package_are_known_to_every_profile(
    installed: Path, make_distribution: MakeDistribution
) -> None:
    make_distribution(
        "acme-more", {"Lane": "acme_kinds:Lane"}, group="quaymaster.kinds"
    )
    assert simulate("--strict").exit_code == 0
    assert simulate("--config", "lanes.yaml", "--strict").exit_code == 0


def test_configuration_with_two_classes_for_a_kind_is_not_valid(
    installed: Path, make_distribution: MakeDistribution
) -> None:
    make_distribution(
        "acme-fork",
        {"Lane": "acme_fork:Lane"},
        group="quaymaster.kinds",
        module="acme_fork",
        code=KINDS,
    )
    result = run("config", "validate", "lanes.yaml")
    assert result.exit_code != 0
    assert str(result.exception) == (
        "Lane of acme.example is declared by two classes, acme_fork:Lane and "
        "acme_kinds:Lane: expected one that all share"
    )
