"""Reuses admission results for pods that differ from an earlier one only by name.

The pods of a template are many and have the same spec object (`SpecPool`). If the other
parts of a pod are equal, too, the checks and defaults of the earlier pod apply. Only
the name is checked.
"""

from typing import Final
from weakref import ReferenceType, ref

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ObjectMeta, Pod, PodSpec, PodStatus, SpecKey
from quaymaster._api.objects.syntax import SUBDOMAIN

__all__ = ["Repeats"]


@attrs.frozen(eq=False)
class _Precedent:
    """The last admitted pod with a spec.

    Attributes:
        rules: An object for the rules of that time.
        metadata: Its metadata before admission.
        status: Its status before admission.
        stored_status: Its status after admission.
        stored_spec: Its spec after admission. Weak, so that the spec lives only as long
            as pods use it.
    """

    rules: object
    metadata: ObjectMeta
    status: PodStatus
    stored_status: PodStatus
    stored_spec: ReferenceType[PodSpec]


@attrs.define(eq=False)
class _LastAdmitted:
    precedent: _Precedent | None = None


_LAST_ADMITTED: Final = SpecKey(lambda _: _LastAdmitted())


class Repeats:
    """Caches the last admitted pod of each spec, for one cluster."""

    __slots__ = ("_rules",)

    def __init__(self) -> None:
        self._rules = object()

    def forget(self) -> None:
        """Drop all results, because the rules have changed."""
        self._rules = object()

    def note(self, pod: Pod, stored: Pod) -> None:
        """Cache an admitted pod.

        Args:
            pod: The pod before admission.
            stored: The pod as it is to be stored.
        """
        spec, metadata = stored.spec, pod.metadata
        # A bound pod is already admitted, and a pod without a namespace gets one:
        # neither result fits the next pod.
        if pod.node_name or not metadata.namespace:
            return
        if spec.volumes and any(volume.ephemeral for volume in spec.volumes):
            return  # the names of their claims begin with the pod's
        _LAST_ADMITTED.of(pod).precedent = _Precedent(
            self._rules, metadata, pod.status, stored.status, ref(spec)
        )

    def stored(self, pod: Pod) -> Pod | None:
        """Return a new pod as it is to be stored, if it equals an admitted one.

        Returns:
            None if it differs, or if its name is invalid: the pod must be checked.
        """
        # One entry for each spec: a template's pods come in a row, so a second entry
        # would rarely be read.
        precedent = _LAST_ADMITTED.of(pod).precedent
        # Identity: changed rules are a new object.
        if precedent is None or precedent.rules is not self._rules:
            return None
        metadata, before, status = pod.metadata, precedent.metadata, pod.status
        # Identity: pods of a template share these; others are compared.
        if (
            status is not precedent.status and status != precedent.status
        ) or pod.node_name:
            return None
        if metadata is not before and not _are_alike(metadata, before):
            return None
        name = metadata.name
        # A name that does not fit is not rejected here, since only the full check can
        # report it.
        if not (SUBDOMAIN.fits(name) if name else metadata.generate_name):
            return None
        spec = precedent.stored_spec()
        # The last pod with the admitted spec is gone, and its spec with it.
        if spec is None:
            return None
        return replace(pod, spec=spec, status=precedent.stored_status)


def _are_alike(metadata: ObjectMeta, before: ObjectMeta) -> bool:
    """Return whether they differ only in the name, or in fields without checks."""
    return (
        # Identity: pods of a template share their labels.
        (metadata.labels is before.labels or metadata.labels == before.labels)
        and metadata.generate_name == before.generate_name
        # The check of a generated name depends on whether there is a name, too.
        and (not before.name or bool(metadata.name))
        and metadata.namespace == before.namespace
        and metadata.annotations == before.annotations
        and metadata.owner_references == before.owner_references
        and metadata.finalizers == before.finalizers
        and metadata.generation == before.generation
        and metadata.resource_version == before.resource_version
        and metadata.creation_timestamp == before.creation_timestamp
    )
