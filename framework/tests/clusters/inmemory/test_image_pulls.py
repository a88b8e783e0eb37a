"""Nodes need time to pull images that they lack.

As kubelets by default, a node pulls one image after another, each once.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.inmemory import InMemoryCluster, PodTimes
from quaymaster.objects import ContainerImage
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_container, make_node, make_pod
from tests.kit.clusters import pass_time

TIMES = PodTimes(pull_bytes_per_second=10.0)
SIZES = {"docker.io/library/nginx:1.27": 100, "example.com/app:1": 50}


def images(sizes: Mapping[str, int]) -> tuple[ContainerImage, ...]:
    return tuple(
        ContainerImage(names=(name,), size_bytes=size) for name, size in sizes.items()
    )


def node_with_images(name: str, sizes: Mapping[str, int]) -> Node:
    node = make_node(name=name)
    return replace(node, status=replace(node.status, images=images(sizes)))


def cluster_of(*objects: Any) -> InMemoryCluster:
    cluster = InMemoryCluster(VirtualClock(), times=TIMES)
    nodes = [node_with_images("full", SIZES), make_node(name="empty")]
    cluster.load([*nodes, *objects])
    return cluster


def pod_of(name: str, *names: str, policy: str = "") -> Pod:
    pod = make_pod(name=name)
    containers = tuple(
        replace(
            make_container(name=f"c{number}", image=image), image_pull_policy=policy
        )
        for number, image in enumerate(names)
    )
    return replace(pod, spec=replace(pod.spec, containers=containers))


def start(cluster: InMemoryCluster, pod: Pod, node: str) -> None:
    cluster.bind(cluster.create(pod), node)


def begun(cluster: InMemoryCluster) -> dict[str, float | None]:
    """The time when each pod began to run, since the beginning."""
    return {
        pod.name: None
        if pod.status.start_time is None
        else float(pod.status.start_time)
        for pod in cluster.list(Pod).items
    }


def test_a_node_pulls_an_image_that_it_lacks_once() -> None:
    cluster = cluster_of()
    start(cluster, pod_of("here", "nginx:1.27"), "full")
    start(cluster, pod_of("first", "nginx:1.27"), "empty")
    start(cluster, pod_of("second", "nginx:1.27"), "empty")
    pass_time(cluster, 60.0)
    start(cluster, pod_of("later", "nginx:1.27"), "empty")
    begin = begun(cluster)["here"]
    assert begin is not None
    times = {name: time and time - begin for name, time in begun(cluster).items()}
    assert times == {"here": 0.0, "first": 10.0, "second": 10.0, "later": 60.0}


def test_a_node_pulls_one_image_after_another() -> None:
    cluster = cluster_of()
    begin = cluster.clock.now()
    start(cluster, pod_of("both", "nginx:1.27", "example.com/app:1"), "empty")
    start(cluster, pod_of("small", "example.com/app:1"), "empty")
    pass_time(cluster, 60.0)
    assert set(begun(cluster).values()) == {begin + 15.0}


def test_an_image_without_a_known_size_takes_no_time() -> None:
    cluster = cluster_of()
    begin = cluster.clock.now()
    start(cluster, pod_of("other", "example.com/other"), "empty")
    assert begun(cluster) == {"other": begin}


@pytest.mark.parametrize(
    ("policy", "expected"), [("Always", 10.0), ("IfNotPresent", 10.0), ("Never", None)]
)
def test_a_pod_that_may_not_pull_never_starts(
    policy: str, expected: float | None
) -> None:
    cluster = cluster_of()
    start(cluster, pod_of("p", "nginx:1.27", policy=policy), "empty")
    pass_time(cluster, 3600.0)
    (pod,) = cluster.list(Pod).items
    is_ready = any(
        c.type == "Ready" and c.status == "True" for c in pod.status.conditions
    )
    assert is_ready == (expected is not None)


def test_the_images_of_running_pods_are_on_their_nodes() -> None:
    running = replace(pod_of("old", "nginx:1.27"), node_name="empty")
    cluster = cluster_of(running)
    begin = cluster.clock.now()
    start(cluster, pod_of("new", "nginx:1.27"), "empty")
    assert begun(cluster)["new"] == begin
