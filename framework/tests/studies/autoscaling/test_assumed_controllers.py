"""A dump of nodes and pods lacks their controllers, which are assumed then."""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.autoscaling import (
    ClusterAutoscalerSetup,
    Consolidation,
    GroupSettings,
    consolidate,
)
from quaymaster.objects import (
    DaemonSet,
    Job,
    ObjectMeta,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster.testing import make_node, make_pod

MEMBER: Final = {"pool": "a"}
WEB: Final = ObjectMeta(name="web", namespace="default", uid="u-web")
APP: Final = {"app": "web"}


def owned(kind: type[Any] = ReplicaSet, name: str = "web-0", **fields: Any) -> Pod:
    """Return a small running pod of a controller that no input has."""
    fields = {"labels": APP, "node": "quiet", "requests": {"cpu": "1"}, **fields}
    return make_pod(name=name, owner=kind(metadata=WEB), **fields)


def ending(pod: Pod) -> Pod:
    """Return a pod that is not restarted, as those of Jobs."""
    return replace(pod, spec=replace(pod.spec, restart_policy="Never"))


def outcome(*pods: Pod) -> Consolidation:
    """Let the cluster autoscaler remove one of two nodes, if it can."""
    capacity = {"cpu": "4", "memory": "16Gi"}
    nodes = [
        make_node(name=name, labels=MEMBER, capacity=capacity)
        for name in ("quiet", "busy")
    ]
    busy = make_pod(name="load", node="busy", requests={"cpu": "3"})
    group = GroupSettings(name="a", max=9, nodes=MEMBER)
    return consolidate([*nodes, busy, *pods], ClusterAutoscalerSetup(groups=[group]))


@pytest.mark.parametrize(
    "kind", [ReplicaSet, ReplicationController, StatefulSet, Job], ids=lambda k: k.kind
)
def test_pods_of_an_assumed_controller_move(kind: type[Any]) -> None:
    pod = owned(kind)
    result = outcome(ending(pod) if kind is Job else pod)
    assert [life.node for life in result.removed] == ["quiet"]
    assert [moved.pod for moved in result.moved] == ["default/web-0"]
    assert not result.ended
    assert not result.pending
    [notice] = result.notices
    assert notice.message.startswith(
        f"the input lacks {kind.kind} default/web: assumed"
    )


def test_a_pod_of_a_missing_priority_class_is_created_again() -> None:
    result = outcome(owned(priority_class="shop", priority=7))
    assert [moved.pod for moved in result.moved] == ["default/web-0"]
    assert result.pending == ()
    assert len(result.notices) == 1


def test_pods_of_a_stateful_set_keep_their_numbers() -> None:
    small = {"cpu": "400m"}
    pods = [owned(StatefulSet, f"web-{n}", requests=small) for n in (3, 4)]
    result = outcome(*pods)
    assert {moved.pod for moved in result.moved} == {"default/web-3", "default/web-4"}
    assert result.pending == ()


def test_a_controller_of_pods_without_labels_is_not_assumed() -> None:
    result = outcome(owned(labels={}))
    assert result.removed == ()
    [notice] = result.notices
    assert notice.message.startswith("the input lacks ReplicaSet default/web: their")


def test_a_controller_that_its_pods_contradict_is_not_assumed() -> None:
    result = outcome(owned(Job))
    [notice] = result.notices
    assert notice.message.startswith("the input lacks Job default/web: their pods")


def test_missing_daemon_sets_are_named() -> None:
    result = outcome(owned(DaemonSet))
    assert result.moved == ()
    [notice] = result.notices
    assert "DaemonSet default/web" in notice.message
