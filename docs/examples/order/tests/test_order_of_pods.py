"""Strict order, backfilling and ageing priorities, in a cluster of one node."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from quaymaster import Pod
from quaymaster.config import ConfigErrors, parse_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Run
from quaymaster.testing import make_node, make_pod, profile_config

from quaymaster_order import (
    REQUESTED_SECONDS,
    AgeingSort,
    ConservativeBackfilling,
    EasyBackfilling,
    HeadOfLine,
)

PLUGINS = (AgeingSort, ConservativeBackfilling, EasyBackfilling, HeadOfLine)
RUN_SECONDS = "simulation.quaymaster.io/run-seconds"


def config_of(plugin: type, **args: object) -> Mapping[str, object]:
    return profile_config(
        enable=[plugin],
        disable=["PrioritySort", "DefaultPreemption"],
        args={plugin: args},
    )


def registry() -> PluginRegistry:
    found = PluginRegistry.discover()
    for plugin in PLUGINS:
        found = found.with_plugin(plugin)
    return found


@contextmanager
def cluster(plugin: type, *nodes: str, **args: object) -> Iterator[Run]:
    """A run with nodes of ten CPUs."""
    plugins = registry()
    config = parse_config(config_of(plugin, **args), plugins)
    capacity = {"cpu": "10", "memory": "16Gi", "pods": "110"}
    made = [make_node(name=name, capacity=capacity) for name in nodes or ("node",)]
    with Run(made, config=config, registry=plugins) as run:
        yield run


def job(name: str, cpu: int, seconds: int, **fields: object) -> Pod:
    annotations = {REQUESTED_SECONDS: str(seconds), RUN_SECONDS: str(seconds)}
    return make_pod(
        name=name,
        requests={"cpu": str(cpu)},
        annotations=annotations,
        **fields,  # type: ignore[arg-type]  # fields of make_pod
    )


def arrive(run: Run, *pods: Pod) -> None:
    """Create pods, each followed by attempts."""
    for pod in pods:
        run.create(pod)
        while run.attempt() is not None:
            pass


def starts(run: Run) -> Mapping[str, float]:
    """Continue to the end; return when each pod was bound."""
    while run.wait():
        while run.attempt() is not None:
            pass
    return {
        placement.pod.removeprefix("default/"): placement.bound
        for placement in run.result().placements
    }


def test_no_pod_passes_the_head() -> None:
    with cluster(HeadOfLine) as run:
        arrive(run, job("a", 6, 100), job("wide", 8, 50), job("small", 1, 10))
        assert starts(run) == {"a": 0, "wide": 100, "small": 100}


@pytest.mark.parametrize(("keep_head", "first"), [(True, "long"), (False, "short")])
def test_a_pod_that_comes_before_the_head_may_replace_it(
    keep_head: bool, first: str
) -> None:
    with cluster(HeadOfLine, orderBy="ShortestFirst", keepHead=keep_head) as run:
        arrive(run, job("a", 10, 100), job("long", 10, 50), job("short", 10, 10))
        times = starts(run)
        assert min(("long", "short"), key=times.__getitem__) == first


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("FirstCome", ["wide", "long", "short"]),
        ("ShortestFirst", ["short", "wide", "long"]),
        ("F1", ["short", "wide", "long"]),
    ],
)
def test_waiting_pods_start_in_the_order_of_the_policy(
    order: str, expected: list[str]
) -> None:
    with cluster(HeadOfLine, orderBy=order) as run:
        arrive(run, job("a", 10, 100), job("head", 10, 100))
        arrive(run, job("wide", 9, 50), job("long", 9, 500), job("short", 9, 20))
        times = starts(run)
        assert sorted(expected, key=times.__getitem__) == expected


def test_higher_priorities_come_first_whatever_the_order() -> None:
    with cluster(HeadOfLine, orderBy="ShortestFirst") as run:
        arrive(run, job("a", 10, 100), job("head", 10, 100))
        arrive(run, job("short", 10, 1), job("urgent", 10, 50, priority=5))
        times = starts(run)
        assert times["urgent"] < times["short"]


def test_wfp3_prefers_a_pod_that_has_waited_long_for_its_requested_time() -> None:
    with cluster(HeadOfLine, orderBy="WFP3") as run:
        arrive(run, job("a", 10, 1000), job("head", 10, 10), job("long", 8, 900))
        run.advance(980)
        arrive(run, job("short", 8, 100))
        times = starts(run)
        assert times["long"] < times["short"]  # 1.1 of 1, against 0.2 of 1


def test_fair_share_prefers_the_namespace_that_has_used_less() -> None:
    with cluster(HeadOfLine, orderBy="FairShare") as run:
        arrive(run, job("a", 10, 100), job("head", 10, 1, namespace="other"))
        arrive(run, job("mine", 10, 1), job("theirs", 10, 1, namespace="other"))
        times = starts(run)
        assert times["other/theirs"] < times["mine"]


def test_a_deleted_head_makes_room_for_the_next_pod() -> None:
    with cluster(HeadOfLine) as run:
        arrive(run, job("a", 6, 100), job("wide", 8, 50), job("small", 1, 10))
        run.delete(run.cluster.get(Pod, "default/wide"))
        while run.attempt() is not None:
            pass
        assert run.observe().pending == 0


def test_pods_with_scheduling_gates_do_not_hold_up_the_line() -> None:
    with cluster(HeadOfLine) as run:
        arrive(run, job("gated", 6, 100, scheduling_gates=["wait"]), job("b", 8, 50))
        assert run.observe().placed == 1


@pytest.mark.parametrize("plugin", [EasyBackfilling, ConservativeBackfilling])
def test_a_pod_that_ends_before_the_reservation_passes_the_head(plugin: type) -> None:
    with cluster(plugin) as run:
        arrive(run, job("a", 6, 100), job("wide", 8, 50))
        arrive(run, job("short", 4, 100), job("longer", 4, 101))
        assert starts(run) == {"a": 0, "short": 0, "wide": 100, "longer": 150}


def test_a_pod_may_use_the_room_that_the_head_leaves() -> None:
    with cluster(EasyBackfilling) as run:
        arrive(run, job("a", 6, 100), job("wide", 8, 50))
        arrive(run, job("narrow", 2, 500), job("too-wide", 3, 500))
        assert starts(run) == {"a": 0, "narrow": 0, "wide": 100, "too-wide": 150}


def test_without_spare_room_only_pods_that_end_in_time_pass() -> None:
    with cluster(EasyBackfilling, spareRoom=False, margin="1s") as run:
        arrive(run, job("a", 6, 100), job("wide", 8, 50))
        arrive(run, job("narrow", 2, 500), job("exact", 1, 100), job("short", 1, 99))
        times = starts(run)
        assert times["short"] == 0
        assert (times["narrow"], times["exact"]) == (100, 150)


def test_easy_may_delay_the_second_pod_and_conservative_does_not() -> None:
    pods = [job("a", 6, 100), job("wide", 8, 50), job("second", 10, 10)]
    late = job("late", 2, 500)
    with cluster(EasyBackfilling) as run:
        arrive(run, *pods, late)
        assert starts(run) == {"a": 0, "late": 0, "wide": 100, "second": 500}
    with cluster(ConservativeBackfilling) as run:
        arrive(run, *pods, late)
        assert starts(run) == {"a": 0, "wide": 100, "second": 150, "late": 160}


def test_the_reservation_is_on_one_node_and_others_stay_free() -> None:
    with cluster(EasyBackfilling, "n1", "n2") as run:
        arrive(run, job("a", 10, 100), job("b", 5, 300), job("wide", 10, 50))
        arrive(run, job("long", 5, 1000))
        assert starts(run) == {"a": 0, "b": 0, "long": 0, "wide": 100}


def test_a_pod_that_ends_early_lets_the_head_start_early() -> None:
    early = job("a", 6, 100)
    early.metadata.annotations[RUN_SECONDS] = "30"
    with cluster(EasyBackfilling) as run:
        arrive(run, early, job("wide", 8, 50))
        assert starts(run) == {"a": 0, "wide": 30}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Fastest", "expected one of FirstCome, .*, got 'Fastest'"),
        ("quaymaster_order:Usage", "expected a Policy at"),
        ("no_such_module:KEY", "could not be imported"),
    ],
)
def test_unknown_orders_are_errors_of_the_configuration(
    name: str, message: str
) -> None:
    with pytest.raises(ConfigErrors, match=f"orderBy: .*{message}"):
        parse_config(config_of(HeadOfLine, orderBy=name), registry())


def test_ageing_sort_sorts_pods_again_as_they_age() -> None:
    with cluster(AgeingSort, orderBy="WFP3", interval="10s") as run:
        run.create(job("long", 1, 1000))
        run.advance(100)
        run.create(job("short", 1, 10))
        # So far the short pod has not waited at all. Later it has waited its requested
        # time many times over.
        assert run.peek().pod.name == "long"  # type: ignore[union-attr]  # it is queued
        run.advance(100)
        assert run.peek().pod.name == "short"  # type: ignore[union-attr]  # as above
