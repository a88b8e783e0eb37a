"""Devices on a real API server, allocated by kube-scheduler and by Quaymaster."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from tests.e2e.binaries import SERVED
from tests.e2e.client import Tree, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.deployed import SECOND, account_of, apply, rendered
from tests.e2e.device_stage import DeviceStage, request_for
from tests.kit.internals.cli import app

CONFIG: Final[Tree] = {
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "pluginConfig": [
                # Longer than the five seconds between checks of the devices.
                {"name": "DynamicResources", "args": {"bindingTimeout": "7s"}}
            ],
        }
    ]
}
GPU: Final = request_for("gpu")
DRIVER: Final = "gpu.example.com"
OF_GPU: Final = f"device.attributes['{DRIVER}']"
OF_PART: Final = "device.attributes['part.example.com']"
LARGE: Final = request_for("gpu", f"{OF_GPU}.model == 'large'")
REPAIR: Final = {"key": "example.com/repair", "operator": "Exists"}
ANOTHER_SLICE: Final[Tree] = {
    "kind": "ResourceSlice",
    "metadata": {"name": "device-c-gpu"},
    "spec": {
        "driver": "gpu.example.com",
        "nodeName": "device-c",
        "pool": {"name": "device-c", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0"}],
    },
}


def play(stage: DeviceStage) -> None:
    """Create pods that use every feature of devices."""
    begin_to_wait_for_drivers(stage)
    refuse(stage)
    fill_nodes(stage)
    share(stage)
    make_room(stage)
    end_waiting_for_drivers(stage)


def begin_to_wait_for_drivers(stage: DeviceStage) -> None:
    """Let three pods wait until their devices are attached; one gets them."""
    for name in ("lucky", "unlucky", "forgotten"):
        stage.create_pod(name, request_for("fabric"))
        stage.given(name)  # before the next pod has a claim, and with it this link
    stage.set_condition("lucky", "example.com/attached")
    stage.set_condition("unlucky", "example.com/broken", 'no "light"')


def end_waiting_for_drivers(stage: DeviceStage) -> None:
    """Attach the device of the unlucky pod again."""
    stage.placed("lucky")
    stage.refused("forgotten")
    stage.leave("forgotten")
    stage.refused("unlucky", messages=2)
    stage.set_condition("unlucky", "example.com/attached")
    stage.placed("unlucky")


def refuse(stage: DeviceStage) -> None:
    """Create pods whose requests no device matches."""
    serial = f"{OF_GPU}.serial == 'x1'"
    stage.create_pod("far", request_for("gpu", f"{OF_GPU}.numa > 5"))
    stage.create_pod("vague", request_for("gpu", serial))
    stage.create_pod("wrong", request_for("missing"))
    stage.create_pod(
        "apart", GPU, GPU, constraints=[{"matchAttribute": f"{DRIVER}/uuid"}]
    )
    stage.claim("crowd", requests=[request_for("gpu", count=40)])
    stage.create_pod("many", shared=["crowd"])
    for name in ("far", "vague", "wrong", "apart", "many"):
        stage.refused(name)
        stage.leave(name)


def fill_nodes(stage: DeviceStage) -> None:
    """Give pods one GPU after another, as claims and as an extended resource."""
    matching = [{"matchAttribute": f"{DRIVER}/numa"}]
    stage.create_pod("twins", GPU, GPU, constraints=matching)  # on the second node only
    stage.placed("twins")
    stage.create_pod(
        "picky", {"firstAvailable": [named("best", LARGE), named("any", GPU)]}
    )
    stage.placed("picky")
    stage.create_pod("old", resources={"example.com/gpu": "1"})
    stage.placed("old")
    stage.create_pod("tolerant", request_for("gpu", tolerations=[REPAIR]))
    stage.placed("tolerant")
    stage.create_pod("overseer", request_for("gpu", adminAccess=True))
    stage.placed("overseer")
    stage.create_pod("late", GPU)
    stage.refused("late")
    stage.create_pod("older", resources={"example.com/gpu": "1"})
    stage.refused("older")


def share(stage: DeviceStage) -> None:
    """Let pods share a claim, a device's capacity, and the counters of a card."""
    stage.claim("seat", requests=[request_for("seat")])
    for name in ("reader", "writer"):
        stage.create_pod(name, shared=["seat"])
        stage.placed(name)
    # One after the other: the controller makes several claims at once, and the first
    # one gets the capacity.
    stage.create_pod("slow", request_for("nic"))
    stage.placed("slow")
    stage.create_pod("fast", bandwidth("55"))
    stage.placed("fast")
    stage.create_pod("faster", bandwidth("40"))
    stage.refused("faster")
    stage.create_pod("half", request_for("part", f"{OF_PART}.size == 'half'"))
    stage.placed("half")
    stage.create_pod("whole", request_for("part", f"{OF_PART}.size == 'whole'"))
    stage.refused("whole")


