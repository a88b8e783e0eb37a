"""Makers of the kinds that few plugins look up."""

from collections.abc import Mapping

from quaymaster._objects import (
    CSIDriver,
    CSIDriverSpec,
    CSIStorageCapacity,
    DeviceClass,
    LabelSelector,
    ObjectMeta,
    PodSpec,
    PodTemplateSpec,
    ReplicationController,
    ReplicationControllerSpec,
    RuntimeClass,
    RuntimeClassOverhead,
    RuntimeClassScheduling,
    StatefulSet,
    StatefulSetSpec,
    Toleration,
    VolumeAttachment,
    VolumeAttachmentSource,
    VolumeAttachmentSpec,
    VolumeAttachmentStatus,
)
from quaymaster._objects.quantity import Quantity
from quaymaster._testing.makers import make_container, make_metadata
from quaymaster._testing.shorthand import (
    Amounts,
    parse_toleration,
    to_label_selector,
    to_resource_list,
)

__all__ = [
    "make_csi_driver",
    "make_csi_storage_capacity",
    "make_device_class",
    "make_replication_controller",
    "make_runtime_class",
    "make_stateful_set",
    "make_volume_attachment",
]


def make_replication_controller(
    *,
    name: str = "replication-controller",
    namespace: str = "default",
    selector: Mapping[str, str] | None = None,
    replicas: int = 1,
) -> ReplicationController:
    """Make a replication controller; as the ``owner`` of pods it makes them a set.

    Its pods have the labels that it selects, and one container.
    """
    labels = dict(selector or {"app": name})
    return ReplicationController(
        metadata=make_metadata(ReplicationController, name=name, namespace=namespace),
        spec=ReplicationControllerSpec(
            replicas=replicas, selector=labels, template=_template(labels)
        ),
    )


def make_stateful_set(
    *,
    name: str = "stateful-set",
    namespace: str = "default",
    selector: Mapping[str, str] | None = None,
    replicas: int = 1,
) -> StatefulSet:
    """Make a stateful set; as the ``owner`` of pods it makes them a set.

    Its pods have the labels that it selects, and one container.
    """
    labels = dict(selector or {"app": name})
    return StatefulSet(
        metadata=make_metadata(StatefulSet, name=name, namespace=namespace),
        spec=StatefulSetSpec(
            replicas=replicas,
            selector=to_label_selector(labels),
            template=_template(labels),
        ),
    )


def make_csi_driver(
    *,
    name: str = "csi.example.com",
    storage_capacity: bool | None = None,
    attach_required: bool | None = None,
) -> CSIDriver:
    """Make a CSI driver.

    Args:
        name: Its name.
        storage_capacity: Whether it tells how much storage there is where.
        attach_required: Whether its volumes have to be attached to nodes.
    """
    return CSIDriver(
        metadata=make_metadata(CSIDriver, name=name),
        spec=CSIDriverSpec(
            storage_capacity=storage_capacity, attach_required=attach_required
        ),
    )


def make_csi_storage_capacity(
    *,
    name: str = "capacity",
    namespace: str = "default",
    storage_class: str = "standard",
    node_topology: LabelSelector | Mapping[str, str] | None = None,
    capacity: str | None = None,
    maximum_volume_size: str | None = None,
) -> CSIStorageCapacity:
    """Make what a CSI driver tells of its storage.

    Args:
        name: Its name.
        namespace: Its namespace.
        storage_class: The class that it is about.
        node_topology: The nodes that it is for; None for none, empty for all.
        capacity: How much there is.
        maximum_volume_size: How large a volume can be.
    """
    return CSIStorageCapacity(
        metadata=make_metadata(CSIStorageCapacity, name=name, namespace=namespace),
        storage_class_name=storage_class,
        node_topology=to_label_selector(node_topology),
        capacity=None if capacity is None else Quantity(capacity),
        maximum_volume_size=(
            None if maximum_volume_size is None else Quantity(maximum_volume_size)
        ),
    )


def make_volume_attachment(
    *,
    name: str = "attachment",
    driver: str = "csi.example.com",
    volume: str = "volume",
    node: str = "node",
    attached: bool = True,
) -> VolumeAttachment:
    """Make the attachment of a volume to a node."""
    return VolumeAttachment(
        metadata=make_metadata(VolumeAttachment, name=name),
        spec=VolumeAttachmentSpec(
            attacher=driver,
            node_name=node,
            source=VolumeAttachmentSource(persistent_volume_name=volume),
        ),
        status=VolumeAttachmentStatus(attached=attached),
    )


def make_device_class(*, name: str = "device") -> DeviceClass:
    """Make a class of devices."""
    return DeviceClass(metadata=make_metadata(DeviceClass, name=name))


def make_runtime_class(
    *,
    name: str = "runtime",
    handler: str = "runc",
    overhead: Amounts | None = None,
    node_selector: Mapping[str, str] | None = None,
    tolerations: tuple[str | Toleration, ...] = (),
) -> RuntimeClass:
    """Make a runtime class.

    Args:
        name: Its name.
        handler: What runs the containers of its pods.
        overhead: What each of its pods costs beside its containers.
        node_selector: The labels of the nodes that have it.
        tolerations: What its pods tolerate, as in `make_pod`.
    """
    return RuntimeClass(
        metadata=make_metadata(RuntimeClass, name=name),
        handler=handler,
        overhead=(
            None
            if overhead is None
            else RuntimeClassOverhead(pod_fixed=to_resource_list(overhead))
        ),
        scheduling=RuntimeClassScheduling(
            node_selector=dict(node_selector or {}),
            tolerations=tuple(map(parse_toleration, tolerations)),
        ),
    )


def _template(labels: Mapping[str, str]) -> PodTemplateSpec:
    return PodTemplateSpec(
        metadata=ObjectMeta(labels=dict(labels)),
        spec=PodSpec(containers=(make_container(),)),
    )
