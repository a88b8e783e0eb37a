"""Limits of pods during a resize (``PodLimits``, component-helpers)."""

from typing import Any

import pytest

from quaymaster import Pod
from quaymaster.objects import (
    Container,
    ContainerStatus,
    PodCondition,
    PodStatus,
    Quantity,
    ResourceRequirements,
)
from quaymaster.testing import make_container, make_pod
from tests.kit.internals.objects import pod_limit_list

INFEASIBLE = PodCondition(type="PodResizePending", status="True", reason="Infeasible")


def limiting(name: str, cpu: int, **arguments: Any) -> Container:
    return make_container(name=name, limits={"cpu": str(cpu)}, **arguments)


def status_of(name: str, cpu: int) -> ContainerStatus:
    return ContainerStatus(
        name=name, resources=ResourceRequirements(limits={"cpu": Quantity(str(cpu))})
    )


def cpu_of(pod: Pod, *, by_totals: bool = True, **status: Any) -> str:
    running = Pod(metadata=pod.metadata, spec=pod.spec, status=PodStatus(**status))
    limits = pod_limit_list(running, use_status=True, by_totals=by_totals)
    return str(limits.get("cpu", "none"))


TWO = make_pod(containers=[limiting("a", 1), limiting("b", 3)])
RESIZED = (status_of("a", 2), status_of("b", 1))


def test_status_does_not_matter_unless_it_is_used() -> None:
    pod = Pod(spec=TWO.spec, status=PodStatus(container_statuses=RESIZED))
    assert str(pod_limit_list(pod)["cpu"]) == "4"


def test_the_larger_total_counts_since_1_37_and_each_larger_limit_before() -> None:
    assert cpu_of(TWO, container_statuses=RESIZED) == "4"
    assert cpu_of(TWO, container_statuses=RESIZED, by_totals=False) == "5"


@pytest.mark.parametrize("by_totals", [True, False])
def test_an_infeasible_resize_leaves_the_limits_that_the_node_has_set(
    by_totals: bool,
) -> None:
    status = {"container_statuses": RESIZED, "conditions": (INFEASIBLE,)}
    assert cpu_of(TWO, by_totals=by_totals, **status) == "3"


def test_a_container_without_a_status_counts_with_its_spec() -> None:
    assert cpu_of(TWO, container_statuses=(status_of("a", 2),)) == "5"
    assert cpu_of(TWO, container_statuses=(status_of("a", 2),), by_totals=False) == "5"


def test_pod_level_limits_replace_those_of_the_containers() -> None:
    pod = make_pod(
        containers=[limiting("a", 1)],
        pod_limits={"cpu": "6"},
    )
    assert cpu_of(pod) == "6"
    actual = ResourceRequirements(limits={"cpu": Quantity("8")})
    assert cpu_of(pod, resources=actual) == "8"
    assert cpu_of(pod, resources=actual, by_totals=False) == "8"
    assert cpu_of(pod, resources=actual, conditions=(INFEASIBLE,)) == "8"


def test_plain_init_containers_have_no_larger_limit_before_1_37() -> None:
    pod = make_pod(containers=[limiting("a", 1)], init_containers=[limiting("i", 2)])
    status: dict[str, Any] = {"init_container_statuses": (status_of("i", 5),)}
    assert cpu_of(pod, by_totals=False, **status) == "2"
    assert cpu_of(pod, **status) == "5"
