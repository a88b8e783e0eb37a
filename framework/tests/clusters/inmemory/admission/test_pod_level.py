"""Pod-level resources: their defaults, and the order of these.

Cases follow upstream's ``pkg/api/pod/util_test.go`` and
``pkg/apis/core/v1/defaults_test.go`` (Kubernetes v1.37).
"""

from typing import Any, Final

import pytest

from quaymaster import Pod
from quaymaster.config import Kubernetes
from quaymaster.objects import LimitRange, from_wire, to_wire
from tests.kit.clusters import make_cluster

Tree = dict[str, Any]

OLD: Final = Kubernetes("1.36")
NEW: Final = Kubernetes("1.37")
OFF: Final = Kubernetes("1.37", {"PodLevelResourcesFixDefaulting": False})
ALL: Final = (OLD, OFF, NEW)


def pod_of(resources: Tree | None, *containers: Tree, **spec: object) -> Pod:
    spec["containers"] = [
        {"name": f"c{index}", "image": "i", "resources": own}
        for index, own in enumerate(containers)
    ]
    if resources is not None:
        spec["resources"] = resources
    return from_wire({"metadata": {"name": "pod"}, "spec": spec}, Pod)


def limits_of(**item: Tree) -> LimitRange:
    spec = {"limits": [{"type": "Container", **item}]}
    return from_wire({"metadata": {"name": "limits"}, "spec": spec}, LimitRange)


def stored(pod: Pod, kubernetes: Kubernetes, *ranges: LimitRange) -> Tree:
    cluster = make_cluster(*ranges, kubernetes=kubernetes)
    found: Tree = to_wire(cluster.create(pod))["spec"]["resources"]
    return found


@pytest.mark.parametrize(
    ("kubernetes", "requested"), [(NEW, "500m"), (OFF, "2"), (OLD, "2")], ids=str
)
def test_limit_range_counts_before_the_pods_own_limit_since_1_37(
    kubernetes: Kubernetes, requested: str
) -> None:
    pod = pod_of({"limits": {"cpu": "2"}}, {})
    found = stored(pod, kubernetes, limits_of(defaultRequest={"cpu": "500m"}))
    assert found == {"limits": {"cpu": "2"}, "requests": {"cpu": requested}}


@pytest.mark.parametrize("kubernetes", ALL, ids=str)
def test_requests_come_from_containers_then_from_limits(kubernetes: Kubernetes) -> None:
    pod = pod_of(
        {"limits": {"cpu": "4", "memory": "4Gi"}},
        {"requests": {"cpu": "1", "ephemeral-storage": "1Gi"}},
    )
    found = stored(pod, kubernetes)
    assert found["requests"] == {"cpu": "1", "memory": "4Gi"}


@pytest.mark.parametrize(
    ("kubernetes", "expected"),
    [
        (NEW, {"cpu": "2", "memory": "1Gi"}),
        (OFF, {"cpu": "2"}),
        (OLD, {"cpu": "2"}),
    ],
    ids=str,
)
def test_requests_without_any_limit_are_completed_since_1_37(
    kubernetes: Kubernetes, expected: Tree
) -> None:
    pod = pod_of({"requests": {"cpu": "2"}}, {"requests": {"memory": "1Gi"}})
    assert stored(pod, kubernetes) == {"requests": expected}


@pytest.mark.parametrize("kubernetes", ALL, ids=str)
def test_huge_page_limits_of_containers_add_up(kubernetes: Kubernetes) -> None:
    pages = {"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}}
    found = stored(pod_of({"limits": {"cpu": "4"}}, pages, pages), kubernetes)
    for side in ("limits", "requests"):
        assert found[side]["hugepages-2Mi"] == "8Mi"


@pytest.mark.parametrize(
    ("containers", "limit"),
    [
        pytest.param(
            ({"requests": {"cpu": "250m"}, "limits": {"cpu": "1"}},) * 2,
            "2",
            id="the sum of all",
        ),
        pytest.param(({"limits": {"cpu": "200m"}},), "1", id="at least the request"),
        pytest.param(({"limits": {"cpu": "1"}}, {}), None, id="one has no limit"),
    ],
)
def test_limit_follows_the_containers_if_all_are_limited_since_1_37(
    containers: tuple[Tree, ...], limit: str | None
) -> None:
    pod = pod_of({"requests": {"cpu": "1"}}, *containers)
    new, old = stored(pod, NEW), stored(pod, OLD)
    assert new.get("limits", {}).get("cpu") == limit
    assert old == {"requests": {"cpu": "1"}}


def test_limit_counts_the_init_container_that_needs_more() -> None:
    own = {"requests": {"memory": "1Gi"}, "limits": {"memory": "3Gi"}}
    init = {"name": "i", "image": "i", "resources": own}
    pod = pod_of(
        {"requests": {"memory": "1Gi"}},
        {"limits": {"memory": "1Gi"}},
        initContainers=[init],
    )
    assert stored(pod, NEW)["limits"] == {"memory": "3Gi"}


@pytest.mark.parametrize("kubernetes", ALL, ids=str)
def test_empty_resources_stay_empty(kubernetes: Kubernetes) -> None:
    pod = pod_of({}, {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}})
    assert stored(pod, kubernetes) == {}


def test_update_that_drops_the_resources_of_a_pod_keeps_them_since_1_37() -> None:
    for kubernetes, is_kept in ((NEW, True), (OLD, False)):
        cluster = make_cluster(kubernetes=kubernetes)
        first = cluster.create(pod_of({"requests": {"cpu": "2"}}, {}))
        tree = to_wire(first)
        del tree["spec"]["resources"]
        changed = cluster.update(from_wire(tree, Pod))
        assert (changed.spec.resources == first.spec.resources) is is_kept
