"""NodePorts: rules 8 and 20 of the parity format, and upstream's own tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
    ActionType,
    ClusterEvent,
    EventResource,
    Pod,
    QueueingHint,
    Status,
)
from quaymaster.config import ConfigErrors
from quaymaster.objects import Container, ContainerPort
from quaymaster.testing import PluginHarness, make_container, make_node, make_pod
from quaymaster_node_ports import NodePorts

TAKEN = Status.unschedulable(
    "node(s) didn't have free ports for the requested pod ports"
)
POD_DELETED = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)

PORTS = st.builds(
    ContainerPort,
    host_ip=st.sampled_from(["", "0.0.0.0", "10.0.0.1", "10.0.0.2"]),
    protocol=st.sampled_from(["", "TCP", "UDP"]),
    host_port=st.sampled_from([0, 80, 81]),
)


def harness_with(*used: str) -> PluginHarness:
    """Make a node with a pod that uses these ports."""
    pods = [make_pod(name="running", node="node", host_ports=used)]
    return PluginHarness(NodePorts, nodes=[make_node()], pods=pods)


@pytest.mark.parametrize(
    ("wanted", "used"),
    [
        # The cases of TestNodePorts and TestFits without a conflict.
        pytest.param(["127.0.0.1:8080/UDP"], ["127.0.0.1:9090/UDP"], id="other port"),
        pytest.param(["127.0.0.1:80"], ["127.0.0.2:80"], id="other address"),
        pytest.param(["127.0.0.1:80/UDP"], ["127.0.0.1:80/TCP"], id="other protocol"),
        pytest.param(
            ["127.0.0.1:80/UDP"], ["80/TCP"], id="other protocol on all addresses"
        ),
        pytest.param(
            ["127.0.0.1:80", "127.0.1.1:80", "127.0.1.1:90"],
            ["127.0.0.1:9090", "127.0.0.1:90", "127.0.1.1:8080"],
            id="several ports",
        ),
    ],
)
def test_node_passes(wanted: list[str], used: list[str]) -> None:
    assert harness_with(*used).filter(make_pod(host_ports=wanted)) == {}


@pytest.mark.parametrize(
    ("wanted", "used"),
    [
        # The cases of TestNodePorts and TestFits with a conflict.
        pytest.param(["127.0.0.1:80/UDP"], ["127.0.0.1:80/UDP"], id="same UDP port"),
        pytest.param(["127.0.0.1:80/TCP"], ["127.0.0.1:80/TCP"], id="same TCP port"),
        pytest.param(["81/UDP", "80/UDP"], ["80/UDP"], id="second of two ports"),
        pytest.param(["81", "80/UDP"], ["81", "82/UDP"], id="first of two ports"),
        pytest.param(["0.0.0.0:80"], ["127.0.0.1:80"], id="all addresses wanted"),
        pytest.param(["127.0.0.1:80"], ["0.0.0.0:80"], id="all addresses taken"),
        pytest.param(
            ["10.0.10.10:80", "0.0.0.0:80"],
            ["127.0.0.1:80"],
            id="one address and all of them wanted",
        ),
        pytest.param(
            ["127.0.0.1:80/UDP"], ["80/TCP", "80/UDP"], id="both protocols taken"
        ),
        pytest.param(["80"], ["127.0.0.1:80"], id="no address stands for all"),
        pytest.param([ContainerPort(host_port=80)], ["80/TCP"], id="TCP by default"),
    ],
)
def test_node_on_which_a_wanted_port_is_taken_is_rejected(
    wanted: list[str], used: list[str]
) -> None:
    assert harness_with(*used).filter(make_pod(host_ports=wanted)) == {"node": TAKEN}


@pytest.mark.parametrize(
    ("init_container", "rejected"),
    [
        pytest.param(
            make_container(name="init", host_ports=[80], sidecar=True),
            {"node": TAKEN},
            id="sidecar",
        ),
        pytest.param(
            make_container(name="init", host_ports=[80]), {}, id="plain init container"
        ),
    ],
)
def test_port_of_an_init_container_counts_if_it_keeps_running(
    init_container: Container, rejected: dict[str, Status]
) -> None:
    pod = make_pod(init_containers=[init_container])
    assert harness_with("80").filter(pod) == rejected


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(make_pod(), id="no ports"),
        pytest.param(make_pod(host_ports=[0]), id="port of the container only"),
        pytest.param(
            make_pod(init_containers=[make_container(name="init", host_ports=[80])]),
            id="plain init container",
        ),
    ],
)
def test_pod_without_host_ports_is_skipped(pod: Pod) -> None:
    assert harness_with("80").pre_filter(pod) == Status.skip()


def test_filter_without_pre_filter_is_an_error() -> None:
    # Rule 8: the plugin does not work without this hook.
    rejected = harness_with().filter(make_pod(host_ports=[80]), pre_filter=False)
    assert rejected == {
        "node": Status.from_error(
            'reading "PreFilterNodePorts" from cycleState: not found'
        )
    }


def overlap(port: ContainerPort, other: ContainerPort) -> bool:
    """Compute the rule naively."""
    addresses = {port.host_ip or "0.0.0.0", other.host_ip or "0.0.0.0"}
    return (
        port.host_port == other.host_port > 0
        and (port.protocol or "TCP") == (other.protocol or "TCP")
        and (len(addresses) == 1 or "0.0.0.0" in addresses)
    )


@given(
    used=st.lists(st.lists(PORTS, max_size=3), min_size=1, max_size=6),
    wanted=st.lists(PORTS, max_size=3),
    removed=st.sets(st.integers(1, 4)),
)
def test_twin_agrees_with_the_rule(
    used: list[list[ContainerPort]], wanted: list[ContainerPort], removed: set[int]
) -> None:
    harness = PluginHarness(
        NodePorts, nodes=[make_node(name=f"n{index}") for index in range(len(used))]
    )
    for index, ports in enumerate(used):
        harness.snapshot.add_pod(
            make_pod(name=f"p{index}", node=f"n{index}", host_ports=ports)
        )
    for index in sorted(removed):
        harness.snapshot.remove_node(f"n{index}")
    rejected = harness.filter(make_pod(host_ports=wanted))
    assert set(rejected) == {
        f"n{index}"
        for index, ports in enumerate(used)
        if index not in removed
        and any(overlap(port, other) for port in wanted for other in ports)
    }


def test_port_is_free_again_after_its_pod_has_left() -> None:
    harness = harness_with("80")
    harness.snapshot.remove_pod(make_pod(name="running", node="node"))
    assert harness.filter(make_pod(host_ports=[80])) == {}


def test_pods_are_told_apart_by_their_host_ports_alone() -> None:
    plugin = NodePorts(None, PluginHarness(NodePorts).handle)
    signature = plugin.sign_pod(make_pod(host_ports=[80, 81]))
    assert signature == plugin.sign_pod(make_pod(name="other", host_ports=[81, 80]))
    assert signature != plugin.sign_pod(make_pod(host_ports=[80]))
    assert signature != plugin.sign_pod(make_pod(host_ports=[80, "81/UDP"]))


def test_plugin_waits_for_deleted_pods_and_new_nodes() -> None:
    harness = PluginHarness(NodePorts)
    assert [registered.event for registered in harness.events()] == [
        POD_DELETED,
        ClusterEvent(EventResource.NODE, ActionType.ADD),
    ]


@pytest.mark.parametrize(
    ("event", "deleted", "hint"),
    [
        # The cases of Test_isSchedulableAfterPodDeleted.
        pytest.param(
            POD_DELETED,
            make_pod(host_ports=[8080]),
            QueueingHint.SKIP,
            id="not scheduled",
        ),
        pytest.param(
            POD_DELETED, make_pod(node="a"), QueueingHint.SKIP, id="no host ports"
        ),
        pytest.param(
            POD_DELETED,
            make_pod(node="a", host_ports=[8081]),
            QueueingHint.SKIP,
            id="another port",
        ),
        pytest.param(
            POD_DELETED,
            make_pod(node="a", host_ports=[8080]),
            QueueingHint.QUEUE,
            id="the wanted port",
        ),
        pytest.param(
            POD_DELETED,
            make_pod(nominated_node="a", host_ports=[8080]),
            QueueingHint.QUEUE,
            id="the wanted port, nominated",
        ),
        pytest.param(
            POD_DELETED,
            make_pod(node="a", host_ports=["8080/UDP"]),
            QueueingHint.SKIP,
            id="another protocol",
        ),
    ],
)
def test_deleted_pod_wakes_the_pod_that_wants_its_port(
    event: ClusterEvent, deleted: Pod, hint: QueueingHint
) -> None:
    pod = make_pod(name="waiting", host_ports=["10.0.0.1:8080"])
    assert PluginHarness(NodePorts).hint(pod, event, old=deleted) is hint


@pytest.mark.parametrize(
    ("action", "hint"),
    [
        pytest.param(ActionType.ADD, QueueingHint.QUEUE, id="added"),
        pytest.param(ActionType.UPDATE_NODE_TAINT, QueueingHint.SKIP, id="tainted"),
    ],
)
def test_only_a_new_node_wakes_the_pod(action: ActionType, hint: QueueingHint) -> None:
    event = ClusterEvent(EventResource.NODE, action)
    harness = PluginHarness(NodePorts)
    assert harness.hint(make_pod(host_ports=[80]), event, new=make_node()) is hint


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'NodePorts' takes no arguments"):
        PluginHarness(NodePorts, args={"colour": "red"})
