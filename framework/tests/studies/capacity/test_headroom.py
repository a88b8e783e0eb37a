"""Headroom counts how many copies of a pod fit, by trying."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION, InMemoryCluster
from quaymaster.objects import PersistentVolumeClaim, Toleration
from quaymaster.planning import (
    CapacityResult,
    Headroom,
    PodTextError,
    capacity,
    find_headroom,
    pod_of_text,
)
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import PodNotFoundError, Simulation
from quaymaster.testing import (
    make_affinity_term,
    make_deployment,
    make_node,
    make_persistent_volume_claim,
    make_pod,
    make_resource_quota,
    make_stateful_set,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
HOST = "kubernetes.io/hostname"


def nodes(count: int, **capacity: str) -> Sequence[Node]:
    return [make_node(name=f"n{i}", capacity=capacity) for i in range(count)]


def measured(*objects: ApiObject, **arguments: Any) -> CapacityResult:
    return capacity(objects, config=CONFIG, registry=REGISTRY, **arguments)


def room_for(pod: Pod, *objects: ApiObject, limit: int = 1000) -> Headroom:
    [found] = measured(*objects, pods=[("it", pod)], limit=limit).headroom
    return found


@contextmanager
def settled(*objects: ApiObject) -> Iterator[Simulation]:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(objects)
    with Simulation(cluster, config=CONFIG, registry=REGISTRY) as simulation:
        simulation.settle()
        yield simulation


def test_copies_are_scheduled_until_one_does_not_fit() -> None:
    found = room_for(make_pod(requests={"cpu": "3"}), *nodes(3, cpu="4"))
    assert (found.fits, found.nodes) == (3, {"n0": 1, "n1": 1, "n2": 1})
    assert found.message == "0/3 nodes are available: 3 Insufficient cpu."
    assert found.facts == ("Insufficient cpu (n0): wants cpu 3; free cpu 1 of 4",)


def test_headroom_is_less_than_a_division_suggests() -> None:
    """Four cores are free in total, but no node has two of them."""
    taken = [
        make_pod(name=f"p{i}", node=f"n{i}", requests={"cpu": "3"}) for i in range(4)
    ]
    found = room_for(make_pod(requests={"cpu": "2"}), *nodes(4, cpu="4"), *taken)
    assert found.fits == 0


def test_the_search_ends_at_the_limit() -> None:
    found = room_for(make_pod(), *nodes(3, cpu="4"), limit=40)
    assert (found.fits, found.limit, found.message) == (40, 40, "")


def test_pods_that_keep_apart_fit_once_on_each_node() -> None:
    term = make_affinity_term(topology_key=HOST, selector={"app": "x"})
    pod = make_pod(labels={"app": "x"}, pod_anti_affinity=[term])
    labelled = [make_node(name=f"n{i}", labels={HOST: f"n{i}"}) for i in range(5)]
    assert room_for(pod, *labelled).fits == 5


def test_a_workload_is_selected_by_its_name() -> None:
    web = make_deployment(
        name="web",
        replicas=2,
        pod=make_pod(labels={"app": "web"}, requests={"cpu": "1"}),
    )
    found = measured(web, *nodes(1, cpu="8"), fit=["deploy/web"])
    [headroom] = found.headroom
    assert (headroom.pod, headroom.fits) == ("deploy/web", 6)
    assert found.room.total.pods == 2


def test_each_headroom_is_independent_of_the_others() -> None:
    pods = [(str(n), make_pod(requests={"cpu": str(n)})) for n in (1, 2, 1)]
    found = measured(*nodes(2, cpu="4"), pods=pods)
    assert [headroom.fits for headroom in found.headroom] == [8, 4, 8]


def test_copies_preempt_no_pod() -> None:
    low = make_pod(name="low", requests={"cpu": "3"}, priority=0)
    high = make_pod(requests={"cpu": "3"}, priority=1000)
    found = room_for(high, *nodes(1, cpu="4"), low)
    assert (found.fits, found.message) == (
        0,
        "0/1 nodes are available: 1 Insufficient cpu.",
    )


def test_copies_of_a_pod_that_ends_do_not_end() -> None:
    pod = make_pod(requests={"cpu": "1"}, annotations={RUN_SECONDS_ANNOTATION: "1"})
    assert room_for(pod, *nodes(1, cpu="4")).fits == 4


def test_gates_of_the_pod_do_not_count() -> None:
    gated = make_pod(name="p", requests={"cpu": "1"}, scheduling_gates=["wait"])
    found = measured(gated, *nodes(1, cpu="4"), fit=["p"])
    assert found.headroom[0].fits == 4


def test_a_quota_ends_the_search_and_is_reported() -> None:
    quota = make_resource_quota(name="few", hard={"pods": "3"})
    found = room_for(make_pod(), quota, *nodes(1, cpu="4"))
    assert found.fits == 3
    assert "exceeded quota: few" in found.message


def test_each_copy_of_a_replica_has_claims_of_its_own() -> None:
    """The volumes of the claims are made for the copies as for the replicas."""
    template = make_persistent_volume_claim(name="data", storage_class="standard")
    db = make_stateful_set(
        name="db",
        replicas=1,
        claims=[template],
        pod=make_pod(labels={"app": "db"}, requests={"cpu": "1"}),
    )
    with settled(db, *nodes(1, cpu="4")) as simulation:
        pod = simulation.cluster.get(Pod, "default/db-0")
        assert find_headroom(simulation, pod).fits == 3
        claims = simulation.cluster.list(PersistentVolumeClaim).items
        assert [claim.name for claim in claims] == ["data-db-0"]


def test_a_running_simulation_is_not_changed() -> None:
    with settled(make_pod(name="p"), *nodes(2, cpu="4")) as simulation:
        before = simulation.cluster.list(Pod).items
        assert find_headroom(simulation, make_pod(requests={"cpu": "1"})).fits == 8
        assert simulation.cluster.list(Pod).items == before


def test_a_missing_workload_is_an_error() -> None:
    with pytest.raises(PodNotFoundError, match="no such Deployment"):
        measured(*nodes(1, cpu="4"), fit=["deploy/web"])


def test_without_settling_nothing_is_scheduled() -> None:
    web = make_deployment(
        name="web",
        replicas=2,
        pod=make_pod(labels={"app": "web"}, requests={"cpu": "1"}),
    )
    bound = make_pod(name="bound", node="n0", requests={"cpu": "1"})
    found = measured(
        web, bound, *nodes(1, cpu="4"), fit=["deploy/web"], as_it_stands=True
    )
    assert (found.room.total.pods, found.headroom[0].fits) == (1, 3)


def test_without_settling_no_time_passes() -> None:
    ends = make_pod(
        name="ends",
        node="n0",
        requests={"cpu": "3"},
        annotations={RUN_SECONDS_ANNOTATION: "5"},
    )
    pods = [("it", make_pod(requests={"cpu": "1"}))]
    later = measured(ends, *nodes(1, cpu="4"), pods=pods)
    now = measured(ends, *nodes(1, cpu="4"), pods=pods, as_it_stands=True)
    assert (later.headroom[0].fits, now.headroom[0].fits) == (4, 1)


def test_progress_is_reported_with_the_limit() -> None:
    calls: list[tuple[int, int]] = []
    measured(
        *nodes(1, cpu="4"),
        pods=[("it", make_pod(requests={"cpu": "1"}))],
        limit=50,
        on_progress=lambda done, total: calls.append((done, total)),
    )
    assert calls[-1] == (4, 50)


def test_a_pod_is_read_from_a_line() -> None:
    pod = pod_of_text(
        "cpu=2, memory=4Gi,nvidia.com/gpu=1,label:app=x,selector:disk=ssd,"
        "toleration:a=b,toleration:c",
        namespace="ml",
    )
    [container] = pod.spec.containers
    assert {name: str(it) for name, it in container.resources.requests.items()} == {
        "cpu": "2",
        "memory": "4Gi",
        "nvidia.com/gpu": "1",
    }
    assert list(container.resources.limits) == ["nvidia.com/gpu"]
    assert (pod.namespace, pod.metadata.labels) == ("ml", {"app": "x"})
    assert pod.spec.node_selector == {"disk": "ssd"}
    assert pod.spec.tolerations == (
        Toleration(key="a", operator="Equal", value="b"),
        Toleration(key="c", operator="Exists"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected KEY=VALUE,..., such as cpu=2,memory=4Gi; got nothing"),
        ("cpu", "expected KEY=VALUE,..., such as cpu=2,memory=4Gi; got 'cpu'"),
        ("cpu=1,", "such as cpu=2,memory=4Gi; got nothing"),
        ("cpu=1,cpu=2", "cpu: expected once, came twice"),
        ("cpu=x", "cpu: expected a quantity"),
        ("cpu=-1", "cpu: expected an amount of at least 0, got '-1'"),
        ("gpu=1", "gpu: expected cpu, memory, ephemeral-storage, an extended"),
        ("toleration:=1", "toleration:: expected the key of a taint, got nothing"),
    ],
)
def test_error_of_an_invalid_pod_line_shows_the_reason(text: str, message: str) -> None:
    with pytest.raises(PodTextError) as caught:
        pod_of_text(text)
    assert str(caught.value).startswith(f"pod {text!r}: ")
    assert message in str(caught.value)
