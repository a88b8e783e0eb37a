"""The facts of NodePorts."""

from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_ports import NodePorts


def test_the_port_and_the_pods_that_use_it_are_named() -> None:
    nodes = [make_node(name="a"), make_node(name="b"), make_node(name="free")]
    pods = [
        make_pod(name="web-1", node="a", host_ports=["8080", "9090"]),
        make_pod(name="web-2", node="b", host_ports=["10.0.0.1:8080"]),
    ]
    harness = PluginHarness(NodePorts, nodes=nodes, pods=pods)
    assert harness.explain_filter(make_pod(host_ports=["8080", "53/UDP"])) == {
        "a": ("wants host port 8080/TCP", "in use by pod default/web-1 (8080/TCP)"),
        "b": (
            "wants host port 8080/TCP",
            "in use by pod default/web-2 (10.0.0.1:8080/TCP)",
        ),
    }


def test_all_ports_in_use_are_named() -> None:
    pods = [
        make_pod(name="dns", node="node", host_ports=["127.0.0.1:53/UDP"]),
        make_pod(name="web", node="node", host_ports=["80"]),
    ]
    harness = PluginHarness(NodePorts, nodes=[make_node()], pods=pods)
    wanted = make_pod(host_ports=["127.0.0.1:53/UDP", "80", "81"])
    assert harness.explain_filter(wanted)["node"] == (
        "wants host port 127.0.0.1:53/UDP, 80/TCP",
        "in use by pod default/dns (127.0.0.1:53/UDP), default/web (80/TCP)",
    )
