"""DeviceTaintRules on a real API server, beside kube-scheduler and its controllers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.manifests import load
from quaymaster.objects import DeviceTaintRule, from_wire
from quaymaster.scheduler import VirtualClock
from tests.e2e.binaries import SERVED
from tests.e2e.client import ApiClient, Tree
from tests.e2e.control_plane import ControlPlane
from tests.e2e.device_stage import DeviceStage, request_for
from tests.e2e.processes import eventually
from tests.kit.clusters import pass_time, react
from tests.kit.internals.cli import app

pytestmark = pytest.mark.skipif(
    not SERVED.reads("DeviceTaintRule"), reason="1.36 does not serve the kind as v1"
)

GPU: Final = request_for("gpu")
KEY: Final = "example.com/broken"
TOLERANT: Final = request_for("gpu", tolerations=[{"key": KEY, "operator": "Exists"}])
PATH: Final = "/apis/resource.k8s.io/v1/devicetaintrules"


def rule_of(name: str, effect: str = "NoSchedule", **selector: str) -> Tree:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {
            "deviceSelector": {"driver": "gpu.example.com", **selector},
            "taint": {"key": KEY, "effect": effect},
        },
    }


def play(stage: DeviceStage, client: ApiClient) -> None:
    """Let rules keep pods off devices, and change and delete the rules."""
    client.create(rule_of("first"))  # the stage would delete it again
    stage.create_refused("kept", GPU)
    client.patch(f"{PATH}/first", {"spec": {"deviceSelector": {"pool": "device-a"}}})
    stage.placed("kept")
    stage.create_pod("tolerant", TOLERANT)
    stage.placed("tolerant")
    stage.publish(rule_of("second", pool="device-b"))
    stage.create_refused("freed", GPU)
    client.patch(f"{PATH}/second", {"spec": {"taint": {"effect": "None"}}})
    stage.placed("freed")
    client.patch(f"{PATH}/second", {"spec": {"taint": {"effect": "NoSchedule"}}})
    stage.create_refused("last", GPU)
    client.delete(f"{PATH}/first")
    stage.placed("last")


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """Start the cluster with the controllers of claims and of taints."""
    controllers = control_plane.controller_manager(
        controllers=(
            "resourceclaim-controller",
            "garbage-collector-controller",
            "device-taint-eviction-controller",
        )
    )
    with controllers:
        yield control_plane


def test_rules_keep_pods_off_devices_as_with_kube_scheduler(
    cluster: ControlPlane,
) -> None:
    results = []
    client = cluster.client()
    for namespace, scheduler in (
        ("rules-theirs", cluster.scheduler()),
        ("rules-ours", cluster.quaymaster()),
    ):
        with DeviceStage(cluster, namespace) as stage, scheduler:
            play(stage, client)
        results.append(stage.results)
    theirs, ours = results
    assert ours == theirs


def test_explanation_of_a_live_cluster_names_the_rule(cluster: ControlPlane) -> None:
    with DeviceStage(cluster, "rules-read") as stage:
        with cluster.quaymaster():
            stage.publish(rule_of("first"))
            stage.create_refused("kept", GPU)
        text = output_of("explain", "rules-read/kept", *live(cluster))
    assert f"with taint {KEY}:NoSchedule of DeviceTaintRule first" in text


def test_pods_are_evicted_as_by_the_real_controller(
    cluster: ControlPlane, tmp_path: Path
) -> None:
    client, file = cluster.client(), str(tmp_path / "before.json")
    with DeviceStage(cluster, "rules-evict") as stage:
        with cluster.quaymaster():
            stage.create_pod("user", GPU)
            stage.placed("user")
        trial = rule_of("trial", "None")
        stage.publish(trial)
        untried = condition_by_reason(client, "trial", "NoEffect")
        output_of("snapshot", *live(cluster), "-o", file)
        drain = rule_of("drain", "NoExecute")
        stage.publish(drain)
        theirs = [
            condition_by_reason(client, "drain", "PodsPendingEviction"),
            condition_by_reason(client, "drain", "Completed"),
        ]
        pod = from_wire(client.get("/api/v1/namespaces/rules-evict/pods/user"), Pod)
    imagined = InMemoryCluster(VirtualClock())
    imagined.load(load([file]).objects, as_it_is=True)
    pass_time(imagined, 1)
    assert condition_of(imagined.get(DeviceTaintRule, "trial")) == untried
    imagined.create(from_wire(drain, DeviceTaintRule))
    react(imagined)
    ours = [condition_of(imagined.get(DeviceTaintRule, "drain"))]
    evicted = imagined.get(Pod, "rules-evict/user")
    pass_time(imagined, 11)
    ours.append(condition_of(imagined.get(DeviceTaintRule, "drain")))
    assert ours == theirs
    assert disruption_of(evicted) == disruption_of(pod)
    assert evicted.is_terminating
    assert pod.is_terminating


def live(cluster: ControlPlane) -> list[str]:
    """Return the options with which a command reads the cluster."""
    return ["--context=", f"--kubeconfig={cluster.kubeconfig()}"]


def output_of(*words: str) -> str:
    """Run a command, and return its output."""
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def condition_by_reason(
    client: ApiClient, name: str, reason: str
) -> tuple[str, str, str]:
    """Wait for a condition of a rule, and return the condition."""
    rule = DeviceTaintRule()

    def is_set() -> bool:
        nonlocal rule
        rule = from_wire(client.get(f"{PATH}/{name}"), DeviceTaintRule)
        return any(condition.reason == reason for condition in rule.status.conditions)

    eventually(is_set, what=f"{reason} in the status of {name}")
    return condition_of(rule)


def condition_of(rule: DeviceTaintRule) -> tuple[str, str, str]:
    [condition] = rule.status.conditions
    assert condition.type == "EvictionInProgress"
    return condition.status, condition.reason, condition.message


def disruption_of(pod: Pod) -> tuple[str, str, str]:
    [condition] = [
        item for item in pod.status.conditions if item.type == "DisruptionTarget"
    ]
    return condition.status, condition.reason, condition.message