def make_room(stage: DeviceStage) -> None:
    """Let waiting pods get devices that others free, and that drivers publish."""
    stage.end("half")
    stage.placed("whole")
    stage.end("slow")
    stage.placed("faster")
    stage.end("old")
    stage.placed("late")
    stage.publish(ANOTHER_SLICE)
    stage.placed("older")
    stage.end("reader")
    stage.create_pod("reader-2", shared=["seat"])
    stage.placed("reader-2")


def bandwidth(amount: str) -> Tree:
    """Request a part of a network card."""
    return request_for("nic", capacity={"requests": {"bandwidth": amount}})


def named(name: str, request: Tree) -> Tree:
    """Name one of several alternative requests."""
    return {"name": name, **request}


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """Start the cluster with kubelets, and the controllers of claims."""
    controllers = control_plane.controller_manager(
        controllers=("resourceclaim-controller", "garbage-collector-controller")
    )
    with control_plane.kubelets(), controllers:
        yield control_plane


def test_quaymaster_gives_the_devices_that_kube_scheduler_gives(
    cluster: ControlPlane,
) -> None:
    results = []
    with rights(cluster) as kubeconfig:
        for namespace, scheduler in (
            ("theirs", cluster.scheduler(CONFIG)),
            ("ours", cluster.quaymaster(CONFIG, f"--kubeconfig={kubeconfig}")),
        ):
            with DeviceStage(cluster, namespace) as stage, scheduler:
                play(stage)
            results.append(stage.results)
    different = [
        f"{name}: {ours}\nkube-scheduler: {theirs}"
        for (name, theirs), (_, ours) in zip(*results, strict=True)
        if comparable(name, ours) != comparable(name, theirs)
    ]
    assert not different, "\n".join(different)


def comparable(name: str, result: object) -> str:
    """Return a pod's result without the parts that depend on time only.

    The unlucky pod gets any free link when it is retried: its own from before, or that
    of the forgotten pod.
    """
    return (
        re.sub(r"link-[12]", "link-*", str(result))
        if name == "unlucky"
        else str(result)
    )


@contextmanager
def rights(cluster: ControlPlane) -> Iterator[Path]:
    """Return the kubeconfig of an account with exactly the rendered rights."""
    admin = cluster.client()
    trees = rendered(*SECOND)
    apply(admin, trees)
    _, kubeconfig = account_of(cluster, trees)
    yield kubeconfig
    for tree in trees:
        admin.delete(path_of(tree))


def test_commands_read_devices_of_a_live_cluster(
    cluster: ControlPlane, tmp_path: Path
) -> None:
    live = ["--context=", f"--kubeconfig={cluster.kubeconfig()}"]
    with DeviceStage(cluster, "read") as stage:
        with cluster.quaymaster(CONFIG):
            stage.claim("both", requests=[{**LARGE, "count": 2}])
            stage.create_pod("taker", shared=["both"])
            stage.placed("taker")
            stage.create_pod("waiter", LARGE)
            stage.refused("waiter")
        # No scheduler runs now.
        stage.create_pod("next", GPU)
        stage.expanded("next")
        stage.create_pod("guest", shared=["both"])
        file = str(tmp_path / "snapshot.json")
        output_of("snapshot", *live, "-o", file)
        simulated = output_of("simulate", *live)
        why = output_of("explain", "read/waiter", f"--kubernetes={SERVED}", *live)
    rows = [line.split() for line in simulated.splitlines()]
    assert ["read/guest", "device-b"] in rows  # the node of the claim's devices
    assert ["read/next", "device-a"] in rows
    ((_, messages),) = [result for result in stage.results if result[0] == "waiter"]
    assert messages == [f"Unschedulable: {why.splitlines()[1]}"]
    assert output_of("simulate", file) == simulated


def output_of(*words: str) -> str:
    """Run a command, and return its output."""
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.stdout
