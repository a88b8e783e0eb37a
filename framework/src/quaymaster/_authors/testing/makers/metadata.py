"""Makers of metadata and uids."""

import uuid
from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import ApiObject, ObjectMeta, OwnerReference
from quaymaster._authors.testing.shorthand import Moment, to_time

__all__ = ["make_metadata", "make_uid"]

_UID_SPACE: Final = uuid.UUID("6f1d5f4e-52a3-5b0c-9a59-6c1d1a6f0c3b")


def make_uid(kind: type[ApiObject], name: str, namespace: str | None = None) -> str:
    """Return the uid that makers use for an object of a kind and name.

    Args:
        kind: The class of the object.
        name: Its name.
        namespace: Its namespace; by default ``default``, or empty if the kind is
            cluster-scoped.
    """
    namespace = _namespace_of(kind, namespace)
    return str(uuid.uuid5(_UID_SPACE, f"{kind.kind}/{namespace}/{name}"))


def make_metadata(
    kind: type[ApiObject],
    *,
    name: str,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: ApiObject | None = None,
    uid: str | None = None,
    creation_timestamp: Moment | None = None,
    deletion_timestamp: Moment | None = None,
) -> ObjectMeta:
    """Make the metadata of an object, such as one of your own kind.

    ``Lane(metadata=make_metadata(Lane, name="left"))`` is a complete object. The kinds
    of Kubernetes have makers of their own, such as `make_pod`.

    Args:
        kind: The class of the object.
        name: Its name.
        namespace: Its namespace; by default ``default``, or empty if the kind is
            cluster-scoped (``namespaced = False``).
        labels: Its labels.
        annotations: Its annotations.
        owner: The object that is its controller.
        uid: Its uid; by default that of `make_uid`, which follows from kind, namespace
            and name.
        creation_timestamp: When it was created: seconds since the epoch, or an RFC 3339
            text.
        deletion_timestamp: When its grace period ends, if it is being deleted.
    """
    namespace = _namespace_of(kind, namespace)
    owners: tuple[OwnerReference, ...] = ()
    if owner is not None:
        reference = OwnerReference(
            api_version=owner.api_version,
            kind=owner.kind,
            name=owner.name,
            uid=owner.uid,
            controller=True,
        )
        owners = (reference,)
    return ObjectMeta(
        name=name,
        namespace=namespace,
        uid=make_uid(kind, name, namespace) if uid is None else uid,
        labels=dict(labels or {}),
        annotations=dict(annotations or {}),
        owner_references=owners,
        creation_timestamp=to_time(creation_timestamp),
        deletion_timestamp=to_time(deletion_timestamp),
    )


def _namespace_of(kind: type[ApiObject], namespace: str | None) -> str:
    """Return the given namespace, or the one that an API client would use."""
    if namespace is not None:
        return namespace
    return "default" if kind.namespaced else ""
