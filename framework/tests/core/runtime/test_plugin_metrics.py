"""Plugins have metrics of their own: counters, gauges and histograms."""

import threading
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from quaymaster import Handle, NodeInfo, Status, hookimpl
from quaymaster.errors import MetricError
from quaymaster.testing import PluginHarness, SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER


class SpotPrice:
    """Counts its filters, with metrics of each type."""

    buckets: ClassVar[tuple[float, ...]] = (0.1, 1)

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle
        self.calls = handle.counter("calls_total", "Calls of filter.", ("node",))
        self.fetches = handle.counter("fetches_total", "Requests to the server.")
        self.age = handle.gauge("age_seconds", "The age of the data.")
        self.times = handle.histogram(
            "fetch_seconds", "How long a request took.", buckets=self.buckets
        )

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        self.calls.add(node=node.name)
        return None


def harness_of(plugin: type = SpotPrice) -> PluginHarness:
    return PluginHarness(plugin, nodes=[make_node(name="n")])


def spot_price(harness: PluginHarness) -> SpotPrice:
    plugin = harness.plugin
    assert isinstance(plugin, SpotPrice)
    return plugin


def config(*names: str) -> dict[str, Any]:
    plugins = {"multiPoint": {"enabled": [{"name": "SpotPrice"}]}}
    names = names or ("default-scheduler",)
    profiles = [{"schedulerName": name, "plugins": plugins} for name in names]
    return {**HEADER, "profiles": profiles}


def harness_with(*names: str, plugin: type = SpotPrice) -> SchedulerHarness:
    plugins = {"SpotPrice": plugin}
    return SchedulerHarness(
        [make_node(name="n")], plugins=plugins, config=config(*names)
    )


def place(harness: SchedulerHarness, *names: str) -> None:
    for name in names:
        harness.cluster.create(make_pod(name=name))
    harness.settle()


def test_unit_test_reads_each_metric() -> None:
    harness = harness_of()
    plugin = spot_price(harness)
    harness.filter(make_pod())
    plugin.fetches.add(2)
    plugin.age.set(7.5)
    plugin.age.set(3)
    plugin.times.observe(0.25)
    plugin.times.observe(0.5)
    assert harness.metric("calls_total", node="n") == 1
    assert harness.metric("fetches_total") == 2
    assert harness.metric("age_seconds") == 3
    assert harness.metric("fetch_seconds_count") == 2
    assert harness.metric("fetch_seconds_sum") == 0.75


def test_counter_without_labels_begins_at_zero() -> None:
    assert harness_of().metric("fetches_total") == 0


def test_metric_that_does_not_exist_is_one_clear_error() -> None:
    with pytest.raises(LookupError, match="did you mean 'fetches_total'"):
        harness_of().metric("fetch_total")


def test_metric_that_was_not_written_with_these_labels_is_an_error() -> None:
    harness = harness_of()
    harness.filter(make_pod())
    with pytest.raises(LookupError, match=r"never written with \{'node': 'm'\}"):
        harness.metric("calls_total", node="m")


def test_scheduler_counts_under_the_prefixed_name_and_the_profile() -> None:
    harness = harness_with()
    place(harness, "a")
    assert harness.metric("SpotPrice", "calls_total", node="n") == 1


def test_profiles_share_a_metric_and_have_their_own_numbers() -> None:
    harness = harness_with("default-scheduler", "other")
    harness.plugin(SpotPrice).fetches.add(3)
    harness.plugin(SpotPrice, scheduler_name="other").fetches.add(4)
    other = harness.metric("SpotPrice", "fetches_total", scheduler_name="other")
    assert harness.metric("SpotPrice", "fetches_total") == 3
    assert other == 4


def test_reload_keeps_the_numbers_of_plugins_that_stay() -> None:
    harness = harness_with()
    harness.plugin(SpotPrice).fetches.add(3)
    harness.reload(config())
    harness.settle()
    harness.plugin(SpotPrice).fetches.add(1)
    assert harness.metric("SpotPrice", "fetches_total") == 4


def test_reload_drops_the_numbers_of_plugins_that_go() -> None:
    harness = harness_with("default-scheduler", "other")
    harness.plugin(SpotPrice, scheduler_name="other").fetches.add(4)
    harness.reload(config())
    harness.settle()
    with pytest.raises(LookupError, match="never written"):
        harness.metric("SpotPrice", "fetches_total", scheduler_name="other")


def test_reload_may_change_the_buckets() -> None:
    harness = harness_with()
    harness.plugin(SpotPrice).times.observe(0.2)
    SpotPrice.buckets = (5.0,)
    try:
        harness.reload(config())
        harness.settle()
    finally:
        SpotPrice.buckets = (0.1, 1)
    harness.plugin(SpotPrice).times.observe(0.3)
    assert harness.metric("SpotPrice", "fetch_seconds_count") == 1


