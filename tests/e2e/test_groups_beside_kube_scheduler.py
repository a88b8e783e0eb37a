"""Quaymaster and kube-scheduler decide about the same groups in the same way.

Quaymaster has only the rights that ``deploy render`` gives it.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

import pytest
import yaml
from click.testing import CliRunner

from tests.e2e.binaries import SERVED
from tests.e2e.client import ApiClient, Tree
from tests.e2e.control_plane import ControlPlane
from tests.e2e.deployed import PILOT, grant, rendered
from tests.e2e.group_scenes import SCENES, Side, classes
from tests.e2e.loads import GROUP_FLAGS, GROUP_GATES
from tests.kit.internals.cli import app

View: TypeAlias = Mapping[str, Mapping[str, object]]
"""Scene -> pod or group -> what the API shows of its scheduling."""

OURS, THEIRS = Side("ours", "quaymaster"), Side("theirs", "default-scheduler")
QUIET: Final = 2.5
"""Seconds without a change after which a scheduler has decided: more than a backoff."""
PATIENCE: Final = 40.0

pytestmark = pytest.mark.skipif(
    not SERVED.since("1.37"), reason="no earlier version serves these groups"
)


@pytest.fixture(scope="module")
def plane(servers: None) -> Iterator[ControlPlane]:
    with ControlPlane(users={PILOT: []}, apiserver_flags=GROUP_FLAGS) as plane:
        yield plane
        plane.apiserver.kill()  # it would wait for open watches


@pytest.fixture(scope="module")
def courses(plane: ControlPlane) -> Iterator[list[tuple[View, View]]]:
    """The decisions of kube-scheduler and ours, before and after the changes."""
    admin = plane.client()
    options = ("--scheduler-name", OURS.scheduler, "--name", OURS.scheduler)
    grant(admin, rendered(*options, GROUP_GATES), PILOT)
    for tree in classes():
        admin.create(tree)
    profile = {"profiles": [{"schedulerName": OURS.scheduler}]}
    with (
        plane.scheduler(None, GROUP_GATES),
        plane.quaymaster(profile, GROUP_GATES, user=PILOT),
    ):
        for name, scene in SCENES.items():
            for side in (OURS, THEIRS):
                scene.begin(admin, side, name)
        first = decided(admin)
        for name, scene in SCENES.items():
            for side in (OURS, THEIRS):
                scene.change(admin, side, name)
        yield [first, decided(admin)]


def decided(admin: ApiClient) -> tuple[View, View]:
    """Wait until both have decided the same, or ours has had its time."""
    end, changed, before = time.monotonic() + PATIENCE, 0.0, None
    while True:
        theirs, ours = view(admin, THEIRS), view(admin, OURS)
        now = time.monotonic()
        if theirs != before:
            before, changed = theirs, now
        elif now - changed > QUIET and (ours == theirs or now > end):
            return theirs, ours
        time.sleep(0.2)


def view(admin: ApiClient, side: Side) -> View:
    """Return what the API shows of one side's pods and groups."""
    shown: dict[str, dict[str, object]] = {name: {} for name in SCENES}
    for tree in admin.items("/api/v1/pods"):
        scene = scene_of(tree, side)
        if scene is not None:
            shown[scene][tree["metadata"]["name"]] = pod_view(tree, side, scene)
    for tree in admin.items("/apis/scheduling.k8s.io/v1beta1/podgroups"):
        scene = scene_of(tree, side)
        if scene is not None and not SCENES[scene].is_loose:
            name = f"group {tree['metadata']['name']}"
            shown[scene][name] = condition(
                tree, "PodGroupInitiallyScheduled", side, scene
            )
    return shown


def scene_of(tree: Tree, side: Side) -> str | None:
    """Return the scene of an object of one side, or None for other objects."""
    namespace: str = tree["metadata"]["namespace"]
    prefix = f"{side.name}-"
    return namespace.removeprefix(prefix) if namespace.startswith(prefix) else None


def pod_view(tree: Tree, side: Side, scene: str) -> tuple[object, ...]:
    """Return the node, the nominated node and the condition of a pod."""
    node = side.shown(scene, tree["spec"].get("nodeName", ""))
    nominated = "" if node else tree["status"].get("nominatedNodeName", "")
    return (
        node,
        side.shown(scene, nominated),
        condition(tree, "PodScheduled", side, scene),
    )


def condition(tree: Tree, name: str, side: Side, scene: str) -> tuple[str, ...]:
    """Return status, reason and message of a condition; empty if there is none."""
    for each in tree.get("status", {}).get("conditions") or ():
        if each["type"] == name:
            message = side.shown(scene, each.get("message", ""))
            if SCENES[scene].is_chance:
                message = ""
            return each["status"], each.get("reason", ""), message
    return ()


@pytest.mark.parametrize("scene", SCENES)
def test_groups_are_decided_as_by_kube_scheduler(
    courses: list[tuple[View, View]], scene: str
) -> None:
    for theirs, ours in courses:
        assert ours[scene] == theirs[scene]


@pytest.mark.parametrize("scene", SCENES)
def test_pods_of_a_scene_are_bound_in_the_end(
    courses: list[tuple[View, View]], scene: str
) -> None:
    _, ours = courses[-1]
    bound = {
        name
        for name, shown in ours[scene].items()
        if isinstance(shown, tuple) and shown[0] and not name.startswith("group ")
    }
    assert bound == set(SCENES[scene].bound)


def printed(plane: ControlPlane, *arguments: str) -> str:
    """Return the output of a command that reads the live cluster."""
    access = f"--kubeconfig={plane.kubeconfig()}"
    result = CliRunner().invoke(app, [*arguments, access])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.usefixtures("courses")
def test_commands_read_the_groups_of_a_live_cluster(
    plane: ControlPlane, tmp_path: Path
) -> None:
    file = tmp_path / "cluster.yaml"
    printed(plane, "snapshot", "-o", str(file), GROUP_GATES)
    objects = yaml.safe_load(file.read_text())["items"]
    groups = [item for item in objects if item["kind"] == "PodGroup"]
    assert len(groups) == 2 * len(SCENES)
    explained = printed(plane, "explain", "ours-no-rack/podgroup/g", GROUP_GATES)
    assert "ours-no-rack" in explained
    assert "0 nodes" not in printed(plane, "capacity", GROUP_GATES)


@pytest.mark.usefixtures("courses")
def test_doctor_compares_the_gates_of_groups(plane: ControlPlane) -> None:
    config = "--secure-port=0"
    assert "gates" not in printed(plane, "doctor", config, GROUP_GATES)
    assert "serves PodGroup, but the feature gate" in printed(plane, "doctor", config)
    topology = GROUP_GATES.replace(",TopologyAwareWorkloadScheduling=true", "")
    assert "on for the API server, but off here" in printed(
        plane, "doctor", config, topology
    )
