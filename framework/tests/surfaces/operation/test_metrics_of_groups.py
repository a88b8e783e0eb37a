"""The metrics of groups have upstream's names, labels and results.

Mirrors Kubernetes v1.37, ``pkg/scheduler/metrics/metrics.go``.
"""

import math
from collections.abc import Mapping
from typing import Final

from quaymaster.config import Kubernetes, default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import make_node, make_pod, make_pod_group
from tests.kit.internals.operation import FAMILIES, SchedulerReader
from tests.kit.internals.runtime import Measured, SchedulerMetrics

TOPOLOGY: Final = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
PROFILE: Final = "default-scheduler"
OF_GROUPS: Final = {
    "scheduler_podgroup_schedule_attempts_total",
    "scheduler_podgroup_scheduling_attempt_duration_seconds",
    "scheduler_podgroup_scheduling_algorithm_duration_seconds",
    "scheduler_workload_preemption_attempts_total",
    "scheduler_workload_preemption_victims",
}
OF_PLACEMENTS: Final = {
    "scheduler_generated_placements_total",
    "scheduler_placement_evaluations_total",
    "scheduler_placement_evaluation_duration_seconds",
}


def reader_after_a_gang(
    gates: Mapping[str, bool],
    *,
    pods: int = 2,
    victims: int = 0,
    version: str = "1.37",
) -> SchedulerReader:
    """Return what is read after one attempt for a gang of pods on two racks.

    Args:
        gates: The feature gates.
        pods: The number of its pods.
        victims: How many pods of lower priority fill the large rack.
        version: The version of Kubernetes.
    """
    kubernetes = Kubernetes(version, gates)
    clock = VirtualClock()
    cluster = InMemoryCluster(clock=clock, kubernetes=kubernetes)
    metrics = SchedulerMetrics()
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=kubernetes)
    scheduler = Scheduler(cluster, config, registry, clock=clock, metrics=metrics)
    scheduler.start()
    for rack, cpu in (("small", "1"), ("large", "4")):
        cluster.create(
            make_node(name=rack, labels={"rack": rack}, allocatable={"cpu": cpu})
        )
    for number in range(victims):
        cluster.create(
            make_pod(
                name=f"victim-{number}",
                node="large",
                requests={"cpu": f"{4 / victims}"},
                priority=-1,
            )
        )
    if gates:
        cluster.create(make_pod_group(name="gang", min_count=pods, topology_key="rack"))
    for number in range(pods):
        cluster.create(
            make_pod(name=f"p-{number}", scheduling_group="gang", requests={"cpu": "1"})
        )
    scheduler.settle()
    reader = SchedulerReader(scheduler, metrics, {})
    scheduler.close()
    return reader


def test_attempts_and_placements_of_groups_are_counted() -> None:
    readings = reader_after_a_gang(TOPOLOGY).read()
    attempts = readings["scheduler_podgroup_schedule_attempts_total"]
    assert attempts == {("scheduled", PROFILE): 1}
    assert readings["scheduler_generated_placements_total"] == {(PROFILE,): 2}
    assert readings["scheduler_placement_evaluations_total"] == {
        ("feasible", PROFILE): 1,
        ("infeasible", PROFILE): 1,
    }


def test_group_that_does_not_fit_is_unschedulable() -> None:
    readings = reader_after_a_gang(TOPOLOGY, pods=6).read()
    attempts = readings["scheduler_podgroup_schedule_attempts_total"]
    assert attempts.keys() == {("unschedulable", PROFILE)}


def test_a_group_that_waits_is_one_entity_and_several_pods() -> None:
    readings = reader_after_a_gang(TOPOLOGY, pods=6).read()
    queued = readings["scheduler_queued_entities"]
    assert {key: count for key, count in queued.items() if count} == {
        ("backoff", "podgroup"): 1
    }
    assert readings["scheduler_pending_pods"][("backoff",)] == 6
    entered = readings["scheduler_queue_incoming_entities_total"]
    assert entered["backoff", "ScheduleAttemptFailure", "podgroup"] == 1
    pods = readings["scheduler_queue_incoming_pods_total"]
    assert pods["backoff", "ScheduleAttemptFailure"] == 6


def test_preemption_for_a_group_is_counted_apart_from_that_for_pods() -> None:
    readings = reader_after_a_gang(TOPOLOGY, pods=4, victims=2).read()
    attempts = readings["scheduler_workload_preemption_attempts_total"]
    assert attempts == {("Success",): 1}
    victims = readings["scheduler_workload_preemption_victims"][()]
    assert victims == Measured((0, 1, *[0] * 10), 2.0)
    of_pods = readings["scheduler_preemption_victims"][()]
    assert isinstance(of_pods, Measured)
    assert of_pods.total == 0


def test_hooks_of_placements_are_measured() -> None:
    readings = reader_after_a_gang(TOPOLOGY).read()
    durations = readings["scheduler_plugin_execution_duration_seconds"]
    generator = ("TopologyPlacementGenerator", "PlacementGenerate", "Success")
    assert generator in durations


def test_metrics_of_groups_need_their_gates() -> None:
    names = reader_after_a_gang({}).read().keys()
    assert not names & (OF_GROUPS | OF_PLACEMENTS)
    names = reader_after_a_gang({"GenericWorkload": True}).read().keys()
    assert names >= OF_GROUPS
    assert not names & OF_PLACEMENTS
    assert reader_after_a_gang(TOPOLOGY).read().keys() >= OF_GROUPS | OF_PLACEMENTS


def test_durations_of_groups_have_upstreams_buckets() -> None:
    for name in ("podgroup_scheduling_attempt", "placement_evaluation"):
        bounds = FAMILIES[f"scheduler_{name}_duration_seconds"].bounds
        assert math.isclose(bounds[0], 0.001)
        assert len(bounds) == 15
