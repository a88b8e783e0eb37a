"""New pods that differ from an earlier one in nothing but their names.

Whoever makes pods of a template makes many of them, and all have the same spec object
(`SpecPool`). What was found right of one, and filled in, holds for the others if the
rest of it is the same, too; only their names are looked at.
"""

from typing import Final
from weakref import ReferenceType, ref

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ObjectMeta, Pod, PodSpec, PodStatus, SpecKey
from quaymaster._clusters.inmemory.admission.syntax import SUBDOMAIN

__all__ = ["Repeats"]


@attrs.frozen(eq=False)
class _Precedent:
    """The last pod with a spec that was let in.

    Attributes:
        rules: What stood for the rules that were in force.
        metadata: Its metadata as it came.
        status: Its status as it came.
        stored_status: What became of the status.
        stored_spec: What became of the spec. Weak, since a spec is not to be kept
            longer than pods use it.
    """

    rules: object
    metadata: ObjectMeta
    status: PodStatus
    stored_status: PodStatus
    stored_spec: ReferenceType[PodSpec]


@attrs.define(eq=False)
class _Known:
    precedent: _Precedent | None = None


_KNOWN: Final = SpecKey(lambda _: _Known())


class Repeats:
    """Tells pods of one cluster that need not be examined."""

    __slots__ = ("_rules",)

    def __init__(self) -> None:
        self._rules = object()

    def forget(self) -> None:
        """Other rules are in force: what was let in says nothing any more."""
        self._rules = object()

    def note(self, pod: Pod, stored: Pod) -> None:
        """Remember a pod that was let in.

        Args:
            pod: As it came.
            stored: As it is to be stored.
        """
        spec, metadata = stored.spec, pod.metadata
        if pod.node_name or not metadata.namespace:
            return
        if spec.volumes and any(volume.ephemeral for volume in spec.volumes):
            return  # the names of their claims begin with the pod's
        _KNOWN.of(pod).precedent = _Precedent(
            self._rules, metadata, pod.status, stored.status, ref(spec)
        )

    def stored(self, pod: Pod) -> Pod | None:
        """A new pod as it is to be stored, if it is like one that was let in.

        Returns:
            None if it is not, or if its name is wrong: it needs to be examined.
        """
        known = _KNOWN.of(pod).precedent
        # Identity: changed rules are a new object.
        if known is None or known.rules is not self._rules:
            return None
        metadata, before, status = pod.metadata, known.metadata, pod.status
        # Identity: pods of a template share these; others are compared.
        if (status is not known.status and status != known.status) or pod.node_name:
            return None
        if metadata is not before and not _are_alike(metadata, before):
            return None
        name = metadata.name
        if not (SUBDOMAIN.fits(name) if name else metadata.generate_name):
            return None
        spec = known.stored_spec()
        if spec is None:
            return None
        return replace(pod, spec=spec, status=known.stored_status)


def _are_alike(metadata: ObjectMeta, before: ObjectMeta) -> bool:
    """Whether they differ in nothing but the name, or what is not to be examined."""
    return (
        # Identity: pods of a template share their labels.
        (metadata.labels is before.labels or metadata.labels == before.labels)
        and metadata.generate_name == before.generate_name
        and (not before.name or bool(metadata.name))
        and metadata.namespace == before.namespace
        and metadata.annotations == before.annotations
        and metadata.owner_references == before.owner_references
        and metadata.finalizers == before.finalizers
        and metadata.generation == before.generation
        and metadata.resource_version == before.resource_version
        and metadata.creation_timestamp == before.creation_timestamp
    )
