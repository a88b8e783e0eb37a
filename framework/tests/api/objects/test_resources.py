"""What pods request: exactly as upstream's scheduler counts it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Pod
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    DEFAULT_MEMORY_REQUEST,
    DEFAULT_MILLI_CPU_REQUEST,
    Container,
    ContainerStatus,
    PodCondition,
    PodStatus,
    Quantity,
    ResourceRequirements,
    Resources,
    from_wire,
    host_ports,
    is_extended_resource,
    is_scalar_resource,
    node_allocatable,
    pod_request_list,
    pod_requests,
    pod_usage,
    score_requests,
)
from quaymaster.testing import make_container, make_node, make_pod

MEBI = 2**20
GPU = "example.com/gpu"


def cpu(amount: str, **arguments: Any) -> Container:
    return make_container(requests={"cpu": amount}, **arguments)


def named(name: str, amount: str, **arguments: Any) -> Container:
    return make_container(name=name, requests={"cpu": amount}, **arguments)


def status_of(name: str, actual: str, allocated: str | None = None) -> ContainerStatus:
    return ContainerStatus(
        name=name,
        resources=ResourceRequirements(requests={"cpu": Quantity(actual)}),
        allocated_resources={} if allocated is None else {"cpu": Quantity(allocated)},
    )


def with_status(pod: Pod, **status: Any) -> Pod:
    return Pod(
        metadata=pod.metadata,
        spec=pod.spec,
        node_name="n1",
        status=PodStatus(phase="Running", **status),
    )


# Resources


def test_amounts_are_rounded_up_to_integers() -> None:
    resources = Resources.from_list(
        {
            "cpu": Quantity("1.0001"),
            "memory": Quantity("0.5"),
            "ephemeral-storage": Quantity("1Ki"),
            "pods": Quantity("110"),
            "hugepages-2Mi": Quantity("4Mi"),
            GPU: Quantity("2"),
        }
    )
    assert resources == Resources(
        milli_cpu=1001,
        memory=1,
        ephemeral_storage=1024,
        allowed_pods=110,
        scalars={"hugepages-2Mi": 4 * MEBI, GPU: 2},
    )


def test_names_that_are_not_resources_are_not_counted() -> None:
    amounts = {"storage": Quantity("1Gi"), "bogus": Quantity(1)}
    assert Resources.from_list(amounts) == Resources()


def test_amounts_are_looked_up_by_name() -> None:
    resources = Resources(
        milli_cpu=1, memory=2, ephemeral_storage=3, allowed_pods=4, scalars={GPU: 5}
    )
    names = ("cpu", "memory", "ephemeral-storage", "pods", GPU, "other")
    assert [resources.get(name) for name in names] == [1, 2, 3, 4, 5, 0]


def test_amounts_are_added_and_taken_away_in_place() -> None:
    total = Resources(milli_cpu=1)
    more = Resources(milli_cpu=2, memory=3, ephemeral_storage=4, scalars={GPU: 5})
    total.add(more)
    total.add(more)
    total.add(more, -1)
    assert total == Resources(
        milli_cpu=3, memory=3, ephemeral_storage=4, scalars={GPU: 5}
    )


def test_a_copy_can_be_changed_on_its_own() -> None:
    original = Resources(scalars={GPU: 1})
    copy = original.copy()
    copy.add(original)
    assert original.scalars == {GPU: 1}
    assert copy.scalars == {GPU: 2}


def test_resources_are_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Resources())


def test_resources_show_their_amounts() -> None:
    assert repr(Resources(milli_cpu=5)).startswith("Resources(milli_cpu=5, memory=0,")


@pytest.mark.parametrize(
    ("name", "is_extended", "is_scalar"),
    [
        ("nvidia.com/gpu", True, True),
        ("hugepages-2Mi", False, True),
        ("attachable-volumes-csi-x", False, True),
        ("kubernetes.io/batch", False, True),
        ("sub.kubernetes.io/x", False, True),
        ("requests.example.com/x", False, False),
        ("cpu", False, False),
        ("UPPER.com/x", False, False),
        ("a.com/b/c", False, False),
        ("a.com/", False, False),
        ("a.com/" + "x" * 64, False, False),
    ],
)
def test_resource_names_decide_which_rules_apply(
    name: str, is_extended: bool, is_scalar: bool
) -> None:
    assert is_extended_resource(name) is is_extended
    assert is_scalar_resource(name) is is_scalar


# The incoming pod


def test_pod_requests_the_sum_of_its_containers() -> None:
    pod = make_pod(containers=[cpu("500m"), cpu("1"), cpu("0.25")])
    assert pod_requests(pod).milli_cpu == 1750


def test_fractions_are_added_before_they_are_rounded() -> None:
    pod = make_pod(containers=[cpu("0.5m"), cpu("0.5m")])
    assert pod_requests(pod).milli_cpu == 1


def test_init_containers_run_one_after_the_other() -> None:
    pod = make_pod(
        containers=[cpu("1")], init_containers=[cpu("2"), cpu("3"), cpu("2")]
    )
    assert pod_requests(pod).milli_cpu == 3000


def test_init_containers_count_per_resource() -> None:
    pod = make_pod(
        containers=[make_container(requests={"cpu": "1", "memory": "1Gi"})],
        init_containers=[make_container(requests={"cpu": "2", GPU: 1})],
    )
    assert pod_requests(pod) == Resources(
        milli_cpu=2000, memory=2**30, scalars={GPU: 1}
    )


def test_sidecars_run_beside_containers_and_later_init_containers() -> None:
    sidecars_first = make_pod(
        containers=[cpu("1")],
        init_containers=[cpu("500m", sidecar=True), cpu("3"), cpu("2", sidecar=True)],
    )
    # Containers and sidecars: 1 + 0.5 + 2; the init container beside one: 3 + 0.5.
    assert pod_requests(sidecars_first).milli_cpu == 3500
    init_first = make_pod(
        containers=[cpu("1")],
        init_containers=[cpu("4"), cpu("500m", sidecar=True)],
    )
    assert pod_requests(init_first).milli_cpu == 4000


def test_overhead_is_added_at_the_end() -> None:
    pod = make_pod(
        containers=[cpu("1")],
        init_containers=[cpu("2")],
        overhead={"cpu": "250m", "memory": "64Mi"},
    )
    assert pod_requests(pod) == Resources(milli_cpu=2250, memory=64 * MEBI)


def test_pod_level_requests_replace_those_of_containers_even_if_smaller() -> None:
    pod = make_pod(
        containers=[make_container(requests={"cpu": "2", "memory": "1Gi"})],
        pod_requests={"cpu": "1"},
        overhead={"cpu": "100m"},
    )
    assert pod_requests(pod) == Resources(milli_cpu=1100, memory=2**30)


def test_pod_level_requests_are_only_for_cpu_memory_and_huge_pages() -> None:
    pod = make_pod(
        pod_requests={"hugepages-2Mi": "2Mi", GPU: 1, "ephemeral-storage": 1}
    )
    assert pod_requests(pod) == Resources(scalars={"hugepages-2Mi": 2 * MEBI})


def test_pod_level_limits_alone_change_nothing() -> None:
    pod = from_wire(
        {
            "spec": {
                "containers": [{"resources": {"requests": {"cpu": "1"}}}],
                "resources": {"limits": {"cpu": "4"}},
            }
        },
        Pod,
    )
    assert pod_requests(pod).milli_cpu == 1000


def test_status_does_not_matter_for_an_incoming_pod() -> None:
    pod = make_pod(containers=[named("main", "1")])
    resized = with_status(pod, container_statuses=(status_of("main", "3"),))
    assert pod_requests(resized).milli_cpu == 1000


def test_requests_are_computed_once_per_template() -> None:
    pod = make_pod(requests={"cpu": "1"})
    other = Pod(spec=pod.spec)
    assert pod_requests(pod) is pod_requests(other)
    assert pod_usage(pod) is pod_usage(other)
    assert score_requests(pod) is score_requests(other)
    assert host_ports(pod) is host_ports(other)


# Pods on nodes


def test_pod_on_a_node_takes_what_it_requests() -> None:
    usage = pod_usage(make_pod(requests={"cpu": "1", "memory": "1Gi"}))
    assert usage.requests == Resources(milli_cpu=1000, memory=2**30)
    assert (usage.non_zero_milli_cpu, usage.non_zero_memory) == (1000, 2**30)


def test_each_container_without_a_request_counts_with_the_default() -> None:
    usage = pod_usage(make_pod(containers=[cpu("1"), make_container()]))
    assert usage.requests == Resources(milli_cpu=1000)
    assert usage.non_zero_milli_cpu == 1000 + DEFAULT_MILLI_CPU_REQUEST
    assert usage.non_zero_memory == 2 * DEFAULT_MEMORY_REQUEST


def test_explicit_zero_stays_zero() -> None:
    usage = pod_usage(make_pod(requests={"cpu": "0", "memory": "0"}))
    assert (usage.non_zero_milli_cpu, usage.non_zero_memory) == (0, 0)


def test_with_pod_level_requests_only_what_is_missing_everywhere_has_a_default() -> (
    None
):
    pod = make_pod(
        containers=[make_container(requests={"memory": "1Gi"}), make_container()],
        pod_requests={"hugepages-2Mi": "2Mi"},
    )
    usage = pod_usage(pod)
    assert usage.non_zero_milli_cpu == 2 * DEFAULT_MILLI_CPU_REQUEST
    assert usage.non_zero_memory == 2**30


@pytest.mark.parametrize(
    ("actual", "allocated", "milli_cpu"),
    [
        ("1", None, 1000),
        ("1", "1", 1000),
        ("2", None, 2000),
        ("500m", None, 1000),
        ("500m", "3", 3000),
        ("2", "500m", 2000),
    ],
)
def test_resize_under_way_counts_with_the_largest_amount(
    actual: str, allocated: str | None, milli_cpu: int
) -> None:
    pod = make_pod(containers=[named("main", "1")])
    status = status_of("main", actual, allocated)
    usage = pod_usage(with_status(pod, container_statuses=(status,)))
    assert usage.requests.milli_cpu == milli_cpu


def test_infeasible_resize_counts_with_the_allocation() -> None:
    pod = make_pod(containers=[named("main", "4")])
    pending = PodCondition(type="PodResizePending", status="True", reason="Infeasible")
    resized = with_status(
        pod,
        container_statuses=(status_of("main", "1", "2"),),
        conditions=(PodCondition(type="Ready"), pending),
    )
    assert pod_usage(resized).requests.milli_cpu == 2000


def test_deferred_resize_counts_with_the_new_requests() -> None:
    pod = make_pod(containers=[named("main", "4")])
    pending = PodCondition(type="PodResizePending", status="True", reason="Deferred")
    resized = with_status(
        pod, container_statuses=(status_of("main", "1"),), conditions=(pending,)
    )
    assert pod_usage(resized).requests.milli_cpu == 4000


def test_before_1_37_plain_init_containers_are_not_resized() -> None:
    pod = make_pod(
        containers=[named("main", "1")],
        init_containers=[named("init", "1"), named("side", "1", sidecar=True)],
    )
    statuses = (status_of("init", "9"), status_of("side", "2"))
    resized = with_status(pod, init_container_statuses=statuses)
    assert pod_usage(resized, Kubernetes("1.36")).requests.milli_cpu == 3000


def test_statuses_find_their_containers_in_any_order() -> None:
    pod = make_pod(containers=[named("a", "1"), named("b", "2")])
    statuses = (status_of("b", "2"), status_of("a", "1"), status_of("gone", "9"))
    assert (
        pod_usage(with_status(pod, container_statuses=statuses)).requests.milli_cpu
        == 3000
    )


def test_before_1_37_status_without_resources_changes_nothing() -> None:
    pod = make_pod(containers=[named("main", "1")])
    report = ContainerStatus(name="main", allocated_resources={"cpu": Quantity(5)})
    running = with_status(pod, container_statuses=(report,))
    old = Kubernetes("1.36")
    assert pod_usage(running, old) is pod_usage(pod, old)


def test_status_that_repeats_the_spec_costs_no_computation() -> None:
    pod = make_pod(containers=[named("main", "1")])
    running = with_status(pod, container_statuses=(status_of("main", "1", "1"),))
    assert pod_usage(running) is pod_usage(pod)


def test_resize_of_the_whole_pod_counts_with_the_largest_amount() -> None:
    pod = make_pod(pod_requests={"cpu": "1", "memory": "1Gi"})
    actual = ResourceRequirements(requests={"cpu": Quantity("3")})
    resized = with_status(pod, resources=actual)
    assert pod_usage(resized).requests == Resources(milli_cpu=3000, memory=2**30)


def test_infeasible_resize_of_the_whole_pod_counts_with_its_allocation() -> None:
    pod = make_pod(pod_requests={"cpu": "4", "memory": "1Gi"})
    resized = with_status(
        pod,
        resources=ResourceRequirements(requests={"cpu": Quantity("3")}),
        allocated_resources={"cpu": Quantity("2")},
        conditions=(PodCondition(type="PodResizePending", reason="Infeasible"),),
    )
    assert pod_usage(resized).requests == Resources(milli_cpu=3000)


# What NodeResourcesFit scores with


def test_score_counts_containers_with_the_defaults() -> None:
    pod = make_pod(containers=[cpu("1"), make_container()], init_containers=[cpu("0")])
    assert score_requests(pod) == Resources(
        milli_cpu=1000 + DEFAULT_MILLI_CPU_REQUEST, memory=2 * DEFAULT_MEMORY_REQUEST
    )


def test_score_ignores_pod_level_requests() -> None:
    pod = make_pod(containers=[cpu("1")], pod_requests={"cpu": "9"})
    assert score_requests(pod).milli_cpu == 1000


# Others


def test_exact_requests_of_each_part_are_available() -> None:
    pod = make_pod(
        containers=[cpu("0.5m")], pod_requests={"cpu": "1"}, overhead={"cpu": "1m"}
    )
    assert pod_request_list(pod) == {"cpu": Quantity("1001m")}
    assert pod_request_list(pod, overhead=False) == {"cpu": Quantity("1")}
    bare = pod_request_list(pod, pod_level=False, overhead=False)
    assert bare == {"cpu": Quantity("0.5m")}


def test_host_ports_are_those_of_containers_and_sidecars() -> None:
    pod = make_pod(
        containers=[make_container(host_ports=[80, "10.0.0.1:81/UDP"])],
        init_containers=[
            make_container(host_ports=[82]),
            make_container(host_ports=[83], sidecar=True),
        ],
    )
    assert [port.host_port for port in host_ports(pod)] == [83, 80, 81]


def test_container_port_without_host_port_takes_none() -> None:
    pod = from_wire({"spec": {"containers": [{"ports": [{"containerPort": 80}]}]}}, Pod)
    assert host_ports(pod) == ()


def test_node_offers_what_is_allocatable() -> None:
    node = make_node(capacity={"cpu": "8", GPU: 2}, allocatable={"cpu": "7500m"})
    offered = node_allocatable(node)
    assert offered.milli_cpu == 7500
    assert offered.allowed_pods == 110
    assert offered.scalars == {GPU: 2}


AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "ephemeral-storage", GPU]),
    st.sampled_from(["0", "1m", "1", "1.5", "3Mi"]),
)


@given(
    containers=st.lists(AMOUNTS, min_size=1, max_size=3),
    before=st.lists(st.tuples(AMOUNTS, st.booleans()), max_size=3),
    overhead=AMOUNTS,
)
def test_usage_is_the_sum_of_what_containers_request(
    containers: list[dict[str, str]],
    before: list[tuple[dict[str, str], bool]],
    overhead: dict[str, str],
) -> None:
    pod = make_pod(
        containers=[make_container(requests=requests) for requests in containers],
        init_containers=[
            make_container(requests=requests, sidecar=stays)
            for requests, stays in before
        ],
        overhead=overhead,
    )
    defaults = {
        "cpu": Quantity(f"{DEFAULT_MILLI_CPU_REQUEST}m"),
        "memory": Quantity(DEFAULT_MEMORY_REQUEST),
    }
    counted = Resources.from_list(
        pod_request_list(pod, use_status=True, missing=defaults)
    )
    usage = pod_usage(pod)
    assert usage.requests == Resources.from_list(pod_request_list(pod, use_status=True))
    assert usage.non_zero_milli_cpu == counted.milli_cpu
    assert usage.non_zero_memory == counted.memory
