"""A cluster with objects for every rule of the default profile."""

from collections.abc import Iterator
from typing import Final

from quaymaster import ApiObject
from quaymaster.objects import to_wire
from quaymaster.testing import (
    make_csi_driver,
    make_csi_node,
    make_namespace,
    make_node,
    make_pod,
    make_pod_disruption_budget,
    make_priority_class,
    make_storage_class,
)
from tests.e2e.client import Tree
from tests.e2e.mixed_devices import device_objects

__all__ = [
    "APPS",
    "DRIVER",
    "IMAGES",
    "NAMESPACES",
    "PRIORITIES",
    "ZONES",
    "ballast",
    "cluster_objects",
    "node_name",
]

DRIVER: Final = "e2e.example.com"
ZONES: Final = ("zone-a", "zone-b", "zone-c")
NAMESPACES: Final = ("default", "team-red", "team-blue")
APPS: Final = ("web", "db", "cache", "queue", "precious", "guarded")
IMAGES: Final = ("example.com/big:1", "example.com/wide:2", "example.com/none:3")
PRIORITIES: Final = {"low": -10, "polite": 500, "high": 1000, "top": 10000}
_SIZES: Final = (("4", "8Gi", "20"), ("8", "32Gi", "40"), ("16", "24Gi", "12"))
_MIB: Final = 1 << 20


def node_name(number: int) -> str:
    """Return the name of a node."""
    return f"node-{number:03}"


def cluster_objects(nodes: int) -> Iterator[Tree | ApiObject]:
    """Yield all objects before the first pod: nodes, classes, budgets, a service."""
    for name in NAMESPACES[1:]:
        yield make_namespace(name=name, labels={"colour": name.removeprefix("team-")})
    for number in range(nodes):
        yield _node(number)
        yield make_csi_node(
            name=node_name(number), limits={DRIVER: 3 if number % 4 else 1}
        )
    yield from device_objects([node_name(number) for number in range(nodes)])
    yield make_csi_driver(name=DRIVER)
    yield from _storage_classes()
    for name, value in PRIORITIES.items():
        yield make_priority_class(
            name=name,
            value=value,
            preemption_policy="Never" if name == "polite" else "PreemptLowerPriority",
        )
    for name in ("precious", "guarded"):
        yield make_pod_disruption_budget(
            name=name, selector={"app": name}, min_available=1000
        )
    for name, selector in (("web", {"app": "web"}), ("db", {"app": "db"})):
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": selector, "ports": [{"port": 80}]},
        }


def ballast(nodes: int) -> Iterator[Tree]:
    """Yield pods of low priority that take most of the nodes at the start."""
    for number in range(nodes):
        cpus = int(_SIZES[number % len(_SIZES)][0])
        for part in range(3):
            app = APPS[(number + part) % len(APPS)]
            pod = to_wire(
                make_pod(
                    name=f"ballast-{number:03}-{part}",
                    node=node_name(number),
                    labels={"app": app, "load": "ballast"},
                    requests={"cpu": f"{(150 + 50 * part) * cpus}m", "memory": "1Gi"},
                    priority=None,
                    preemption_policy=None,
                )
            )
            pod["spec"]["priorityClassName"] = "low"
            yield pod


def _node(number: int) -> ApiObject:
    cpu, memory, pods = _SIZES[number % len(_SIZES)]
    amounts = {"cpu": cpu, "memory": memory, "pods": pods, "ephemeral-storage": "50Gi"}
    labels = {"disk": "ssd" if number % 2 else "hdd", "rank": str(number % 7)}
    taints = []
    if number % 10 == 0:
        amounts["example.com/gpu"] = "4"
        taints.append("dedicated=gpu:NoSchedule")
    if number % 10 == 5:
        taints.append("wet:PreferNoSchedule")
    if number % 20 == 13:
        taints.append("burning=true:NoExecute")
    unschedulable = number % 20 == 7
    if unschedulable:  # no controller runs here that would add it
        taints.append("node.kubernetes.io/unschedulable:NoSchedule")
    images = {
        name: size * _MIB
        for order, (name, size) in enumerate(zip(IMAGES, (900, 300), strict=False))
        if number % (3 + order) == 0
    }
    return make_node(
        name=node_name(number),
        zone=ZONES[number % len(ZONES)],
        region="north" if number % len(ZONES) < 2 else "south",
        labels=labels,
        allocatable=amounts,
        capacity=amounts,
        taints=taints,
        images=images,
        unschedulable=unschedulable,
    )


def _storage_classes() -> Iterator[ApiObject]:
    yield make_storage_class(name="dynamic", provisioner=DRIVER)
    yield make_storage_class(
        name="two-zones",
        provisioner=DRIVER,
        allowed_topologies=[{"topology.kubernetes.io/zone": ZONES[:2]}],
    )
    yield make_storage_class(name="local", provisioner="kubernetes.io/no-provisioner")
    for name in ("at-once", "never"):
        yield make_storage_class(
            name=name, provisioner=DRIVER, volume_binding_mode="Immediate"
        )