def test_numbers_of_other_threads_arrive_on_the_scheduling_thread() -> None:
    harness = harness_with()
    fetches = harness.plugin(SpotPrice).fetches
    threads = [threading.Thread(target=fetches.add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    harness.settle()
    assert harness.metric("SpotPrice", "fetches_total") == 4


def test_label_with_a_value_per_pod_is_bounded_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = harness_of()
    calls = spot_price(harness).calls
    for number in range(1_010):
        calls.add(node=f"n{number}")
    assert harness.metric("calls_total", node="n999") == 1
    with pytest.raises(LookupError):
        harness.metric("calls_total", node="n1000")
    [record] = caplog.records
    assert "'calls_total' has more than 1000 combinations" in record.message


@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (lambda plugin: plugin.calls.add(), "expected the labels node, got none"),
        (lambda plugin: plugin.calls.add(nod="n"), "labels node, got nod"),
        (lambda plugin: plugin.calls.add(node=3), "label node: expected a text, got 3"),
        (lambda plugin: plugin.fetches.add(-1), "expected an amount from 0, got -1"),
        (lambda plugin: plugin.age.set("3"), "expected a finite number, got '3'"),
        (lambda plugin: plugin.age.set(True), "expected a finite number, got True"),
        (lambda plugin: plugin.times.observe(float("nan")), "finite number, got nan"),
    ],
    ids=["missing", "misspelt", "no text", "negative", "text", "bool", "NaN"],
)
def test_wrong_labels_and_values_are_errors_that_name_plugin_and_metric(
    write: Callable[[Any], None], problem: str
) -> None:
    with pytest.raises(MetricError, match=problem) as caught:
        write(spot_price(harness_of()))
    assert str(caught.value).startswith("plugin 'SpotPrice': metric '")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda h: h.counter("fetches", "f"), "name of a counter must end with _total"),
        (lambda h: h.gauge("age_total", "f"), "a gauge must not end with _total"),
        (lambda h: h.counter("Fetches_total", "f"), "expected a name in snake_case"),
        (lambda h: h.gauge("fetch_sum", "f"), "Prometheus itself adds the ending _sum"),
        (lambda h: h.gauge("age", ""), "expected a description, got ''"),
        (lambda h: h.gauge("age", "f", ["profile"]), "label profile is added"),
        (lambda h: h.gauge("age", "f", "result"), "expected the names of labels"),
        (lambda h: h.gauge("age", "f", ["a", "a"]), "expected different labels"),
        (lambda h: h.gauge("age", "f", ["A"]), "labels in snake_case, got 'A'"),
        (lambda h: h.histogram("s", "f", buckets=[2, 1]), "expected ascending buckets"),
        (lambda h: h.histogram("s", "f", buckets=[]), "expected ascending buckets"),
        (lambda h: h.counter("fetches_total", "f"), "it exists already: make it once"),
    ],
    ids=[
        *("no total", "total", "capital", "suffix", "no description", "own label"),
        *("one text", "twice", "label", "buckets", "no buckets", "duplicate"),
    ],
)
def test_wrong_definition_is_an_error_at_load(
    make: Callable[[Any], object], problem: str
) -> None:
    class Wrong(SpotPrice):
        def __init__(self, args: object, handle: Handle) -> None:
            super().__init__(args, handle)
            make(handle)

    with pytest.raises(MetricError, match=problem) as caught:
        harness_of(Wrong)
    assert str(caught.value).startswith("plugin 'Wrong': metric '")


def test_definitions_of_two_profiles_must_agree() -> None:
    class Differs(SpotPrice):
        def __init__(self, args: object, handle: Handle) -> None:
            self.buckets = (float(len(handle.profile_name)),)  # type: ignore[misc]  # the mistake
            super().__init__(args, handle)

    with pytest.raises(MetricError, match="expected the same in all profiles"):
        harness_with("default-scheduler", "other", plugin=Differs)


def test_hook_cannot_make_a_metric() -> None:
    harness = harness_with()
    plugin = harness.plugin(SpotPrice)
    with pytest.raises(MetricError, match="'late': made in a hook or callback, after"):
        plugin.handle.gauge("late", "Too late.")


def test_another_thread_cannot_make_a_metric() -> None:
    harness = harness_with()
    problems: list[str] = []

    def make() -> None:
        try:
            harness.plugin(SpotPrice).handle.gauge("late", "Too late.")
        except RuntimeError as error:
            problems.append(str(error))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    assert "expected the scheduling thread" in problems[0]
