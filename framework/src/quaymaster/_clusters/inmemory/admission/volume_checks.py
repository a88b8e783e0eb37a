"""Checks the volumes of pods, and claims.

Mirrors ``ValidateVolumes`` and ``ValidatePersistentVolumeClaimSpec`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``).
"""

from collections.abc import Iterable
from typing import Final

from quaymaster._api.objects import (
    ObjectMeta,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimTemplate,
    Pod,
    TypedLocalObjectReference,
    TypedObjectReference,
    Volume,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import DNS_LABEL, SUBDOMAIN
from quaymaster._clusters.inmemory.admission.metadata_checks import (
    check_annotations,
    check_labels,
)
from quaymaster._clusters.inmemory.admission.placement_checks import check_selector
from quaymaster._clusters.inmemory.admission.volume_sources import check_source

__all__ = [
    "VOLUME_MODES",
    "check_access_modes",
    "check_claim_spec",
    "check_ephemeral_claims",
    "check_volumes",
]

VOLUME_MODES: Final = ("Block", "Filesystem")
_CLAIM: Final = "PersistentVolumeClaim"
_MAX_PORTAL: Final = 64
_ONCE_POD: Final = "ReadWriteOncePod"
_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", _ONCE_POD)


def check_volumes(volumes: Iterable[Volume], path: str, report: Report) -> None:
    """Check that each volume of a pod has a name of its own and one source."""
    names = []
    for index, volume in enumerate(volumes):
        where = f"{path}[{index}]"
        check_source(volume, where, report)
        if volume.ephemeral is not None and volume.ephemeral.volume_claim_template:
            template = volume.ephemeral.volume_claim_template
            inside = f"{where}.ephemeral.volumeClaimTemplate"
            _check_claim_template(template, inside, report)
        _check_portal(volume, where, report)
        report.named(volume.name, DNS_LABEL, f"{where}.name")
        names.append((f"{where}.name", volume.name))
    report.unique(names, "name")


def check_ephemeral_claims(pod: Pod, report: Report) -> None:
    """Check the names and owners of the claims that are made for a pod."""
    made = {
        f"{pod.name}-{volume.name}"
        for volume in pod.spec.volumes
        if volume.ephemeral is not None
    }
    for index, volume in enumerate(pod.spec.volumes):
        where = f"spec.volumes[{index}]"
        name, claim = f"{pod.name}-{volume.name}", volume.persistent_volume_claim
        if volume.ephemeral is not None:
            report.formed(name, SUBDOMAIN, f"{where}.name")
        # The pod would mount its own ephemeral claim under a second name.
        elif claim is not None and claim.claim_name in made:
            expected = "a claim that is not made for another of the pod's volumes"
            inside = f"{where}.persistentVolumeClaim.claimName"
            report.expect(False, inside, expected, claim.claim_name)


def check_claim_spec(
    spec: PersistentVolumeClaimSpec, path: str, report: Report
) -> None:
    """Check that a claim has access modes and requests storage."""
    check_access_modes(spec.access_modes, path, report)
    check_selector(spec.selector, f"{path}.selector", report)
    amount, where = spec.resources.requests.get("storage"), f"{path}.resources[storage]"
    if amount is None:
        report.add(where, "expected a request for storage, got none")
    else:
        report.expect(amount > Quantity(0), where, "an amount above 0", amount)
    for field, name in (
        ("storageClassName", spec.storage_class_name),
        ("volumeAttributesClassName", spec.volume_attributes_class_name),
    ):
        # An empty class is valid, and means a volume without a class.
        if name:
            report.formed(name, SUBDOMAIN, f"{path}.{field}")
    if spec.volume_mode is not None:
        report.one_of(spec.volume_mode, VOLUME_MODES, f"{path}.volumeMode")
    _check_data_sources(spec, path, report)


def check_access_modes(modes: tuple[str, ...], path: str, report: Report) -> None:
    """Check that there is an access mode; ReadWriteOncePod must be the only one."""
    where = f"{path}.accessModes"
    if not modes:
        report.add(where, "expected at least one, got none")
    for mode in modes:
        report.one_of(mode, _ACCESS_MODES, where)
    if _ONCE_POD in modes and any(
        # Unknown modes are reported already, and do not count here.
        mode in _ACCESS_MODES and mode != _ONCE_POD
        for mode in modes
    ):
        report.add(where, f"expected {_ONCE_POD} alone or not at all")


def _check_portal(volume: Volume, path: str, report: Report) -> None:
    disk = volume.iscsi
    if disk is None or disk.initiator_name is None:
        return
    name = f"{volume.name}:{disk.target_portal}"
    # With an initiator, the iSCSI plugin creates an interface that is named after both.
    if len(name) > _MAX_PORTAL:
        expected = f"at most {_MAX_PORTAL} characters with the target portal"
        report.expect(False, f"{path}.name", expected, name)


def _check_data_source(
    source: TypedLocalObjectReference | TypedObjectReference, path: str, report: Report
) -> None:
    for field, text in (("name", source.name), ("kind", source.kind)):
        if not text:
            report.add(f"{path}.{field}", "expected one, got none")
    if source.api_group:
        report.formed(source.api_group, SUBDOMAIN, f"{path}.apiGroup")
    # Only claims are of the core group, which has an empty name.
    elif source.kind != _CLAIM:
        report.expect(False, path, f"{_CLAIM}, or an apiGroup", source.kind)


def _check_data_sources(
    spec: PersistentVolumeClaimSpec, path: str, report: Report
) -> None:
    source, reference = spec.data_source, spec.data_source_ref
    if source is not None:
        _check_data_source(source, f"{path}.dataSource", report)
    if reference is not None:
        _check_data_source(reference, f"{path}.dataSourceRef", report)
        if reference.namespace:
            where = f"{path}.dataSourceRef.namespace"
            report.formed(reference.namespace, DNS_LABEL, where)
    if source is None or reference is None:
        return
    # The older field has no namespace, so the two could never be equal.
    if reference.namespace:
        report.add(path, "expected no dataSource beside a dataSourceRef.namespace")
    elif any(
        getattr(source, field) != getattr(reference, field)
        for field in source.__struct_fields__
    ):
        report.add(path, "expected a dataSource that equals dataSourceRef")


def _check_claim_template(
    template: PersistentVolumeClaimTemplate, path: str, report: Report
) -> None:
    metadata = template.metadata
    check_annotations(metadata.annotations, f"{path}.metadata.annotations", report)
    check_labels(metadata.labels, f"{path}.metadata.labels", report)
    # The claim gets its name and owner from the pod, so other metadata would be
    # overwritten.
    bare = ObjectMeta(labels=metadata.labels, annotations=metadata.annotations)
    if metadata != bare:
        message = "expected labels and annotations only"
        report.add(f"{path}.metadata", message)
    check_claim_spec(template.spec, f"{path}.spec", report)
