"""Generated tests reproduce the decisions of third-party plugins, or are refused."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster.config import parse_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    UnreproducibleError,
    make_node,
    make_pod,
    make_test,
    profile_config,
)
from tests.kit.internals.cli import app
from tests.kit.packages import MakeDistribution

CODE = '''\
from typing import ClassVar

from quaymaster import ApiObject, PermitWait, Status, hookimpl
from quaymaster.objects import ApiValue


class RackSpec(ApiValue, frozen=True, kw_only=True):
    slots: int = 0


class Rack(ApiObject, frozen=True, kw_only=True):
    """Named like its node."""

    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Rack"
    plural: ClassVar[str] = "racks"
    namespaced: ClassVar[bool] = False

    spec: RackSpec = RackSpec()


class Racks:
    kinds = (Rack,)

    def __init__(self, args, handle):
        self._handle = handle

    @hookimpl
    def filter(self, node):
        rack = self._handle.informers.get(Rack, node.name)
        full = rack is not None and rack.spec.slots < 1
        return Status.unschedulable("the rack has no slot") if full else None


class Licences:
    def __init__(self, args, handle): ...

    @hookimpl
    def reserve(self):
        return Status.unschedulable("no licence left")

    @hookimpl
    def unreserve(self): ...


class Doorman:
    def __init__(self, args, handle): ...

    @hookimpl
    def permit(self):
        return PermitWait(timeout_seconds=20)


class Counter:
    """Rejects the second pod that it evaluates."""

    def __init__(self, args, handle):
        self._pods = set()

    @hookimpl
    def filter(self, pod):
        self._pods.add(pod.uid)
        return Status.unschedulable("enough") if len(self._pods) > 1 else None
'''
PLUGINS = ("Racks", "Licences", "Doorman", "Counter")
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n0}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
"""
RACK = """\
apiVersion: acme.example/v1
kind: Rack
metadata: {name: n0}
spec: {slots: 0}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: wide}
spec: {containers: [{name: main, image: nginx}]}
"""


@pytest.fixture
def installed(make_distribution: MakeDistribution) -> None:
    entries = {name: f"acme_racks:{name}" for name in PLUGINS}
    make_distribution("acme-racks", entries, module="acme_racks", code=CODE)


def run(plugin: str, *documents: str, folder: Path, pod: str = "wide") -> Result:
    (folder / "in.yaml").write_text("---\n".join(documents), encoding="utf-8")
    profile = (
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        f"profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: {plugin}}}]}}}}}}]\n"
    )
    (folder / "profile.yaml").write_text(profile, encoding="utf-8")
    arguments = [str(folder / "in.yaml"), "--config", str(folder / "profile.yaml")]
    test_file = str(folder / "made.py")
    command = ["snapshot", *arguments, "--pod", pod, "--to-test", test_file]
    return CliRunner().invoke(app, command)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("plugin", "documents", "message"),
    [
        pytest.param(
            "Racks",
            (NODE, RACK, POD),
            "0/1 nodes are available: 1 the rack has no slot.",
            id="own kind",
        ),
        pytest.param("Licences", (NODE, POD), "no licence left", id="Reserve"),
        pytest.param(
            "Doorman", (NODE, POD), "rejected due to timeout after waiting", id="Permit"
        ),
    ],
)
@pytest.mark.long
def test_rejection_of_a_plugin_is_reproduced(
    plugin: str, documents: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    result = run(plugin, *documents, folder=tmp_path)
    assert result.exit_code == 0, result.exception
    names: dict[str, object] = {}
    text = (tmp_path / "made.py").read_text(encoding="utf-8")
    exec(compile(text, "made.py", "exec"), names)
    [test] = [value for name, value in names.items() if name.startswith("test_")]
    assert callable(test)
    test()
    assert message in text.replace('"\n        "', "")


@pytest.mark.usefixtures("installed")
@pytest.mark.long
def test_decision_that_depends_on_earlier_attempts_is_refused(tmp_path: Path) -> None:
    other = POD.replace("wide", "early")
    result = run("Counter", NODE, other, POD, folder=tmp_path)
    assert "depends on what happened before" in str(result.exception)
    assert not (tmp_path / "made.py").exists()


def test_test_that_fails_is_refused_with_its_assertion() -> None:
    """The test would use the default profile, because no text of another is passed."""
    registry = PluginRegistry.discover()
    lonely = profile_config(disable=["NodeResourcesFit"])
    big = make_pod(name="big", requests={"cpu": "64"})
    with pytest.raises(UnreproducibleError) as caught:
        make_test(
            "big",
            [make_node(), big],
            config=parse_config(lonely, registry),
            registry=registry,
            max_trials=5,
        )
    assert str(caught.value) == (
        "pod 'big': the generated test does not reproduce the decision: it fails: "
        'assert explained.outcome == "scheduled"'
    )
