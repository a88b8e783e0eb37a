"""TaintToleration: rules 8 and 17 of the parity format, and upstream's own tests."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
    ActionType,
    ClusterEvent,
    EventResource,
    Node,
    Pod,
    QueueingHint,
    Status,
)
from quaymaster.config import ConfigErrors
from quaymaster.errors import StateNotFoundError
from quaymaster.objects import Taint, Toleration
from quaymaster.testing import PluginHarness, PluginStatusError, make_node, make_pod
from quaymaster_taint_toleration import TaintToleration

UNTOLERATED = Status.unresolvable("node(s) had untolerated taint(s)")

NODE_ADDED = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_TAINTED = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
TOLERATION_ADDED = ClusterEvent(
    EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_TOLERATION
)

EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
TAINTS = st.builds(
    Taint,
    key=st.sampled_from(["disk", "zone"]),
    value=st.sampled_from(["", "a", "b"]),
    effect=st.sampled_from(EFFECTS),
)
TAINT_LISTS = st.lists(
    TAINTS, max_size=3, unique_by=lambda taint: (taint.key, taint.effect)
)
TOLERATIONS = st.builds(
    Toleration,
    key=st.sampled_from(["", "disk", "zone"]),
    operator=st.sampled_from(["", "Equal", "Exists", "Gt"]),
    value=st.sampled_from(["", "a", "b"]),
    effect=st.sampled_from(["", *EFFECTS]),
)


def harness_of(*taint_lists: Sequence[str | Taint]) -> PluginHarness:
    """Make a cluster of nodes a, b, c, ... with these taints."""
    nodes = [
        make_node(name=name, taints=taints)
        for name, taints in zip("abcdefghij", taint_lists, strict=False)
    ]
    return PluginHarness(TaintToleration, nodes=nodes)


@pytest.mark.parametrize(
    ("tolerations", "taints"),
    [
        # The cases of TestTaintTolerationFilter without a status.
        pytest.param([], [], id="no taints"),
        pytest.param(
            [Toleration(key="dedicated", value="user1", effect="NoSchedule")],
            ["dedicated=user1:NoSchedule"],
            id="equal by default",
        ),
        pytest.param(["foo:NoSchedule"], ["foo=bar:NoSchedule"], id="key exists"),
        pytest.param(
            ["dedicated=user2:NoSchedule", "foo:NoSchedule"],
            ["dedicated=user2:NoSchedule", "foo=bar:NoSchedule"],
            id="several taints, all tolerated",
        ),
        pytest.param(
            ["foo=bar"], ["foo=bar:NoSchedule"], id="toleration of every effect"
        ),
        pytest.param(
            ["dedicated=user2:NoSchedule"],
            ["dedicated=user1:PreferNoSchedule"],
            id="soft taint with another value",
        ),
        pytest.param([], ["dedicated=user1:PreferNoSchedule"], id="soft taint"),
        pytest.param(["*"], ["foo=bar:NoExecute"], id="everything tolerated"),
        pytest.param(
            [":NoExecute"], ["foo=bar:NoExecute"], id="every taint of the effect"
        ),
    ],
)
def test_node_passes(tolerations: list[str], taints: list[str]) -> None:
    assert harness_of(taints).filter(make_pod(tolerations=tolerations)) == {}


@pytest.mark.parametrize(
    ("tolerations", "taints"),
    [
        # The cases of TestTaintTolerationFilter with a status.
        pytest.param([], ["dedicated=user1:NoSchedule"], id="no toleration"),
        pytest.param(
            ["dedicated=user2:NoSchedule"],
            ["dedicated=user1:NoSchedule"],
            id="another value",
        ),
        pytest.param(
            ["foo=bar:PreferNoSchedule"], ["foo=bar:NoSchedule"], id="another effect"
        ),
        pytest.param(
            ["foo=bar:NoSchedule"],
            ["foo=bar:NoSchedule", "foo=bar:NoExecute"],
            id="one of two effects tolerated",
        ),
        pytest.param(["foo"], ["fo=bar:NoSchedule"], id="another key"),
        pytest.param(
            [Toleration(key="level", operator="Gt", value="750")],
            ["level=950:NoSchedule"],
            id="greater than, whose gate is off",
        ),
        pytest.param(
            [Toleration(key="level", operator="Lt", value="950")],
            ["level=800:NoSchedule"],
            id="less than, whose gate is off",
        ),
    ],
)
def test_node_with_an_untolerated_taint_is_rejected(
    tolerations: list[str | Toleration], taints: list[str]
) -> None:
    harness = harness_of(taints)
    assert harness.filter(make_pod(tolerations=tolerations)) == {"a": UNTOLERATED}


@pytest.mark.parametrize(
    ("tolerations", "taint_lists", "scores"),
    [
        # The cases of TestTaintTolerationScore with the default gates.
        pytest.param(
            ["foo=bar:PreferNoSchedule"],
            [["foo=bar:PreferNoSchedule"], ["foo=blah:PreferNoSchedule"]],
            [100, 0],
            id="tolerated soft taints are better than others",
        ),
        pytest.param(
            ["cpu=arm64:PreferNoSchedule", "disk=ssd:PreferNoSchedule"],
            [
                [],
                ["cpu=arm64:PreferNoSchedule"],
                ["cpu=arm64:PreferNoSchedule", "disk=ssd:PreferNoSchedule"],
            ],
            [100, 100, 100],
            id="the number of tolerated taints does not matter",
        ),
        pytest.param(
            ["foo=bar:PreferNoSchedule"],
            [
                [],
                ["cpu=arm64:PreferNoSchedule"],
                ["cpu=arm64:PreferNoSchedule", "disk=ssd:PreferNoSchedule"],
            ],
            [100, 50, 0],
            id="the number of untolerated taints does",
        ),
        pytest.param(
            ["cpu=arm64:NoSchedule", "disk=ssd:NoSchedule"],
            [
                [],
                ["cpu=arm64:NoSchedule"],
                ["cpu=arm64:PreferNoSchedule", "disk=ssd:PreferNoSchedule"],
            ],
            [100, 100, 0],
            id="tolerations of other effects do not count",
        ),
        pytest.param(
            [], [[], ["cpu=arm64:PreferNoSchedule"]], [100, 0], id="no tolerations"
        ),
        # Rule 17: no skip, and all 100 if no node has a soft taint.
        pytest.param([], [[], []], [100, 100], id="no taints"),
        pytest.param(
            ["cpu"],
            [["cpu=arm64:PreferNoSchedule"], ["disk:PreferNoSchedule"]],
            [100, 0],
            id="toleration of every effect",
        ),
        pytest.param(
            [],
            [
                ["a:PreferNoSchedule", "b:PreferNoSchedule", "c:PreferNoSchedule"],
                [],
                ["a:PreferNoSchedule"],
            ],
            [0, 100, 67],
            id="the share is rounded down before it is taken from 100",
        ),
    ],
)
def test_fewer_untolerated_soft_taints_score_higher(
    tolerations: list[str], taint_lists: list[list[str]], scores: list[int]
) -> None:
    harness = harness_of(*taint_lists)
    normalized = harness.normalized(make_pod(tolerations=tolerations))
    assert list(normalized.values()) == scores


def test_raw_score_is_the_number_of_untolerated_soft_taints() -> None:
    harness = harness_of(
        ["a:PreferNoSchedule", "b:PreferNoSchedule", "c:NoSchedule"], []
    )
    assert harness.score(make_pod(tolerations=["b"])) == {"a": 1, "b": 0}


def test_score_without_pre_score_is_an_error() -> None:
    # Rule 8: the plugin does not work without this hook.
    with pytest.raises(PluginStatusError) as raised:
        harness_of([]).score(make_pod(), pre_score=False)
    assert raised.value.status == Status.from_error(
        'failed to read "PreScoreTaintToleration" from cycleState: not found'
    )


def test_twin_without_pre_score_is_the_same_error() -> None:
    harness = harness_of([])
    plugin, nodes = TaintToleration(None, harness.handle), harness.snapshot.nodes
    with pytest.raises(StateNotFoundError) as of_twin:
        plugin.score_nodes(harness.state, nodes, nodes.rows)
    with pytest.raises(StateNotFoundError, match=str(of_twin.value)):
        plugin.score(harness.state, next(iter(nodes)))


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Compute the rule naively: key, effect and value are equal or do not matter."""
    if toleration.operator == "Gt":
        return False
    return (
        toleration.key in ("", taint.key)
        and toleration.effect in ("", taint.effect)
        and (toleration.operator == "Exists" or toleration.value == taint.value)
    )


