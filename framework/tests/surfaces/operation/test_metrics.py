"""The metrics of a scheduler and their exposition."""

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pytest
from prometheus_client.parser import text_string_to_metric_families

from quaymaster import Handle, NodeInfo, Pod, Status, hookimpl
from quaymaster.config import Kubernetes, default_config, load_config, parse_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import make_node, make_pod, profile_config
from tests.kit.internals.driver import Counted, Durations, LeaseSeen
from tests.kit.internals.operation import (
    FAMILIES,
    ClientStats,
    EngineProbe,
    SchedulerReader,
    client_readings,
    metrics_page,
)
from tests.kit.internals.runtime import SchedulerMetrics
from tests.kit.sources import ROOT

T = TypeVar("T")

FACTS = json.loads(
    (Path(__file__).parent / "data" / "kube_scheduler_metrics.json").read_text()
)
"""Names, types, labels and buckets that kube-scheduler v1.36.2 served."""
PAGE = ROOT / "docs" / "reference" / "metrics.md"
ROW = re.compile(
    r"^\| `(scheduler_\w+)` \| (\w+) \| (.*?) \| (present|absent: .+)", re.MULTILINE
)
PROFILE = {"profile": "default-scheduler"}


class Rig:
    """A scheduler with metrics on an in-memory cluster, in virtual time."""

    def __init__(
        self,
        *,
        measures: bool = True,
        version: str = "1.36",
        plugin: type | None = None,
    ) -> None:
        self.clock = VirtualClock()
        self.cluster = InMemoryCluster(clock=self.clock)
        registry = PluginRegistry.discover()
        config = default_config(registry, kubernetes=Kubernetes(version))
        if plugin is not None:
            registry = registry.with_plugin(plugin)
            config = parse_config(profile_config(enable=[plugin]), registry)
        metrics = SchedulerMetrics(self._ticking)
        self._now, self.tick = 0.0, 0.001
        self.scheduler = Scheduler(
            self.cluster,
            config,
            registry,
            clock=self.clock,
            metrics=metrics if measures else None,
        )
        self.reader = SchedulerReader(self.scheduler, metrics, {})
        self.stats = ClientStats()
        self.scheduler.start()

    def _ticking(self) -> float:
        """Return the time, which advances by a millisecond per call."""
        self._now += self.tick
        return self._now

    def ask(self, call: Callable[[], T], /) -> Future[T]:
        answer: Future[T] = Future()
        answer.set_result(call())
        return answer

    def served(self) -> dict[str, Any]:
        """Parse the served metrics with the Prometheus client library."""
        page = metrics_page(
            EngineProbe(self, 1.0),
            self.reader.read,
            lambda: client_readings(self.stats, self.scheduler.config.kubernetes),
            self.scheduler.plugin_metrics,
        )
        text = page({}).body.decode()
        return {
            sample.name + json.dumps(sample.labels, sort_keys=True): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def value(self, metric: str, /, **labels: str) -> float:
        found: float = self.served()[metric + json.dumps(labels, sort_keys=True)]
        return found


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig()
    yield made
    made.scheduler.close()


def busy(rig: Rig) -> Rig:
    """Return a rig with two scheduled pods, one too large and one gated."""
    rig.cluster.create(make_node(name="n", allocatable={"cpu": "4", "pods": "9"}))
    for name, cpu in (("a", "1"), ("b", "1"), ("big", "9")):
        rig.cluster.create(make_pod(name=name, requests={"cpu": cpu}))
    rig.cluster.create(make_pod(name="gated", scheduling_gates=["example.com/g"]))
    rig.scheduler.settle()
    return rig


@pytest.mark.parametrize("name", FACTS)
def test_metric_is_the_same_as_upstreams(name: str) -> None:
    family, fact = FAMILIES.get(name), FACTS[name]
    if family is None:
        assert f"| `{name}` | {fact['type']} |" in PAGE.read_text()
        return
    assert family.kind == fact["type"]
    assert sorted(family.labels) == sorted(fact["labels"])
    assert list(family.bounds) == fact.get("buckets", [])


def test_page_names_all_metrics_of_upstream_with_a_reason_for_each_that_is_absent() -> (
    None
):
    # Metrics that 1.37 adds come after.
    text, _, _ = PAGE.read_text().partition("\n## What Kubernetes 1.37 adds\n")
    rows = {name: rest for name, *rest in ROW.findall(text)}
    assert set(rows) == {name for name in FACTS if name.startswith("scheduler_")}
    assert len(rows) == 35
    for name, (kind, labels, here) in rows.items():
        assert kind == FACTS[name]["type"]
        assert re.findall(r"`(\w+)`", labels) == FACTS[name]["labels"]
        assert (here == "present") == (name in FAMILIES), name


def test_page_names_the_metrics_that_upstream_does_not_have() -> None:
    text = PAGE.read_text()
    for name in set(FAMILIES) - set(FACTS):
        assert f"| `{name}` |" in text


class SpotGo:
    """Has a metric of each type."""

    def __init__(self, args: object, handle: Handle) -> None:
        handle.counter("fetches_total", "Requests.", ["result"]).add(3, result="ok")
        handle.gauge("age_seconds", "The age.").set(2.5)
        handle.histogram("fetch_seconds", "Times.", buckets=[1, 2]).observe(1.5)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return None


def test_metrics_of_plugins_are_on_the_page_with_their_prefix() -> None:
    rig = Rig(plugin=SpotGo)
    name = "quaymaster_spot_go"
    assert rig.value(f"{name}_fetches_total", **PROFILE, result="ok") == 3
    assert rig.value(f"{name}_age_seconds", **PROFILE) == 2.5
    assert rig.value(f"{name}_fetch_seconds_bucket", **PROFILE, le="1.0") == 0
    assert rig.value(f"{name}_fetch_seconds_bucket", **PROFILE, le="2.0") == 1
    assert rig.value(f"{name}_fetch_seconds_sum", **PROFILE) == 1.5
    rig.scheduler.close()


@pytest.mark.long
def test_attempts_are_counted_by_how_they_ended(rig: Rig) -> None:
    served = busy(rig).value
    assert (
        served("scheduler_schedule_attempts_total", result="scheduled", **PROFILE) == 2
    )
    assert (
        served("scheduler_schedule_attempts_total", result="unschedulable", **PROFILE)
        == 1
    )
    attempts = "scheduler_scheduling_attempt_duration_seconds_count"
    assert served(attempts, result="scheduled", **PROFILE) == 2
    assert served("scheduler_scheduling_algorithm_duration_seconds_count") == 3
    assert served("scheduler_pod_scheduling_attempts_count") == 2
    assert served("scheduler_pod_scheduling_attempts_sum") == 2
    assert (
        served("scheduler_pod_scheduling_sli_duration_seconds_count", attempts="1") == 2
    )
    assert served("scheduler_preemption_attempts_total") == 1


@pytest.mark.long
def test_pods_that_wait_are_counted_by_queue_and_by_plugin(rig: Rig) -> None:
    served = busy(rig).value
    found = {
        queue: served("scheduler_pending_pods", queue=queue)
        for queue in ("active", "backoff", "unschedulable", "gated")
    }
    assert found == {"active": 0, "backoff": 0, "unschedulable": 1, "gated": 1}
    for plugin in ("NodeResourcesFit", "SchedulingGates"):
        assert served("scheduler_unschedulable_pods", plugin=plugin, **PROFILE) == 1
    incoming = "scheduler_queue_incoming_pods_total"
    assert served(incoming, queue="active", event="UnschedulablePodAdd") == 3
    assert served("scheduler_cache_size", type="nodes") == 1
    assert served("scheduler_cache_size", type="pods") == 2
    assert served("scheduler_cache_size", type="assumed_pods") == 0
    assert served("scheduler_inflight_events", event="PodPopped") == 0
    assert served("scheduler_goroutines", operation="binding") == 0


@pytest.mark.long
def test_plugin_that_no_longer_rejects_counts_0(rig: Rig) -> None:
    busy(rig)
    rejected = "scheduler_unschedulable_pods"
    assert rig.value(rejected, plugin="NodeResourcesFit", **PROFILE) == 1
    rig.cluster.create(make_node(name="large", allocatable={"cpu": "16", "pods": "9"}))
    rig.scheduler.settle()
    assert rig.value(rejected, plugin="NodeResourcesFit", **PROFILE) == 0


@pytest.mark.long
def test_plugins_and_extension_points_are_measured(rig: Rig) -> None:
    served = busy(rig).value
    point = "scheduler_framework_extension_point_duration_seconds_count"
    for name, status in (
        ("PreFilter", "Success"),
        ("Filter", "Success"),
        ("Reserve", "Success"),
        ("Bind", "Success"),
    ):
        assert served(point, extension_point=name, status=status, **PROFILE) >= 2
    assert (
        served(point, extension_point="PostFilter", status="Unschedulable", **PROFILE)
        == 1
    )
    plugin = "scheduler_plugin_execution_duration_seconds"
    bind = {"plugin": "DefaultBinder", "extension_point": "Bind", "status": "Success"}
    assert served(f"{plugin}_count", **bind) == 2
    assert served(f"{plugin}_sum", **bind) == pytest.approx(0.002)
    assert served(f"{plugin}_bucket", le="+Inf", **bind) == 2
    evaluated = "scheduler_plugin_evaluation_total"
    labels = {"plugin": "NodeResourcesFit", "extension_point": "Filter", **PROFILE}
    assert served(evaluated, **labels) >= 1


@pytest.mark.long
def test_attempts_in_quick_succession_are_not_all_measured(rig: Rig) -> None:
    rig.tick = 0.0
    rig.cluster.create(make_node(name="n", allocatable={"cpu": "4", "pods": "99"}))
    for number in range(30):
        rig.cluster.create(make_pod(name=f"p{number}"))
    rig.scheduler.settle()
    binds = "scheduler_plugin_execution_duration_seconds_count"
    labels = {"plugin": "DefaultBinder", "extension_point": "Bind", "status": "Success"}
    assert rig.value(binds, **labels) == 1
    rig.tick = 1.0
    rig.cluster.create(make_pod(name="late"))
    rig.scheduler.settle()
    # It represents the others; upstream samples one in ten.
    assert rig.value(binds, **labels) == 1 + 30 // 10
    points = "scheduler_framework_extension_point_duration_seconds_count"
    labels = {"extension_point": "Bind", "status": "Success", **PROFILE}
    assert rig.value(points, **labels) == 31


def test_changes_are_timed_one_for_ten(rig: Rig) -> None:
    for number in range(40):
        rig.cluster.create(make_node(name=f"n{number}"))
    rig.scheduler.settle()
    events = "scheduler_event_handling_duration_seconds_count"
    assert rig.value(events, event="NodeAdd") == 40


@pytest.mark.parametrize(
    ("version", "arrival"),
    [("1.36", "UnschedulablePodAdd"), ("1.37", "UnscheduledPodAdd")],
)
def test_new_pods_have_the_event_name_of_the_version(
    version: str, arrival: str
) -> None:
    rig = Rig(version=version)
    for number in range(40):
        rig.cluster.create(make_pod(name=f"p{number}"))
    rig.scheduler.settle()
    events = "scheduler_event_handling_duration_seconds_count"
    assert rig.value(events, event=arrival) == 40
    incoming = "scheduler_queue_incoming_pods_total"
    assert rig.value(incoming, queue="active", event=arrival) == 40
    rig.scheduler.close()


@pytest.mark.long
def test_evictions_are_counted(rig: Rig) -> None:
    rig.cluster.create(make_node(name="n", allocatable={"cpu": "4", "pods": "9"}))
    for name in ("a", "b"):
        rig.cluster.create(make_pod(name=name, requests={"cpu": "2"}))
    rig.scheduler.settle()
    rig.cluster.create(make_pod(name="vip", requests={"cpu": "4"}, priority=9))
    rig.scheduler.settle()
    assert rig.value("scheduler_preemption_victims_sum") == 2
    assert rig.value("scheduler_preemption_victims_count") == 1
    done = "scheduler_preemption_goroutines_execution_total"
    assert rig.value(done, result="success") == 1


def test_counts_of_the_other_process_are_served(rig: Rig) -> None:
    counted = Counted(
        {("201", "POST"): 7}, {"POST": Durations([5, 2, *[0] * 11], 0.03)}, 4
    )
    lease = LeaseSeen("kube-scheduler", True, "me", 3, 2)
    rig.stats = ClientStats.of("api:6443", counted, lease)
    served = rig.value
    where = {"host": "api:6443"}
    assert served("rest_client_requests_total", code="201", method="POST", **where) == 7
    seconds = "rest_client_request_duration_seconds_bucket"
    assert served(seconds, verb="POST", le="0.025", **where) == 7
    assert served("leader_election_master_status", name="kube-scheduler") == 1
    assert served("leader_election_slowpath_total", name="kube-scheduler") == 2
    assert served("events_dropped_total") == 4


def test_counts_that_the_other_process_has_not_sent_are_not_served(rig: Rig) -> None:
    rig.stats = ClientStats.of("api:6443", None, None)
    names = [name for name in rig.served() if name.startswith(("rest_", "leader_"))]
    assert names == []


def test_build_info_has_the_kubernetes_version(rig: Rig) -> None:
    [name] = [name for name in rig.served() if name.startswith("kubernetes_build_info")]
    assert '"git_version": "v1.36.2+quaymaster-' in name


def test_process_is_measured(rig: Rig) -> None:
    assert rig.value("process_resident_memory_bytes") > 1e6


@pytest.mark.long
def test_counts_continue_after_a_reload(rig: Rig) -> None:
    busy(rig)
    kubernetes = rig.scheduler.config.kubernetes
    answer = rig.scheduler.reload(
        load_config("batch", PluginRegistry.discover(), kubernetes=kubernetes)
    )
    rig.scheduler.turn()
    assert answer.result(0)
    rig.tick = 1.0
    rig.cluster.create(make_pod(name="late"))
    rig.scheduler.settle()
    attempts = "scheduler_schedule_attempts_total"
    assert rig.value(attempts, result="scheduled", **PROFILE) == 3
    bind = {"plugin": "DefaultBinder", "extension_point": "Bind", "status": "Success"}
    assert rig.value("scheduler_plugin_execution_duration_seconds_count", **bind) == 3


def test_metrics_change_no_decision() -> None:
    def nodes(rig: Rig) -> list[str]:
        for number in range(4):
            rig.cluster.create(make_node(name=f"n{number}"))
        names = [f"p{number}" for number in range(20)]
        for name in names:
            rig.cluster.create(make_pod(name=name))
        rig.scheduler.settle()
        rig.scheduler.close()
        return [rig.cluster.get(Pod, f"default/{name}").node_name for name in names]

    assert nodes(Rig()) == nodes(Rig(measures=False))


def test_stuck_engine_leaves_the_other_metrics(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    class Stuck:
        def ask(self, call: Callable[[], T], /) -> Future[T]:
            return Future()

    stats = ClientStats(lease_name="kube-scheduler")
    page = metrics_page(
        EngineProbe(Stuck(), 0.001),
        rig.reader.read,
        lambda: client_readings(stats, Kubernetes()),
    )
    text = page({}).body.decode()
    assert "process_start_time_seconds " in text
    assert 'leader_election_master_status{name="kube-scheduler"} 0.0' in text
    assert "scheduler_pending_pods" not in text
    assert "the engine has not responded" in caplog.messages[0]


@pytest.mark.long
def test_since_1_37_queued_entities_have_a_type() -> None:
    rig = busy(Rig(version="1.37"))
    served = rig.value
    assert served("scheduler_queued_entities", queue="gated", type="pod") == 1
    assert served("scheduler_queued_entities", queue="unschedulable", type="pod") == 1
    assert served("scheduler_pending_pods", queue="gated") == 1
    labels = {"queue": "active", "event": "UnscheduledPodAdd"}
    pods = served("scheduler_queue_incoming_pods_total", **labels)
    assert pods == 3
    assert (
        served("scheduler_queue_incoming_entities_total", type="pod", **labels) == pods
    )
    rig.scheduler.close()


@pytest.mark.long
def test_1_36_counts_pods_only(rig: Rig) -> None:
    assert not [name for name in busy(rig).served() if "entities" in name]


@pytest.mark.parametrize(
    ("version", "release"), [("1.36", "1.36.2"), ("1.37", "1.37.2")]
)
def test_build_info_follows_the_chosen_version(version: str, release: str) -> None:
    rig = Rig(version=version)
    [name] = [
        metric for metric in rig.served() if metric.startswith("kubernetes_build_info")
    ]
    assert f'"git_version": "v{release}+quaymaster-' in name
    assert f'"minor": "{version.removeprefix("1.")}"' in name
    rig.scheduler.close()
