"""NodeDeclaredFeatures fulfils the plugin contract."""

from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.objects import ContainerRestartRule
from quaymaster.testing import (
    PluginContract,
    SmallCluster,
    clusters,
    make_container,
    make_node,
    make_pod,
    nodes,
    pods,
)
from quaymaster_node_declared_features import NodeDeclaredFeatures

RESTART_ALL = "RestartAllContainersOnContainerExits"


def declaring_node() -> Node:
    node = make_node()
    return replace(node, status=replace(node.status, declared_features=(RESTART_ALL,)))


def restarting_pod() -> Pod:
    rules = (ContainerRestartRule(action="RestartAllContainers"),)
    container = replace(make_container(), restart_policy_rules=rules)
    return make_pod(containers=[container])


class TestContract(PluginContract):
    plugin = NodeDeclaredFeatures

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        return clusters(
            nodes=st.builds(declaring_node) | nodes(),
            pods=st.builds(restarting_pod) | pods(),
        )
