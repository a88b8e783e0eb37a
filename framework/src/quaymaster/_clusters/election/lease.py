"""Reads and writes the Lease of a leader election."""

from collections.abc import Mapping
from typing import Any, Final, Self

import attrs
import msgspec

from quaymaster._api.objects import Lease, ObjectMeta
from quaymaster._api.objects.core import LeaseSpec
from quaymaster._api.objects.wire import encode, from_wire, to_wire

__all__ = ["StoredLease", "new_lease"]

_UNFINISHED: Final = "scheduling.quaymaster.io/unfinished-attempts"
"""The annotation for the next leader."""


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

    @property
    def unfinished(self) -> str:
        """The unfinished attempts that its leaders have noted; empty for none."""
        text = (self.tree["metadata"].get("annotations") or {}).get(_UNFINISHED, "")
        return text if isinstance(text, str) else ""

    def with_spec(self, spec: LeaseSpec, unfinished: str | None = None) -> bytes:
        """Encode the lease with another spec; the server rejects it if it is stale.

        Args:
            spec: The spec.
            unfinished: The unfinished attempts to note; None leaves them as they are.
        """
        changed = to_wire(Lease(spec=spec))["spec"]
        tree = {**self.tree, "spec": changed}
        if unfinished is not None and unfinished != self.unfinished:
            metadata = dict(self.tree["metadata"])
            annotations = dict(metadata.get("annotations") or {})
            annotations.pop(_UNFINISHED, None)
            if unfinished:
                annotations[_UNFINISHED] = unfinished
            tree["metadata"] = {**metadata, "annotations": annotations}
        return msgspec.json.encode(tree)


def new_lease(namespace: str, name: str, spec: LeaseSpec) -> bytes:
    """Encode a lease that does not exist yet."""
    metadata = ObjectMeta(name=name, namespace=namespace)
    return encode(Lease(metadata=metadata, spec=spec))
