"""A program runs a scheduler on a real cluster."""

import threading
from pathlib import Path

import pytest

from quaymaster import Handle, Pod, hookimpl
from quaymaster.config import SchedulerConfig, parse_config
from quaymaster.errors import QuaymasterError
from quaymaster.kubernetes import ClusterLostError, KubernetesScheduler
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.fake_api_server import fake_api_server, kubeconfig_for

BINDING = "/api/v1/namespaces/default/pods/web/binding"


class Recorder:
    """Records the nodes of pods."""

    placed: "list[str]"

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def post_bind(self, pod: Pod, node_name: str) -> None:
        self.placed.append(f"{pod.name} on {node_name}")


def config_of(registry: PluginRegistry, *, elects: bool = False) -> SchedulerConfig:
    plugins = {"multiPoint": {"enabled": [{"name": "Recorder"}]}}
    return parse_config(
        {
            **HEADER,
            "profiles": [{"schedulerName": "harbour", "plugins": plugins}],
            "leaderElection": {"leaderElect": elects},
        },
        registry,
    )


def registry_recording(placed: list[str]) -> PluginRegistry:
    tells = type("Recorder", (Recorder,), {"placed": placed})
    return PluginRegistry.discover().with_plugin(tells)


@pytest.mark.long
def test_pods_are_bound_until_the_scheduler_is_stopped(tmp_path: Path) -> None:
    placed: list[str] = []
    registry = registry_recording(placed)
    pods = [make_pod(name="web", scheduler_name="harbour"), make_pod(name="theirs")]
    with fake_api_server([make_node(name="quay"), *pods]) as server:
        with KubernetesScheduler(
            config_of(registry),
            registry,
            kubeconfig=str(kubeconfig_for(server, tmp_path)),
        ) as live:
            hook = live.clock.call_later

            def stop_when_placed() -> None:
                if placed:
                    live.stop()
                else:
                    hook(0.01, stop_when_placed, background=True)

            hook(0.01, stop_when_placed, background=True)
            live.run()
        binds = [
            request for request in server.written if request[1].endswith("/binding")
        ]
    assert placed == ["web on quay"]
    [(method, path, content)] = binds
    assert (method, path) == ("POST", BINDING)
    assert content["target"] == {"kind": "Node", "name": "quay"}


@pytest.mark.long
def test_scheduler_that_waits_for_the_lease_can_be_stopped(tmp_path: Path) -> None:
    registry = registry_recording([])
    with (
        fake_api_server() as server,
        KubernetesScheduler(
            config_of(registry, elects=True),
            registry,
            kubeconfig=str(kubeconfig_for(server, tmp_path)),
        ) as live,
    ):
        threading.Timer(0.01, live.stop).start()
        live.run()
        assert live.stopping.is_set()
        assert not live.cluster.is_leading


@pytest.mark.long
def test_loss_of_the_cluster_is_an_error(tmp_path: Path) -> None:
    registry = registry_recording([])
    missing = tmp_path / "none"
    with (
        KubernetesScheduler(
            config_of(registry), registry, kubeconfig=str(missing)
        ) as live,
        pytest.raises(ClusterLostError, match="the I/O process has ended"),
    ):
        live.run()


@pytest.mark.long
def test_profile_that_cannot_be_built_leaves_nothing_behind(tmp_path: Path) -> None:
    registry = PluginRegistry.discover()
    broken = config_of(registry_recording([]))
    with (
        fake_api_server() as server,
        pytest.raises(QuaymasterError, match="Recorder"),
    ):
        KubernetesScheduler(
            broken, registry, kubeconfig=str(kubeconfig_for(server, tmp_path))
        )
    assert not [thread for thread in threading.enumerate() if thread.name == "link"]
