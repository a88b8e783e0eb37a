"""The objects of the histories, made from a few small numbers."""

from collections.abc import Sequence

from quaymaster import Node, Pod
from quaymaster.objects import PersistentVolume, PersistentVolumeClaim
from quaymaster.testing import (
    make_affinity_term,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_spread_constraint,
)

__all__ = [
    "APPS",
    "CROWD",
    "LOCAL",
    "MANY_NODES",
    "NODES",
    "PODS",
    "QUICK",
    "TAINTS",
    "TEAMS",
    "TRAITS",
    "namespace_of",
    "new_claim",
    "new_node",
    "new_pod",
    "new_volume",
]

PODS = range(14)
CROWD = 6
NODES = range(4)
MANY_NODES = range(12)
APPS = ("a", "b")
TEAMS = ("red", "blue")
TAINTS = ("first:NoSchedule", "second:NoSchedule", "third:PreferNoSchedule")
LOCAL = "local"
QUICK = "quick"
TRAITS = (
    "plain",
    "gated",
    "waits",
    "waits briefly",
    "apart by host",
    "apart by zone",
    "apart from a team",
    "spread by zone",
    "spread by host",
    "on an ssd",
    "tolerant",
    "with a claim",
    "never preempts",
    "ends",
)
_ZONE = "topology.kubernetes.io/zone"
_HOST = "kubernetes.io/hostname"


def namespace_of(number: int) -> str:
    """Return the namespace of the pod of a number."""
    return "other" if number % 4 == 3 else "default"


def new_node(number: int) -> Node:
    """Make the node of a number; the last has no zone, and room for few pods."""
    return make_node(
        name=f"node-{number}",
        uid="",
        zone=None if number == 3 else f"zone-{number % 2}",
        labels={"disk": "ssd" if number % 2 else "hdd"},
        capacity={"cpu": "4", "pods": "3" if number == 3 else "110"},
    )


def new_claim(number: int, namespace: str) -> PersistentVolumeClaim:
    """Make the claim of a number; every other one requests a local volume."""
    return make_persistent_volume_claim(
        name=f"claim-{number}",
        namespace=namespace,
        storage_class=LOCAL if number % 2 else QUICK,
    )


def new_volume(number: int) -> PersistentVolume:
    """Make the local volume of a number, on the node of that number."""
    return make_persistent_volume(
        name=f"volume-{number}",
        storage_class=LOCAL,
        node_labels={_HOST: f"node-{number}"},
    )


def new_pod(
    number: int, cpu: int, priority: int, traits: Sequence[str], schedulers: int
) -> Pod:
    """Make the pod of a number.

    Args:
        number: Its number.
        cpu: Its CPU request, in millicores.
        priority: Its priority.
        traits: Its special properties.
        schedulers: The number of profiles; a third of the pods use the second one.
    """
    labels = {"app": APPS[number % 2]}
    own = {"app": labels["app"]}
    if "waits" in traits:
        labels["waits"] = "30"
    if "waits briefly" in traits:
        labels["waits"] = "3"
    terms = {
        "apart by host": make_affinity_term(selector=own, topology_key=_HOST),
        "apart by zone": make_affinity_term(selector=own, topology_key=_ZONE),
        "apart from a team": make_affinity_term(
            selector=own, topology_key=_HOST, namespace_selector={"team": TEAMS[0]}
        ),
    }
    spreads = {"spread by zone": _ZONE, "spread by host": _HOST}
    by_name = schedulers > 1 and number % 3 == 0
    annotations = {}
    if "ends" in traits:
        annotations["simulation.quaymaster.io/run-seconds"] = "20"
    return make_pod(
        name=f"pod-{number}",
        namespace=namespace_of(number),
        uid="",
        labels=labels,
        annotations=annotations,
        requests={"cpu": f"{cpu}m"},
        priority=priority,
        scheduler_name="by-name" if by_name else "default-scheduler",
        preemption_policy=(
            "Never" if "never preempts" in traits else "PreemptLowerPriority"
        ),
        node_selector={"disk": "ssd"} if "on an ssd" in traits else None,
        tolerations=["first"] if "tolerant" in traits else [],
        pod_anti_affinity=[terms[trait] for trait in traits if trait in terms],
        spread=[
            make_spread_constraint(selector=own, topology_key=spreads[trait])
            for trait in traits
            if trait in spreads
        ],
        scheduling_gates=["hold"] if "gated" in traits else [],
        claims=[f"claim-{number % 4}"] if "with a claim" in traits else [],
    )
