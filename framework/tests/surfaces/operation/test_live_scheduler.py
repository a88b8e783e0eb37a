"""A scheduler on a real cluster, as a program runs one."""

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


class Tells:
    """Tells where pods go."""

    told: "list[str]"

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def post_bind(self, pod: Pod, node_name: str) -> None:
        self.told.append(f"{pod.name} on {node_name}")


def config_of(registry: PluginRegistry, *, elects: bool = False) -> SchedulerConfig:
    plugins = {"multiPoint": {"enabled": [{"name": "Tells"}]}}
    return parse_config(
        {
            **HEADER,
            "profiles": [{"schedulerName": "harbour", "plugins": plugins}],
            "leaderElection": {"leaderElect": elects},
        },
        registry,
    )


def plugin_telling(told: list[str]) -> PluginRegistry:
    tells = type("Tells", (Tells,), {"told": told})
    return PluginRegistry.discover().with_plugin(tells)


@pytest.mark.long
def test_pods_are_bound_until_somebody_stops_it(tmp_path: Path) -> None:
    told: list[str] = []
    registry = plugin_telling(told)
    pods = [make_pod(name="web", scheduler_name="harbour"), make_pod(name="theirs")]
    with fake_api_server([make_node(name="quay"), *pods]) as server:
        with KubernetesScheduler(
            config_of(registry),
            registry,
            kubeconfig=str(kubeconfig_for(server, tmp_path)),
        ) as live:
            hook = live.clock.call_later

            def stop_when_told() -> None:
                if told:
                    live.stop()
                else:
                    hook(0.01, stop_when_told, background=True)

            hook(0.01, stop_when_told, background=True)
            live.run()
        binds = [one for one in server.written if one[1].endswith("/binding")]
    assert told == ["web on quay"]
    [(method, path, content)] = binds
    assert (method, path) == ("POST", BINDING)
    assert content["target"] == {"kind": "Node", "name": "quay"}


def test_one_that_waits_for_the_lease_can_be_stopped(tmp_path: Path) -> None:
    registry = plugin_telling([])
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


def test_loss_of_the_cluster_is_an_error(tmp_path: Path) -> None:
    registry = plugin_telling([])
    missing = tmp_path / "none"
    with (
        KubernetesScheduler(
            config_of(registry), registry, kubeconfig=str(missing)
        ) as live,
        pytest.raises(ClusterLostError, match="the I/O process has ended"),
    ):
        live.run()


def test_profile_that_cannot_be_built_leaves_nothing_behind(tmp_path: Path) -> None:
    registry = PluginRegistry.discover()
    broken = config_of(plugin_telling([]))
    with (
        fake_api_server() as server,
        pytest.raises(QuaymasterError, match="Tells"),
    ):
        KubernetesScheduler(
            broken, registry, kubeconfig=str(kubeconfig_for(server, tmp_path))
        )
    assert not [one for one in threading.enumerate() if one.name == "link"]