def untolerated(
    taints: Sequence[Taint], tolerations: Sequence[Toleration], *effects: str
) -> int:
    return sum(
        taint.effect in effects
        and not any(tolerates(toleration, taint) for toleration in tolerations)
        for taint in taints
    )


@given(
    taint_lists=st.lists(TAINT_LISTS, min_size=1, max_size=6),
    tolerations=st.lists(TOLERATIONS, max_size=3),
    removed=st.sets(st.sampled_from("bcd")),
)
def test_twins_agree_with_the_rules(
    taint_lists: list[list[Taint]], tolerations: list[Toleration], removed: set[str]
) -> None:
    harness = harness_of(*taint_lists)
    for name in sorted(removed):
        harness.snapshot.remove_node(name)
    by_name = {
        name: taints
        for name, taints in zip("abcdef", taint_lists, strict=False)
        if name not in removed
    }
    pod = make_pod(tolerations=tolerations)
    assert set(harness.filter(pod)) == {
        name
        for name, taints in by_name.items()
        if untolerated(taints, tolerations, "NoSchedule", "NoExecute")
    }
    assert harness.score(pod) == {
        name: untolerated(taints, tolerations, "PreferNoSchedule")
        for name, taints in by_name.items()
    }


@given(
    first=st.lists(TOLERATIONS, max_size=3), second=st.lists(TOLERATIONS, max_size=3)
)
def test_pods_are_told_apart_by_their_set_of_tolerations(
    first: list[Toleration], second: list[Toleration]
) -> None:
    plugin = TaintToleration(None, PluginHarness(TaintToleration).handle)
    pod, other = make_pod(tolerations=first), make_pod(tolerations=second)
    is_same = plugin.sign_pod(pod) == plugin.sign_pod(other)
    assert is_same is (set(first) == set(second))


