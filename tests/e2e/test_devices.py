"""Devices on a real API server, given by kube-scheduler and by Quaymaster alike."""

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
from tests.e2e.device_stage import DeviceStage, asking
from tests.kit.internals.cli import app

CONFIG: Final[Tree] = {
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "pluginConfig": [
                # Longer than the five seconds between looks at the devices.
                {"name": "DynamicResources", "args": {"bindingTimeout": "7s"}}
            ],
        }
    ]
}
GPU: Final = asking("gpu")
DRIVER: Final = "gpu.example.com"
OF_GPU: Final = f"device.attributes['{DRIVER}']"
OF_PART: Final = "device.attributes['part.example.com']"
LARGE: Final = asking("gpu", f"{OF_GPU}.model == 'large'")
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
    """Let pods come that need all there is to devices."""
    begin_to_wait_for_drivers(stage)
    refuse(stage)
    fill_nodes(stage)
    share(stage)
    make_room(stage)
    end_waiting_for_drivers(stage)


def begin_to_wait_for_drivers(stage: DeviceStage) -> None:
    """Three pods wait until their devices are attached: one is lucky."""
    for name in ("lucky", "unlucky", "forgotten"):
        stage.come(name, asking("fabric"))
        stage.given(name)  # before the next one has a claim, and with it this link
    stage.set_condition("lucky", "example.com/attached")
    stage.set_condition("unlucky", "example.com/broken", 'no "light"')


def end_waiting_for_drivers(stage: DeviceStage) -> None:
    """The unlucky pod is lucky when its device is attached again."""
    stage.placed("lucky")
    stage.refused("forgotten")
    stage.leave("forgotten")
    stage.refused("unlucky", messages=2)
    stage.set_condition("unlucky", "example.com/attached")
    stage.placed("unlucky")


def refuse(stage: DeviceStage) -> None:
    """No device is what these ask for."""
    serial = f"{OF_GPU}.serial == 'x1'"
    stage.come("far", asking("gpu", f"{OF_GPU}.numa > 5"))
    stage.come("vague", asking("gpu", serial))
    stage.come("wrong", asking("missing"))
    stage.come("apart", GPU, GPU, constraints=[{"matchAttribute": f"{DRIVER}/uuid"}])
    stage.claim("crowd", requests=[asking("gpu", count=40)])
    stage.come("many", shared=["crowd"])
    for name in ("far", "vague", "wrong", "apart", "many"):
        stage.refused(name)
        stage.leave(name)


def fill_nodes(stage: DeviceStage) -> None:
    """Pods get one GPU after another, as claims and as an extended resource."""
    matching = [{"matchAttribute": f"{DRIVER}/numa"}]
    stage.come("twins", GPU, GPU, constraints=matching)  # on the second node alone
    stage.placed("twins")
    stage.come("picky", {"firstAvailable": [named("best", LARGE), named("any", GPU)]})
    stage.placed("picky")
    stage.come("old", resources={"example.com/gpu": "1"})
    stage.placed("old")
    stage.come("tolerant", asking("gpu", tolerations=[REPAIR]))
    stage.placed("tolerant")
    stage.come("overseer", asking("gpu", adminAccess=True))
    stage.placed("overseer")
    stage.come("late", GPU)
    stage.refused("late")
    stage.come("older", resources={"example.com/gpu": "1"})
    stage.refused("older")


def share(stage: DeviceStage) -> None:
    """Pods share a claim, a device's capacity, and the counters of a card."""
    stage.claim("seat", requests=[asking("seat")])
    for name in ("reader", "writer"):
        stage.come(name, shared=["seat"])
        stage.placed(name)
    # One after the other: the controller makes several claims at a time, and whose own
    # is there first has the capacity, too.
    stage.come("slow", asking("nic"))
    stage.placed("slow")
    stage.come("fast", bandwidth("55"))
    stage.placed("fast")
    stage.come("faster", bandwidth("40"))
    stage.refused("faster")
    stage.come("half", asking("part", f"{OF_PART}.size == 'half'"))
    stage.placed("half")
    stage.come("whole", asking("part", f"{OF_PART}.size == 'whole'"))
    stage.refused("whole")


def make_room(stage: DeviceStage) -> None:
    """Pods that wait get what others give back, and what drivers publish."""
    stage.end("half")
    stage.placed("whole")
    stage.end("slow")
    stage.placed("faster")
    stage.end("old")
    stage.placed("late")
    stage.publish(ANOTHER_SLICE)
    stage.placed("older")
    stage.end("reader")
    stage.come("reader-2", shared=["seat"])
    stage.placed("reader-2")


def bandwidth(amount: str) -> Tree:
    """A part of a network card."""
    return asking("nic", capacity={"requests": {"bandwidth": amount}})


def named(name: str, asked: Tree) -> Tree:
    """One of several alternatives."""
    return {"name": name, **asked}


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The cluster with kubelets, and the controllers of claims."""
    controllers = control_plane.controller_manager(
        controllers=("resourceclaim-controller", "garbage-collector-controller")
    )
    with control_plane.kubelets(), controllers:
        yield control_plane


def test_quaymaster_gives_the_devices_that_kube_scheduler_gives(
    cluster: ControlPlane,
) -> None:
    told = []
    with rights(cluster) as kubeconfig:
        for namespace, scheduler in (
            ("theirs", cluster.scheduler(CONFIG)),
            ("ours", cluster.quaymaster(CONFIG, f"--kubeconfig={kubeconfig}")),
        ):
            with DeviceStage(cluster, namespace) as stage, scheduler:
                play(stage)
            told.append(stage.told)
    different = [
        f"{name}: {ours}\nkube-scheduler: {theirs}"
        for (name, theirs), (_, ours) in zip(*told, strict=True)
        if comparable(name, ours) != comparable(name, theirs)
    ]
    assert not different, "\n".join(different)


def comparable(name: str, told: object) -> str:
    """What is told of a pod, without what depends on time alone.

    The unlucky pod gets whatever link is free when it is tried again: its own from
    before, or that of the forgotten one.
    """
    return re.sub(r"link-[12]", "link-*", str(told)) if name == "unlucky" else str(told)


@contextmanager
def rights(cluster: ControlPlane) -> Iterator[Path]:
    """The kubeconfig of an account that has the rights that are rendered, no more."""
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
            stage.come("taker", shared=["both"])
            stage.placed("taker")
            stage.come("waiter", LARGE)
            stage.refused("waiter")
        # Nobody schedules any more.
        stage.come("next", GPU)
        stage.expanded("next")
        stage.come("guest", shared=["both"])
        file = str(tmp_path / "snapshot.json")
        said("snapshot", *live, "-o", file)
        simulated = said("simulate", *live)
        why = said("explain", "read/waiter", f"--kubernetes={SERVED}", *live)
    rows = [line.split() for line in simulated.splitlines()]
    assert ["read/guest", "device-b"] in rows  # where the claim's devices are
    assert ["read/next", "device-a"] in rows
    ((_, messages),) = [one for one in stage.told if one[0] == "waiter"]
    assert messages == [f"Unschedulable: {why.splitlines()[1]}"]
    assert said("simulate", file) == simulated


def said(*words: str) -> str:
    """What a command prints."""
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.stdout
