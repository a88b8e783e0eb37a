"""Since Kubernetes 1.37, a pod that is being resized counts with its largest total."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Pod
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    Container,
    ContainerStatus,
    PodCondition,
    PodStatus,
    PodUsage,
    Quantity,
    ResourceRequirements,
    Resources,
    pod_usage,
)
from quaymaster.testing import make_container, make_pod

KUBERNETES = Kubernetes("1.37")
INFEASIBLE = PodCondition(type="PodResizePending", status="True", reason="Infeasible")


def named(name: str, milli_cpu: int, **arguments: Any) -> Container:
    return make_container(name=name, requests={"cpu": f"{milli_cpu}m"}, **arguments)


def amounts(milli_cpu: int | None) -> dict[str, Quantity]:
    return {} if milli_cpu is None else {"cpu": Quantity(f"{milli_cpu}m")}


def status_of(
    name: str, *, actual: int | None = None, allocated: int | None = None
) -> ContainerStatus:
    return ContainerStatus(
        name=name,
        resources=ResourceRequirements(requests=amounts(actual)),
        allocated_resources=amounts(allocated),
    )


def usage_of(pod: Pod, **status: Any) -> PodUsage:
    running = Pod(
        metadata=pod.metadata,
        spec=pod.spec,
        node_name="n1",
        status=PodStatus(phase="Running", **status),
    )
    return pod_usage(running, KUBERNETES)


def milli_cpu_of(pod: Pod, **status: Any) -> int:
    return usage_of(pod, **status).requests.milli_cpu


TWO = make_pod(containers=[named("a", 1000), named("b", 3000)])


def test_the_largest_total_counts_and_not_the_largest_of_each_container() -> None:
    grown = status_of("a", actual=2000, allocated=2000)
    shrunk = status_of("b", actual=1000, allocated=1000)
    # The pod requests 4000 and has 3000; container by container it would be 5000.
    assert milli_cpu_of(TWO, container_statuses=(grown, shrunk)) == 4000


def test_allocation_counts_without_any_report_of_what_is_in_use() -> None:
    report = ContainerStatus(name="a", allocated_resources=amounts(5000))
    assert milli_cpu_of(TWO, container_statuses=(report,)) == 8000


def test_what_is_in_use_counts_before_what_is_allocated_to_its_total() -> None:
    status = status_of("a", actual=500, allocated=2500)
    assert milli_cpu_of(TWO, container_statuses=(status,)) == 5500


def test_plain_init_containers_are_resized_too() -> None:
    pod = make_pod(
        containers=[named("main", 1000)], init_containers=[named("init", 1000)]
    )
    status = status_of("init", actual=9000)
    assert milli_cpu_of(pod, init_container_statuses=(status,)) == 9000


def test_infeasible_resize_does_not_count_the_new_requests() -> None:
    status = status_of("a", actual=500, allocated=600)
    found = milli_cpu_of(TWO, container_statuses=(status,), conditions=(INFEASIBLE,))
    assert found == 600


def test_status_of_the_whole_pod_replaces_those_of_its_containers() -> None:
    found = milli_cpu_of(
        TWO,
        container_statuses=(status_of("a", actual=9000),),
        resources=ResourceRequirements(requests=amounts(4500)),
        allocated_resources=amounts(5500),
    )
    assert found == 5500


def test_pod_level_requests_count_with_the_most() -> None:
    pod = make_pod(pod_requests={"cpu": "1", "memory": "1Gi"})
    usage = usage_of(
        pod,
        resources=ResourceRequirements(
            requests={"cpu": Quantity("3"), "hugepages-2Mi": Quantity("2Mi")}
        ),
    )
    expected = Resources(
        milli_cpu=3000, memory=2**30, scalars={"hugepages-2Mi": 2 * 2**20}
    )
    assert usage.requests == expected


STATUS = st.fixed_dictionaries(
    {
        "actual": st.none() | st.integers(0, 4000),
        "allocated": st.none() | st.integers(0, 4000),
    }
)


def total(amounts: Iterable[int | None]) -> int:
    return sum(amount or 0 for amount in amounts)


@given(
    wanted=st.lists(st.integers(0, 4000), min_size=1, max_size=3),
    reports=st.lists(STATUS, max_size=3),
)
def test_no_total_is_above_what_counts(
    wanted: list[int], reports: list[Mapping[str, int | None]]
) -> None:
    names = [f"c{number}" for number in range(len(wanted))]
    pod = make_pod(
        containers=[named(*each) for each in zip(names, wanted, strict=True)]
    )
    statuses = tuple(
        status_of(name, **report) for name, report in zip(names, reports, strict=False)
    )
    reported = [*reports, *[{}] * len(names)][: len(names)]
    promised = [
        spec if report.get("allocated") is None else report["allocated"]
        for spec, report in zip(wanted, reported, strict=True)
    ]
    actual = [
        mine if report.get("actual") is None else report["actual"]
        for mine, report in zip(promised, reported, strict=True)
    ]
    found = milli_cpu_of(pod, container_statuses=statuses)
    assert found == max(sum(wanted), total(promised), total(actual))


@pytest.mark.parametrize("allocated", [None, 1000])
def test_status_that_repeats_the_spec_changes_nothing(allocated: int | None) -> None:
    pod = make_pod(containers=[named("main", 1000)])
    usage = usage_of(
        pod, container_statuses=(status_of("main", actual=1000, allocated=allocated),)
    )
    assert usage is pod_usage(pod, KUBERNETES)
