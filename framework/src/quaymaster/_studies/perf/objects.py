"""Makes the nodes, pods and volumes of operations.

Mirrors ``getNodePreparer``, ``getPodStrategy`` and ``makeBaseNode`` (Kubernetes v1.37,
``test/integration/scheduler_perf``) and ``test/utils/runners.go``.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Container,
    ContainerPort,
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    Node,
    NodeCondition,
    NodeStatus,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodGroup,
    PodSpec,
    ResourceRequirements,
    Time,
    Volume,
    VolumeNodeResources,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._studies.perf.load import Workload
from quaymaster._studies.perf.model import (
    CreateNodes,
    CreatePodGroups,
    CreatePods,
    NodeAllocatable,
)
from quaymaster._studies.perf.templates import KEPT, TemplateFiles, in_namespace

__all__ = ["make_csi_node", "make_nodes", "make_pod_groups", "make_pods"]

_MIGRATED: Final = "storage.alpha.kubernetes.io/migrated-plugins"
_CAPACITY: Final = {
    "pods": Quantity("110"),
    "cpu": Quantity("4"),
    "memory": Quantity("32Gi"),
}
_NODE_STATUS: Final = NodeStatus(
    capacity=_CAPACITY,
    allocatable=_CAPACITY,
    conditions=(NodeCondition(type="Ready", status="True"),),
)
_REQUESTS: Final = {"cpu": Quantity("100m"), "memory": Quantity("500Mi")}
_POD: Final = Pod(
    metadata=ObjectMeta(generate_name="pod-"),
    spec=PodSpec(
        containers=(
            Container(
                name="pause",
                image="registry.k8s.io/pause:3.10.2",
                ports=(ContainerPort(container_port=80),),
                resources=ResourceRequirements(limits=_REQUESTS, requests=_REQUESTS),
            ),
        )
    ),
)


def make_nodes(
    operation: CreateNodes, number: int, workload: Workload, files: TemplateFiles
) -> Iterator[Node]:
    """Make the nodes of an operation.

    Args:
        operation: The operation.
        number: Its number in the workload.
        workload: The workload.
        files: The templates of the workload.
    """
    base = Node(
        metadata=ObjectMeta(generate_name=f"node-{number}-"), status=_NODE_STATUS
    )
    path = operation.node_template_path
    template = None
    if path is not None:
        template = files.get(workload.path(path), Node, operation.template_params)
    features = tuple(
        sorted(f"Feature{n + 1}" for n in range(workload.declared_features))
    )
    for index in range(operation.count):
        made = base if template is None else template.make(index, operation.count)
        assert isinstance(made, Node)
        node = _prepared(made, operation, number, index)
        if features:
            status = replace(node.status, declared_features=features)
            node = replace(node, status=status)
        yield node


def make_csi_node(node: Node, limits: NodeAllocatable) -> CSINode:
    """Make the CSINode of a node."""
    return CSINode(
        metadata=ObjectMeta(
            name=node.name, annotations={_MIGRATED: ",".join(limits.migrated_plugins)}
        ),
        spec=CSINodeSpec(
            drivers=tuple(
                CSINodeDriver(
                    name=driver,
                    node_id=node.name,
                    allocatable=VolumeNodeResources(count=limit.count),
                )
                for driver, limit in limits.csi_node_allocatable.items()
            )
        ),
    )


def make_pods(
    operation: CreatePods, namespace: str, workload: Workload, files: TemplateFiles
) -> Iterator[tuple[ApiObject, ...]]:
    """Make the pods of an operation, each after its volume and claim.

    Args:
        operation: The operation.
        namespace: The namespace of the pods.
        workload: The workload.
        files: The templates of the workload.
    """
    path = operation.pod_template_path or workload.default_pod_template
    template = None
    if path is not None:
        template = files.get(workload.path(path), Pod, operation.template_params)
    size = operation.signature_batch_size
    volumes = _Volumes(operation, namespace, workload, files)
    placed = _Placed(namespace)
    pod = in_namespace(_POD, namespace)
    for index in range(operation.count):
        if template is not None:
            objects = template.make(index, operation.count)
            pod = placed.of(objects, f"signature-label-{index // size}" if size else "")
        yield volumes.with_volume(pod, index)


def make_pod_groups(
    operation: CreatePodGroups, now: float, workload: Workload, files: TemplateFiles
) -> Iterator[PodGroup]:
    """Make the pod groups of an operation.

    Mirrors ``runCreatePodGroupsOp`` (Kubernetes v1.37, ``test/integration/
    scheduler_perf/executor.go``). Its API server has no admission plugin for
    priorities. So groups with a priority are made like stored groups, whose priority
    needs no class.

    Args:
        operation: The operation.
        now: The time of their creation.
        workload: The workload.
        files: The templates of the workload.
    """
    path = workload.path(operation.template_path)
    template = files.get(path, PodGroup, operation.template_params)
    for index in range(operation.count):
        group = in_namespace(template.make(index, operation.count), operation.namespace)
        assert isinstance(group, PodGroup)
        if group.spec.priority is not None:
            metadata = replace(group.metadata, creation_timestamp=Time(now))
            group = replace(group, metadata=metadata)
        yield group


class _Placed:
    """The pods of a template in a namespace, cached by the template's objects.

    Args:
        namespace: The namespace.
    """

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        # By identity: the template's object and its pod. Both are kept, so that no
        # other object gets the same id.
        self._cached: dict[tuple[int, str], tuple[ApiObject, Pod]] = {}

    def of(self, obj: ApiObject, signature: str) -> Pod:
        """Return the pod for an object of a template.

        Args:
            obj: The object of the template.
            signature: The value of the pod's label ``signature``; empty for no label.
        """
        cached = self._cached.get((id(obj), signature))
        if cached is None:
            assert isinstance(obj, Pod)
            if len(self._cached) >= KEPT:
                self._cached.clear()
            pod = in_namespace(obj, self._namespace)
            if signature:
                pod = _signed(pod, signature)
            cached = self._cached[id(obj), signature] = obj, pod
        return cached[1]


def _signed(pod: Pod, signature: str) -> Pod:
    labels = {**pod.metadata.labels, "signature": signature}
    return replace(pod, metadata=replace(pod.metadata, labels=labels))


def _prepared(node: Node, operation: CreateNodes, number: int, index: int) -> Node:
    """Return a node with the labels and resources that the operation adds."""
    allocatable = operation.node_allocatable_strategy
    labels = operation.label_node_prepare_strategy
    unique = operation.unique_node_label_strategy
    # One of these only, and in this order (``getNodePreparer``,
    # scheduler_perf/executor.go).
    if allocatable is not None:
        status = node.status
        amounts = {
            **(status.allocatable or status.capacity),
            **{
                name: Quantity(amount)
                for name, amount in allocatable.node_allocatable.items()
            },
        }
        return replace(node, status=replace(status, allocatable=amounts))
    if labels is not None:
        value = labels.label_values[index % len(labels.label_values)]
        return _labelled(node, labels.label_key, value)
    if unique is not None:
        return _labelled(node, unique.label_key, f"unique-{number}-{index}")
    return node


def _labelled(node: Node, key: str, value: str) -> Node:
    labels = {**node.metadata.labels, key: value}
    return replace(node, metadata=replace(node.metadata, labels=labels))


class _Volumes:
    """Gives every pod of an operation a claim, and a volume that is bound to it."""

    def __init__(
        self,
        operation: CreatePods,
        namespace: str,
        workload: Workload,
        files: TemplateFiles,
    ) -> None:
        self._namespace = namespace
        self._volume: PersistentVolume | None = None
        self._claim: PersistentVolumeClaim | None = None
        volume_path = operation.persistent_volume_template_path
        claim_path = operation.persistent_volume_claim_template_path
        if volume_path is not None and claim_path is not None:
            volume = files.get(workload.path(volume_path), PersistentVolume).make(0, 1)
            claim = files.get(workload.path(claim_path), PersistentVolumeClaim)
            assert isinstance(volume, PersistentVolume)
            self._volume = volume
            self._claim = _without_class(claim.make(0, 1), namespace)

    def with_volume(self, pod: Pod, index: int) -> tuple[ApiObject, ...]:
        """Yield a pod, after its volume and claim if it has any."""
        if self._volume is None or self._claim is None:
            return (pod,)
        name = f"pvc-{index}"
        volume = self._bound_volume(self._volume, index, name)
        claim = self._claim
        claim = replace(
            claim,
            metadata=replace(claim.metadata, name=name),
            spec=replace(claim.spec, volume_name=volume.name),
            status=replace(claim.status, phase="Bound"),
        )
        source = PersistentVolumeClaimVolumeSource(claim_name=name)
        used = Volume(name="vol", persistent_volume_claim=source)
        pod = replace(pod, spec=replace(pod.spec, volumes=(used,)))
        return (claim, volume, pod)

    def _bound_volume(
        self, volume: PersistentVolume, index: int, claim: str
    ) -> PersistentVolume:
        # Volumes are cluster-wide, so the namespace is part of the name.
        name = f"{self._namespace}-vol-{index}"
        spec = volume.spec
        if spec.csi is not None:
            spec = replace(spec, csi=replace(spec.csi, volume_handle=name))
        elif spec.aws_elastic_block_store is not None:
            disk = replace(spec.aws_elastic_block_store, volume_id=f"vol-{index}")
            spec = replace(spec, aws_elastic_block_store=disk)
        reference = ObjectReference(
            kind="PersistentVolumeClaim",
            api_version="v1",
            namespace=self._namespace,
            name=claim,
        )
        return replace(
            volume,
            metadata=replace(volume.metadata, name=name),
            spec=replace(spec, claim_ref=reference),
            status=replace(volume.status, phase="Bound"),
        )


def _without_class(obj: ApiObject, namespace: str) -> PersistentVolumeClaim:
    """Return a claim without a class: upstream's cluster has no default class."""
    assert isinstance(obj, PersistentVolumeClaim)
    claim = in_namespace(obj, namespace)
    if claim.spec.storage_class_name is not None:
        return claim
    return replace(claim, spec=replace(claim.spec, storage_class_name=""))