def test_plugin_waits_for_nodes_and_tolerations() -> None:
    harness = PluginHarness(TaintToleration)
    assert [registered.event for registered in harness.events()] == [
        ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT),
        ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_TOLERATION),
    ]


TAINTED = make_node(taints=["foo=bar:NoSchedule"])
TAINTED_TWICE = make_node(taints=["foo=bar:NoSchedule", "bar=foo:NoSchedule"])
CLEAN = make_node()
SOFTLY_TAINTED = make_node(taints=["soft:PreferNoSchedule"])


@pytest.mark.parametrize(
    ("tolerations", "event", "old", "new", "hint"),
    [
        # The cases of TestIsSchedulableAfterNodeChange.
        pytest.param(
            ["foo1"],
            NODE_ADDED,
            None,
            TAINTED,
            QueueingHint.SKIP,
            id="node added, not tolerable",
        ),
        pytest.param(
            ["foo"],
            NODE_ADDED,
            None,
            TAINTED,
            QueueingHint.QUEUE,
            id="node added, tolerable",
        ),
        pytest.param(
            ["bar"],
            NODE_TAINTED,
            TAINTED,
            TAINTED_TWICE,
            QueueingHint.SKIP,
            id="as intolerable as before",
        ),
        pytest.param(
            ["foo"],
            NODE_TAINTED,
            TAINTED_TWICE,
            TAINTED,
            QueueingHint.QUEUE,
            id="tolerable now",
        ),
        pytest.param(
            ["foo"],
            NODE_TAINTED,
            TAINTED,
            CLEAN,
            QueueingHint.SKIP,
            id="as tolerable as before",
        ),
        pytest.param(
            [],
            NODE_TAINTED,
            CLEAN,
            SOFTLY_TAINTED,
            QueueingHint.SKIP,
            id="soft taints do not matter",
        ),
    ],
)
def test_node_wakes_the_pod_when_its_taints_become_tolerable(
    tolerations: list[str],
    event: ClusterEvent,
    old: Node | None,
    new: Node,
    hint: QueueingHint,
) -> None:
    harness = PluginHarness(TaintToleration)
    assert harness.hint(make_pod(tolerations=tolerations), event, old, new) is hint


@pytest.mark.parametrize(
    ("changed", "hint"),
    [
        # The cases of Test_isSchedulableAfterPodTolerationChange.
        pytest.param(
            make_pod(name="waiting", tolerations=["foo"]),
            QueueingHint.QUEUE,
            id="this pod, whatever it tolerates",
        ),
        pytest.param(
            make_pod(name="other", tolerations=["foo"]),
            QueueingHint.SKIP,
            id="another pod",
        ),
    ],
)
def test_toleration_wakes_the_pod_that_has_it(changed: Pod, hint: QueueingHint) -> None:
    pod = make_pod(name="waiting")
    harness = PluginHarness(TaintToleration)
    assert harness.hint(pod, TOLERATION_ADDED, pod, changed) is hint


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'TaintToleration' takes no arguments"):
        PluginHarness(TaintToleration, args={"colour": "red"})
