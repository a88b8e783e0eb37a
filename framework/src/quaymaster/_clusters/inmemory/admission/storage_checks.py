"""Checks persistent volumes, storage classes, capacities and attachments.

Mirrors ``ValidatePersistentVolumeSpec`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``) and ``pkg/apis/storage/validation``.
"""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeSpec,
    StorageClass,
    TopologySelectorTerm,
    VolumeAttachment,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import (
    CSI_DRIVER_NAME,
    LABEL_KEY,
    SUBDOMAIN,
)
from quaymaster._clusters.inmemory.admission.placement_checks import (
    check_node_selector,
    check_selector,
)
from quaymaster._clusters.inmemory.admission.volume_checks import (
    VOLUME_MODES,
    check_access_modes,
)
from quaymaster._clusters.inmemory.admission.volume_sources import check_source

__all__ = [
    "check_attachment",
    "check_storage_capacity",
    "check_storage_class",
    "check_volume",
]

_RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
_CLASS_RECLAIM_POLICIES: Final = ("Delete", "Retain")
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")
_MAX_PARAMETERS: Final = 512
_MAX_PARAMETERS_SIZE: Final = 256 * 1024


def check_volume(volume: PersistentVolume, report: Report) -> None:
    """Check that a volume has a source, a capacity and access modes."""
    spec, path = volume.spec, "spec"
    check_access_modes(spec.access_modes, path, report)
    _check_capacity(spec, f"{path}.capacity", report)
    policy = spec.persistent_volume_reclaim_policy
    where = f"{path}.persistentVolumeReclaimPolicy"
    report.one_of(policy, _RECLAIM_POLICIES, where)
    host_path = spec.host_path
    # Paths such as ``/./`` are the root, too: upstream cleans them before it compares
    # (``path.Clean``).
    is_root = host_path is not None and not host_path.path.strip("/.")
    if is_root and policy == "Recycle":
        report.add(where, "expected another than Recycle for the path '/'")
    _check_node_affinity(spec, path, report)
    check_source(spec, path, report)
    if spec.storage_class_name:
        report.formed(spec.storage_class_name, SUBDOMAIN, f"{path}.storageClassName")
    if spec.volume_mode is not None:
        report.one_of(spec.volume_mode, VOLUME_MODES, f"{path}.volumeMode")
    attributes = spec.volume_attributes_class_name
    if attributes is not None:
        report.named(attributes, SUBDOMAIN, f"{path}.volumeAttributesClassName")
        if spec.csi is None:
            message = "expected one beside volumeAttributesClassName, got none"
            report.add(f"{path}.csi", message)


def check_storage_class(storage_class: StorageClass, report: Report) -> None:
    """Check that a class has a provisioner, and policies that exist."""
    # ``validateProvisioner`` ignores the case of the name.
    report.named(storage_class.provisioner.lower(), LABEL_KEY, "provisioner")
    _check_parameters(storage_class.parameters, report)
    if storage_class.reclaim_policy:
        policy = storage_class.reclaim_policy
        report.one_of(policy, _CLASS_RECLAIM_POLICIES, "reclaimPolicy")
    mode = storage_class.volume_binding_mode
    report.one_of(mode or "", _BINDING_MODES, "volumeBindingMode")
    terms = storage_class.allowed_topologies
    for index, term in enumerate(terms):
        path = f"allowedTopologies[{index}]"
        _check_topology(term, path, report)
        content = _content(term)
        # An empty term would allow all topologies beside terms that restrict them.
        if not content or any(content == _content(other) for other in terms[:index]):
            message = "expected conditions that no other term has"
            report.add(f"{path}.matchLabelExpressions", message)


def check_storage_capacity(capacity: CSIStorageCapacity, report: Report) -> None:
    """Check that a capacity has a class, a topology and a possible amount."""
    check_selector(capacity.node_topology, "nodeTopology", report)
    report.named(capacity.storage_class_name, SUBDOMAIN, "storageClassName")
    amount = capacity.capacity
    if amount is not None:
        is_possible = amount >= Quantity(0)
        report.expect(is_possible, "capacity", "an amount of at least 0", amount)


def check_attachment(attachment: VolumeAttachment, report: Report) -> None:
    """Check that an attachment has a driver, a node and one volume."""
    spec, path = attachment.spec, "spec.source"
    report.named(spec.attacher, CSI_DRIVER_NAME, "spec.attacher")
    report.named(spec.node_name, SUBDOMAIN, "spec.nodeName")
    name, inline = spec.source.persistent_volume_name, spec.source.inline_volume_spec
    if (name is None) is (inline is None):
        message = "expected either persistentVolumeName or inlineVolumeSpec"
        report.add(path, message)
    elif name is not None:
        report.named(name, SUBDOMAIN, f"{path}.persistentVolumeName")


def _check_capacity(spec: PersistentVolumeSpec, path: str, report: Report) -> None:
    # Volumes have one capacity, although the API has a list of resources.
    if set(spec.capacity) != {"storage"}:
        got = ", ".join(spec.capacity) or "none"
        report.add(path, f"expected storage alone, got {got}")
    for name, amount in spec.capacity.items():
        is_possible = amount > Quantity(0)
        report.expect(is_possible, f"{path}[{name}]", "an amount above 0", amount)


def _check_node_affinity(spec: PersistentVolumeSpec, path: str, report: Report) -> None:
    """Check the node affinity of a volume; a local one must have some."""
    affinity, where = spec.node_affinity, f"{path}.nodeAffinity"
    if affinity is None:
        if spec.local is not None:
            # Without nodes, a pod could be placed where the local disk is not.
            report.add(where, "expected the nodes of the local volume, got none")
    elif affinity.required is None:
        report.add(f"{where}.required", "expected terms for nodes, got none")
    else:
        check_node_selector(affinity.required, f"{where}.required", report)


def _check_parameters(parameters: Mapping[str, str], report: Report) -> None:
    size = sum(len(k.encode()) + len(v.encode()) for k, v in parameters.items())
    if len(parameters) > _MAX_PARAMETERS or size > _MAX_PARAMETERS_SIZE:
        expected = f"at most {_MAX_PARAMETERS} of {_MAX_PARAMETERS_SIZE} bytes"
        report.expect(False, "parameters", expected, len(parameters))
    if "" in parameters:
        report.add("parameters", "expected a name for each, got none")


def _check_topology(term: TopologySelectorTerm, path: str, report: Report) -> None:
    conditions = term.match_label_expressions
    for index, condition in enumerate(conditions):
        where = f"{path}.matchLabelExpressions[{index}]"
        values = [(f"{where}.values[{i}]", v) for i, v in enumerate(condition.values)]
        if not values:
            report.add(f"{where}.values", "expected at least one value, got none")
        report.unique(values, "value")
        report.formed(condition.key, LABEL_KEY, f"{where}.key")
    report.unique(
        (
            (f"{path}.matchLabelExpressions[{i}].key", condition.key)
            for i, condition in enumerate(conditions)
        ),
        "key",
    )


def _content(term: TopologySelectorTerm) -> dict[str, frozenset[str]]:
    # The order of values has no meaning, so terms are compared as sets.
    return {c.key: frozenset(c.values) for c in term.match_label_expressions}
