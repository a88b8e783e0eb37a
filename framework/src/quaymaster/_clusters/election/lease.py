"""The Lease by which a leader is elected, as it is read and written."""

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
    """A lease as the server has it, with the parts that are none of ours.

    Attributes:
        tree: The whole object.
        spec: What it says about its holder.
        version: Its resource version.
    """

    tree: Mapping[str, Any]
    spec: LeaseSpec
    version: str

    @classmethod
    def read(cls, body: bytes) -> Self:
        """Read the answer of a server.

        Raises:
            ObjectError: It is no lease.
            msgspec.DecodeError: It is no JSON object.
        """
        tree = msgspec.json.decode(body, type=dict[str, Any])
        lease = from_wire(tree, Lease)
        return cls(tree, lease.spec, lease.metadata.resource_version)

    @property
    def holder(self) -> str:
        """Who holds it; empty if nobody does."""
        return self.spec.holder_identity or ""

    @property
    def seconds(self) -> int:
        """For how long a renewal counts."""
        return self.spec.lease_duration_seconds or 0

    @property
    def transitions(self) -> int:
        """How often it has changed hands."""
        return self.spec.lease_transitions or 0

    def with_spec(self, spec: LeaseSpec) -> bytes:
        """The same lease with another spec, if it was not changed meanwhile."""
        changed = to_wire(Lease(spec=spec))["spec"]
        return msgspec.json.encode({**self.tree, "spec": changed})


def new_lease(namespace: str, name: str, spec: LeaseSpec) -> bytes:
    """A lease that is not there yet."""
    metadata = ObjectMeta(name=name, namespace=namespace)
    return encode(Lease(metadata=metadata, spec=spec))
