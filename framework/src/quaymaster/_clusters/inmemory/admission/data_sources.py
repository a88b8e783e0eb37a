"""Fills in what the volumes of new claims are filled with.

Mirrors ``EnforceDataSourceBackwardsCompatibility`` and ``NormalizeDataSources``
(Kubernetes v1.37, ``pkg/api/persistentvolumeclaim/util.go``).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    PersistentVolumeClaimSpec,
    TypedLocalObjectReference,
    TypedObjectReference,
)
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["default_data_sources"]

_SOURCES: Final = frozenset(
    (
        ("", "PersistentVolumeClaim"),
        ("snapshot.storage.k8s.io", "VolumeSnapshot"),
    )
)
"""The groups and kinds that ``dataSource`` may name; others are dropped."""


def default_data_sources(
    spec: PersistentVolumeClaimSpec, kubernetes: Kubernetes
) -> PersistentVolumeClaimSpec:
    """Return the spec with the same source in both fields, where both can name it."""
    source, reference = spec.data_source, spec.data_source_ref
    if source is None and reference is None:
        return spec
    # A source in another namespace must not be copied into ``dataSource``, which has no
    # field for the namespace.
    if reference is not None and reference.namespace:
        if kubernetes.enabled("CrossNamespaceVolumeDataSource"):
            return spec
        # ``dropDisabledFields`` of the strategy: without the gate, the reference is
        # dropped, not rejected.
        reference = None
    # Old clients could name anything in ``dataSource``, and unknown kinds were ignored.
    # That stays true only while the newer field is unset.
    if reference is None and not _is_source(source):
        source = None
    if source is None and reference is not None:
        source = TypedLocalObjectReference(
            api_group=reference.api_group, kind=reference.kind, name=reference.name
        )
    elif reference is None and source is not None:
        reference = TypedObjectReference(
            api_group=source.api_group, kind=source.kind, name=source.name
        )
    return replace(spec, data_source=source, data_source_ref=reference)


def _is_source(source: TypedLocalObjectReference | None) -> bool:
    return source is not None and (source.api_group or "", source.kind) in _SOURCES
