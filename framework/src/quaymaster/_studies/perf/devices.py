"""The devices of a workload: slices of drivers, and claims that are already allocated.

Mirrors ``resourceSlice`` and ``allocResourceClaimsOp`` (Kubernetes v1.36,
``test/integration/scheduler_perf/dra.go``).
"""

from random import Random

from msgspec.structs import replace

from quaymaster._api.objects import (
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClass,
    Node,
    ObjectMeta,
    ResourceClaim,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._kits.devices.allocated import AllocatedDevices
from quaymaster._kits.devices.allocator import Allocator
from quaymaster._kits.devices.inventory import Inventory
from quaymaster._studies.perf.errors import WorkloadError

__all__ = ["allocate_claims", "make_slice"]


def make_slice(driver: str, node: str, count: int) -> ResourceSlice:
    """Make the slice of a node, in a pool with the node's name."""
    return ResourceSlice(
        metadata=ObjectMeta(name=node),
        spec=ResourceSliceSpec(
            driver=driver,
            pool=ResourcePool(name=node, resource_slice_count=1),
            node_name=node,
            devices=tuple(map(_device, range(count))),
        ),
    )


def _device(index: int) -> Device:
    return Device(
        name=f"instance-{index}",
        attributes={
            "model": DeviceAttribute(string_value="A100"),
            "family": DeviceAttribute(string_value="GPU"),
            "driverVersion": DeviceAttribute(version_value="1.2.3"),
            "dra.example.com/numa": DeviceAttribute(int_value=index),
        },
        capacity={"memory": DeviceCapacity(value=Quantity("1Gi"))},
    )


def allocate_claims(cluster: InMemoryCluster, namespace: str, random: Random) -> None:
    """Allocate devices of random nodes to the claims of one namespace or all.

    Raises:
        WorkloadError: There are not enough devices.
    """
    classes = {
        device_class.name: device_class
        for device_class in cluster.list(DeviceClass).items
    }
    inventory = Inventory(
        cluster.list(ResourceSlice).items, kubernetes=cluster.kubernetes
    )
    claims = cluster.list(ResourceClaim).items
    taken = AllocatedDevices(
        claim.status.allocation
        for claim in claims
        if claim.status.allocation is not None
    )
    nodes = list(cluster.list(Node).items)
    for claim in claims:
        if claim.status.allocation or namespace not in ("", claim.namespace):
            continue
        random.shuffle(nodes)
        allocator = Allocator(inventory, taken, classes.get, [claim])
        results = next(filter(None, map(allocator.allocate, nodes)), None)
        if results is None:
            raise WorkloadError(f"ResourceClaim {claim.key}: no node has its devices")
        taken.add(results[0])
        status = replace(claim.status, allocation=results[0])
        cluster.update(replace(claim, status=status))
