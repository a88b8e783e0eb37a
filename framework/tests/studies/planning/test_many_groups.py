"""Plans with dozens of groups, such as the instance types of a cloud."""

import itertools

import pytest

from quaymaster.config import default_config
from quaymaster.planning import NodeGroup, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_deployment, make_pod
from tests.kit.internals.planning import Need, Order

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)


def shapes(count: int) -> list[tuple[int, int, int]]:
    """Return CPU, memory in GiB, and price; no shape is better than another."""
    sizes = itertools.product(range(2, 10), (2, 3, 5, 7, 11))
    return [
        (cpu, cpu * ratio, 31 * cpu + 7 * cpu * ratio + number % 3)
        for number, (cpu, ratio) in enumerate(itertools.islice(sizes, count))
    ]


def group(cpu: int, memory: int, price: int) -> NodeGroup:
    name = f"c{cpu}m{memory}"
    return parse_node_group(f"name={name},cpu={cpu},memory={memory}Gi,price={price}")


def order(groups: list[tuple[int, int, int]], *, is_late: bool) -> Order:
    return Order(
        needs=[
            Need(of="cpu", demand=311, existing=(), capacity=each)
            for each in (
                tuple(cpu for cpu, _, _ in groups),
                tuple(memory for _, memory, _ in groups),
            )
        ],
        weights=[price for _, _, price in groups],
        lows=(0,) * len(groups),
        highs=(5000,) * len(groups),
        is_late=lambda: is_late,
    )


def test_list_ends_when_the_time_is_over_and_keeps_its_bound() -> None:
    late = order(shapes(20), is_late=True)
    assert not any(late)
    assert not late.is_complete
    # No node has CPU for less than 31 of its price.
    assert late.bound >= 31 * 311


def test_list_with_few_groups_still_begins_with_the_lightest_plan() -> None:
    groups = shapes(3)
    weight, counts = next(iter(order(groups, is_late=False)))
    assert weight == sum(n * each[2] for n, each in zip(counts, groups, strict=True))
    assert sum(n * cpu for n, (cpu, _, _) in zip(counts, groups, strict=True)) >= 311


@pytest.mark.long
def test_plan_of_forty_groups_is_found_although_its_list_does_not_end() -> None:
    pod = make_pod(requests={"cpu": "1700m", "memory": "9Gi"})
    answer = plan(
        [make_deployment(name="web", replicas=40, pod=pod)],
        groups=[group(*shape) for shape in shapes(40)],
        config=CONFIG,
        registry=REGISTRY,
        max_trials=20,
    )
    assert answer.is_found
