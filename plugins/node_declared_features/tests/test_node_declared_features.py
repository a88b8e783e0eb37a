"""NodeDeclaredFeatures: needed features, declared features, and hints."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ClusterEvent,
    EventResource,
    Node,
    Pod,
    QueueingHint,
    Status,
)
from quaymaster.objects import ContainerRestartRule
from quaymaster.testing import PluginHarness, make_container, make_node, make_pod
from quaymaster_node_declared_features import NodeDeclaredFeatures

RESTART_ALL = "RestartAllContainersOnContainerExits"
USERS_ON_HOST = "UserNamespacesHostNetworkSupport"
LACKING = Status.unresolvable("node(s) didn't match Pod's required features")
POD_UPDATED = ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_TOLERATION)
NODE_UPDATED = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_DECLARED_FEATURE)
NODE_ADDED = ClusterEvent(EventResource.NODE, ActionType.ADD)


@attrs.frozen(kw_only=True)
class Wish:
    restart_all: bool = False
    init: bool = False
    host_network: bool = False
    host_users: bool | None = None

    def pod(self, name: str = "pod") -> Pod:
        action = "RestartAllContainers" if self.restart_all else "Restart"
        rules = (ContainerRestartRule(action=action),)
        special = replace(make_container(name="special"), restart_policy_rules=rules)
        plain = make_container()
        pod = make_pod(
            name=name,
            containers=[plain] if self.init else [special],
            init_containers=[special] if self.init else [],
            host_network=self.host_network,
        )
        return replace(pod, spec=replace(pod.spec, host_users=self.host_users))

    @property
    def needed(self) -> set[str]:
        needed = {RESTART_ALL} if self.restart_all else set()
        if self.host_network and self.host_users is False:
            needed.add(USERS_ON_HOST)
        return needed


WISHES = st.builds(
    Wish,
    restart_all=st.booleans(),
    init=st.booleans(),
    host_network=st.booleans(),
    host_users=st.none() | st.booleans(),
)
FEATURES = st.lists(
    st.sampled_from([RESTART_ALL, USERS_ON_HOST, "ExtendWebSocketsToKubelet", "X"]),
    unique=True,
).map(sorted)


def node(name: str = "node", *features: str) -> Node:
    made = make_node(name=name)
    return replace(made, status=replace(made.status, declared_features=features))


@pytest.mark.parametrize(
    ("wish", "accepted"),
    [
        pytest.param(Wish(), {"none", "restart", "users", "both"}, id="nothing"),
        pytest.param(Wish(restart_all=True), {"restart", "both"}, id="restart rule"),
        pytest.param(
            Wish(restart_all=True, init=True), {"restart", "both"}, id="in an init"
        ),
        pytest.param(
            Wish(host_network=True, host_users=False), {"users", "both"}, id="own users"
        ),
        pytest.param(
            Wish(host_network=True),
            {"none", "restart", "users", "both"},
            id="users not said",
        ),
        pytest.param(
            Wish(restart_all=True, host_network=True, host_users=False),
            {"both"},
            id="both",
        ),
    ],
)
def test_nodes_without_all_needed_features_are_rejected(
    wish: Wish, accepted: set[str]
) -> None:
    nodes = [
        node("none"),
        node("restart", RESTART_ALL),
        node("users", USERS_ON_HOST),
        node("both", RESTART_ALL, USERS_ON_HOST),
    ]
    rejected = PluginHarness(NodeDeclaredFeatures, nodes=nodes).filter(wish.pod())
    assert rejected == dict.fromkeys({n.name for n in nodes} - accepted, LACKING)


@given(wish=WISHES, features=FEATURES)
def test_a_node_passes_if_and_only_if_it_declares_what_is_needed(
    wish: Wish, features: list[str]
) -> None:
    harness = PluginHarness(NodeDeclaredFeatures, nodes=[node("a", *features)])
    passes = not harness.filter(wish.pod())
    assert passes == (wish.needed <= set(features))


def test_a_pod_that_needs_nothing_is_not_filtered() -> None:
    answer = PluginHarness(NodeDeclaredFeatures).pre_filter(make_pod())
    assert answer == Status.skip()


def test_without_its_pre_filter_every_node_is_an_error() -> None:
    harness = PluginHarness(NodeDeclaredFeatures, nodes=[node("a")])
    rejected = harness.filter(make_pod(), pre_filter=False)
    text = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'
    assert rejected == {"a": Status.from_error(text)}


@pytest.mark.parametrize(
    ("event", "old", "new", "hint"),
    [
        pytest.param(NODE_ADDED, None, node(), QueueingHint.QUEUE, id="node added"),
        pytest.param(
            NODE_UPDATED,
            node(),
            node("node", "X"),
            QueueingHint.QUEUE,
            id="new feature",
        ),
        pytest.param(
            NODE_UPDATED,
            node("node", "X"),
            node("node", "X"),
            QueueingHint.SKIP,
            id="same features",
        ),
        pytest.param(
            POD_UPDATED,
            Wish(restart_all=True).pod(),
            Wish().pod(),
            QueueingHint.QUEUE,
            id="needs less",
        ),
        pytest.param(
            POD_UPDATED,
            Wish().pod(),
            Wish().pod(),
            QueueingHint.SKIP,
            id="needs as much",
        ),
        pytest.param(
            POD_UPDATED,
            Wish(restart_all=True).pod("other"),
            Wish().pod("other"),
            QueueingHint.SKIP,
            id="another pod",
        ),
    ],
)
def test_hints(
    event: ClusterEvent,
    old: Node | Pod | None,
    new: Node | Pod,
    hint: QueueingHint,
) -> None:
    pod = Wish(restart_all=True).pod()
    assert PluginHarness(NodeDeclaredFeatures).hint(pod, event, old, new) is hint


def test_pods_are_told_apart_by_what_they_need() -> None:
    plugin = PluginHarness(NodeDeclaredFeatures).plugin
    assert plugin.sign_pod(Wish(restart_all=True).pod()) == {RESTART_ALL}
    assert plugin.sign_pod(Wish().pod()) == plugin.sign_pod(make_pod(name="other"))
