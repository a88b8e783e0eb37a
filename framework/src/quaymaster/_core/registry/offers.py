"""The entry points of installed distributions.

Reading the metadata of all distributions takes longer than building a profile
(measured: 8 ms of the 18 ms of a `SchedulerHarness`). So it is read again only after an
installation, or a change of the path.
"""

import functools
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from typing import TypeAlias

import msgspec

__all__ = ["Offer", "offers"]

_Places: TypeAlias = tuple[tuple[str, int], ...]


class Offer(msgspec.Struct, frozen=True):
    """An entry point, and the distribution that offers it.

    Attributes:
        entry: The entry point, which loads the object.
        distribution: The distribution that offers it; empty if it is not known.
        version: That distribution's version.
        requires: That distribution's requirements, as in its metadata.
    """

    entry: metadata.EntryPoint
    distribution: str
    version: str
    requires: Sequence[str] = ()

    @property
    def owner(self) -> str:
        """The distribution with its version, or empty."""
        return f"{self.distribution} {self.version}".strip()


def offers(group: str) -> Sequence[Offer]:
    """Return the offers of the installed distributions in a group of entry points.

    Args:
        group: The group.
    """
    # The times of the folders are the key of the cache: a harness took 18 ms, and
    # reading the metadata of everything that is installed was half of it.
    return _read(group, tuple((place, _changed(place)) for place in sys.path))


@functools.lru_cache(maxsize=8)
def _read(group: str, places: _Places) -> Sequence[Offer]:
    return tuple(_offer(entry) for entry in _selection(places)(group=group))


@functools.lru_cache(maxsize=1)
def _selection(_places: _Places) -> Callable[..., Iterable[metadata.EntryPoint]]:
    """Return a function that selects among the entry points of all groups.

    A command reads three groups, and each search reads all distributions.
    """
    return metadata.entry_points().select


def _offer(entry: metadata.EntryPoint) -> Offer:
    if entry.dist is None:
        return Offer(entry, "", "")
    # Each access to the metadata parses the file again.
    fields = entry.dist.metadata
    requires = fields.get_all("Requires-Dist") or ()
    return Offer(entry, fields["Name"], fields["Version"], tuple(requires))


def _changed(place: str) -> int:
    """Return when a folder of the path changed, in ns; an installation changes it."""
    try:
        # Each simulation asks, and `Path.stat` would take three times as long.
        return os.stat(place or ".").st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0
