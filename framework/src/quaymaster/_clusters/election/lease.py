"""Reads and writes the Lease of a leader election."""

from collections.abc import Mapping
from typing import Any, Self

import attrs
import msgspec

from quaymaster._api.objects import Lease, ObjectMeta
from quaymaster._api.objects.core import LeaseSpec
from quaymaster._api.objects.wire import encode, from_wire, to_wire

__all__ = ["StoredLease", "new_lease"]


@attrs.frozen
class StoredLease:
    """The server's version of a lease, including fields that are not decoded.

    Attributes:
        tree: The whole object.
        spec: Its spec, with the holder.
        version: Its resource version.
    """

    tree: Mapping[str, Any]
    spec: LeaseSpec
    version: str

    @classmethod
    def read(cls, body: bytes) -> Self:
        """Decode the response of a server.

        Raises:
            ObjectError: It is not a lease.
            msgspec.DecodeError: It is not a JSON object.
        """
        tree = msgspec.json.decode(body, type=dict[str, Any])
        lease = from_wire(tree, Lease)
        return cls(tree, lease.spec, lease.metadata.resource_version)

    @property
    def holder(self) -> str:
        """The identity of the holder, or empty."""
        return self.spec.holder_identity or ""

    @property
    def seconds(self) -> int:
        """The duration of the lease after a renewal."""
        return self.spec.lease_duration_seconds or 0

    @property
    def transitions(self) -> int:
        """How often the holder has changed."""
        return self.spec.lease_transitions or 0

    def with_spec(self, spec: LeaseSpec) -> bytes:
        """Encode the lease with another spec; the server rejects it if it is stale."""
        changed = to_wire(Lease(spec=spec))["spec"]
        return msgspec.json.encode({**self.tree, "spec": changed})


def new_lease(namespace: str, name: str, spec: LeaseSpec) -> bytes:
    """Encode a lease that does not exist yet."""
    metadata = ObjectMeta(name=name, namespace=namespace)
    return encode(Lease(metadata=metadata, spec=spec))
