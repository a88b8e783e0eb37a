"""Keeps the versions that the engine has received, so that only changes are sent."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from quaymaster._clusters.driver.frames import Changed, Current, Listing, Message
from quaymaster._clusters.driver.packing import Change, Gone, Text, pack
from quaymaster._clusters.kubernetes.resource_versions import compare_versions

__all__ = ["Packer", "SentVersions", "StaleListError", "Versioned", "as_text"]

_BATCH: Final = 32  # changes, which the engine reads between two pods

Packer = Callable[[str, msgspec.Raw], Change]
"""Packs a change, from its type and the object's JSON."""


class StaleListError(Exception):
    """A list is older than the objects that were sent: it would revert them."""


class Versioned(msgspec.Struct, rename="camel"):
    """The metadata that is read of each object.

    Attributes:
        name: Its name.
        namespace: Its namespace, if it has one.
        resource_version: Its version.
    """

    name: str = ""
    namespace: str = ""
    resource_version: str = ""

    @property
    def key(self) -> str:
        """The key of the object."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class SentVersions:
    """Keeps the version of each object that was sent, and sends the differences.

    The first list is sent while it is read. Of a later list only the differences are
    sent, once it is complete.

    Args:
        resource: The number of the resource in messages.
        packed: Packs a change.
        send: Sends a message to the engine.

    Attributes:
        latest: The resource version that the engine has received; empty at first.
        is_complete: Whether a list has been complete.
    """

    def __init__(
        self, resource: int, packed: Packer, send: Callable[[Message], None]
    ) -> None:
        self.latest = ""
        self.is_complete = False
        self._resource = resource
        self._packed = packed
        self._send = send
        self._versions: dict[str, str] = {}
        self._batch: list[Change] = []
        # During a list: the versions in it, and the changes to send when it ends.
        self._listed: dict[str, str] = {}
        self._changed_in_list: dict[str, Change] = {}

    def resume(self, versions: Mapping[str, str], latest: str) -> None:
        """Start from the versions that an earlier process has sent.

        Args:
            versions: The version of each object by its key; empty if it is unknown.
            latest: The resource version up to which that process sent all changes.
        """
        self._versions = dict(versions)
        self.latest = latest
        self.is_complete = True

    def begin(self) -> None:
        """Begin a list; what was sent of an incomplete first list is obsolete."""
        if self._listed and not self.is_complete:
            self._send(Listing(self._resource))
        self._listed, self._changed_in_list, self._batch = {}, {}, []

    def listed(self, meta: Versioned, text: msgspec.Raw) -> None:
        """Add an object of the list, or a change of it while the list is read."""
        key, version = meta.key, meta.resource_version
        self._listed[key] = version
        if not self.is_complete:
            self._add(self._packed("ADDED", text))
        elif self._versions.get(key) == version:
            self._changed_in_list.pop(key, None)
        else:
            self._changed_in_list[key] = self._packed("MODIFIED", text)

    def unlisted(self, meta: Versioned, text: msgspec.Raw) -> None:
        """Remove an object of the list that is deleted while the list is read."""
        self._listed.pop(meta.key, None)
        self._changed_in_list.pop(meta.key, None)
        if not self.is_complete:
            self._add(self._packed("DELETED", text))

    def finish(self, version: str) -> None:
        """End the list, and send its differences.

        Raises:
            StaleListError: It is older than the objects that were sent.
        """
        if self._is_older(version):
            self._listed, self._changed_in_list = {}, {}
            raise StaleListError
        for change in self._changed_in_list.values():
            self._add(change)
        for key in self._versions.keys() - self._listed.keys():
            self._add(Gone(key))
        self.flush()
        self._versions, self._listed, self._changed_in_list = self._listed, {}, {}
        self.latest = version
        if not self.is_complete:
            self.is_complete = True
            self._send(Current(self._resource))

    def changed(self, change: str, meta: Versioned, text: msgspec.Raw) -> None:
        """Send a change of the watch, unless it was sent before."""
        key, version = meta.key, meta.resource_version
        if self._is_older(version):
            return
        sent_version = self._versions.get(key)
        self.latest = version
        if change == "DELETED":
            if sent_version is None:
                return
            del self._versions[key]
        elif sent_version == version:
            return
        else:
            self._versions[key] = version
        self._add(self._packed(change, text))

    def reached(self, version: str) -> None:
        """Note a version that the watch has reached without a change (a bookmark)."""
        if not self._is_older(version):
            self.latest = version

    def unnamed(self, text: msgspec.Raw) -> None:
        """Send an object whose name cannot be read, so that the engine logs it."""
        self._add(as_text("ADDED", text))

    def flush(self) -> None:
        """Send the batched changes."""
        if self._batch:
            changes, self._batch = self._batch, []
            self._send(Changed(self._resource, pack(changes)))

    def _add(self, change: Change) -> None:
        self._batch.append(change)
        if len(self._batch) == _BATCH:
            self.flush()

    def _is_older(self, version: str) -> bool:
        return compare_versions(version, self.latest) == -1


def as_text(change: str, text: msgspec.Raw) -> Change:
    """Pack an object unchanged."""
    return Text(change, bytes(text))
