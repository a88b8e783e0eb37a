"""Measures how long many pods take that preempt at once in a full cluster.

``python -m tests.own_preemption.burst`` prints the figures.
"""

import sys
import time
from collections.abc import Iterator

from quaymaster import ApiObject, Pod
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.own_preemption.quotas import ElasticQuotas

__all__ = ["CONFIG", "PODS_PER_NODE", "full_cluster", "preemptors", "quota_args"]

PODS_PER_NODE = 5

CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}


def quota_args(nodes: int) -> dict[str, object]:
    """Return the quotas of two namespaces, each with half of a cluster."""
    whole = nodes * PODS_PER_NODE * 1000
    names = ("lender", "borrower")
    return {
        "quotas": [
            {"namespace": name, "min": whole // 2, "max": whole} for name in names
        ]
    }


def full_cluster(nodes: int) -> Iterator[ApiObject]:
    """Yield nodes that the pods of one namespace fill."""
    allocatable = {"cpu": str(PODS_PER_NODE), "memory": "64Gi", "pods": "110"}
    for number in range(nodes):
        name = f"n{number}"
        yield make_node(name=name, allocatable=allocatable)
        for place in range(PODS_PER_NODE):
            yield make_pod(
                name=f"{name}-{place}",
                namespace="borrower",
                node=name,
                requests={"cpu": "1"},
                start_time=number * PODS_PER_NODE + place,
                termination_grace_period_seconds=0,
            )


def preemptors(number: int) -> Iterator[Pod]:
    """Yield pods of the other namespace; they may preempt by priority, too."""
    for index in range(number):
        yield make_pod(
            name=f"p{index}",
            namespace="lender",
            priority=10,
            requests={"cpu": "1"},
        )


def quota_config(nodes: int) -> dict[str, object]:
    """Return the default profile, with elastic quotas in place of DefaultPreemption."""
    plugins = {
        "multiPoint": {"enabled": [{"name": "ElasticQuotas"}]},
        "postFilter": {"disabled": [{"name": "DefaultPreemption"}]},
    }
    args = [{"name": "ElasticQuotas", "args": quota_args(nodes)}]
    return {**CONFIG, "profiles": [{"plugins": plugins, "pluginConfig": args}]}


def _main(nodes: int = 2000, number: int = 100) -> None:
    for name, config in (
        ("DefaultPreemption", {**CONFIG, "profiles": [{}]}),
        ("ElasticQuotas", quota_config(nodes)),
    ):
        harness = SchedulerHarness(
            full_cluster(nodes),
            plugins={"ElasticQuotas": ElasticQuotas},
            config=config,
            options=SchedulerOptions(slow_hook_seconds=60.0),
        )
        harness.settle()
        begun = time.process_time()
        for pod in preemptors(number):
            harness.cluster.create(pod)
        harness.settle()
        took = time.process_time() - begun
        keys = [f"lender/p{index}" for index in range(number)]
        placed = sum(bool(harness.node_of(key)) for key in keys)
        sys.stdout.write(
            f"{name}: {placed} of {number} preemptors placed on {nodes} full nodes "
            f"in {took:.2f} s of processor time, {1000 * took / number:.1f} ms each\n"
        )


if __name__ == "__main__":
    _main()
