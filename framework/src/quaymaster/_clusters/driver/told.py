"""What the engine has been told of one resource, so that only news are told again."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from quaymaster._clusters.driver.frames import Changed, Current, Listing, Message
from quaymaster._clusters.driver.packing import Change, Gone, Text, pack
from quaymaster._clusters.kubernetes.resource_versions import compare_versions

__all__ = ["Packer", "StaleListError", "Told", "Versioned", "as_text"]

_BATCH: Final = 32  # changes: what the engine reads between two pods

Packer = Callable[[str, msgspec.Raw], Change]
"""Makes a change of its type and the object's JSON."""


class StaleListError(Exception):
    """A list is older than what has been told: it would take that back."""


class Versioned(msgspec.Struct, rename="camel"):
    """What is read of any object.

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


class Told:
    """Remembers the version of each object that was told.

    The first list is told as it comes, whole. Of a later one only what differs is
    told, and not before all of it is there.

    Args:
        resource: What messages call the resource.
        packed: Makes changes.
        tell: Takes what there is to tell.

    Attributes:
        latest: As of which version the engine knows the resource; empty at first.
        is_complete: Whether there has been a whole list.
    """

    def __init__(
        self, resource: int, packed: Packer, tell: Callable[[Message], None]
    ) -> None:
        self.latest = ""
        self.is_complete = False
        self._resource = resource
        self._packed = packed
        self._tell = tell
        self._versions: dict[str, str] = {}
        self._batch: list[Change] = []
        # While there is a list: the versions in it, and what of it is to be told.
        self._listed: dict[str, str] = {}
        self._news: dict[str, Change] = {}

    def go_on(self, versions: Mapping[str, str], latest: str) -> None:
        """All of it was told before, by somebody else: only what has changed is told.

        Args:
            versions: The version of each object by its key; empty where it is unknown.
            latest: As of which version all of it was told.
        """
        self._versions = dict(versions)
        self.latest = latest
        self.is_complete = True

    def begin(self) -> None:
        """A list begins; of one that had begun, what was told does not hold."""
        if self._listed and not self.is_complete:
            self._tell(Listing(self._resource))
        self._listed, self._news, self._batch = {}, {}, []

    def listed(self, meta: Versioned, text: msgspec.Raw) -> None:
        """There is an object in the list; or it changes while that is read."""
        key, version = meta.key, meta.resource_version
        self._listed[key] = version
        if not self.is_complete:
            self._add(self._packed("ADDED", text))
        elif self._versions.get(key) == version:
            self._news.pop(key, None)
        else:
            self._news[key] = self._packed("MODIFIED", text)

    def unlisted(self, meta: Versioned, text: msgspec.Raw) -> None:
        """An object of the list is deleted while that is read."""
        self._listed.pop(meta.key, None)
        self._news.pop(meta.key, None)
        if not self.is_complete:
            self._add(self._packed("DELETED", text))

    def finish(self, version: str) -> None:
        """The list is whole.

        Raises:
            StaleListError: It is older than what has been told.
        """
        if self._is_older(version):
            self._listed, self._news = {}, {}
            raise StaleListError
        for change in self._news.values():
            self._add(change)
        for key in self._versions.keys() - self._listed.keys():
            self._add(Gone(key))
        self.flush()
        self._versions, self._listed, self._news = self._listed, {}, {}
        self.latest = version
        if not self.is_complete:
            self.is_complete = True
            self._tell(Current(self._resource))

    def changed(self, change: str, meta: Versioned, text: msgspec.Raw) -> None:
        """The watch brings a change; one that is known is not told again."""
        key, version = meta.key, meta.resource_version
        if self._is_older(version):
            return
        known = self._versions.get(key)
        self.latest = version
        if change == "DELETED":
            if known is None:
                return
            del self._versions[key]
        elif known == version:
            return
        else:
            self._versions[key] = version
        self._add(self._packed(change, text))

    def reached(self, version: str) -> None:
        """The watch has come to a version, without any change."""
        if not self._is_older(version):
            self.latest = version

    def unnamed(self, text: msgspec.Raw) -> None:
        """There is an object whose name cannot be read: the engine says so."""
        self._add(as_text("ADDED", text))

    def flush(self) -> None:
        """Tell what has been put together."""
        if self._batch:
            changes, self._batch = self._batch, []
            self._tell(Changed(self._resource, pack(changes)))

    def _add(self, change: Change) -> None:
        self._batch.append(change)
        if len(self._batch) == _BATCH:
            self.flush()

    def _is_older(self, version: str) -> bool:
        return compare_versions(version, self.latest) == -1


def as_text(change: str, text: msgspec.Raw) -> Change:
    """Pack an object as it is."""
    return Text(change, bytes(text))
