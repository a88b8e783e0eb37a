"""The table of fields: every kind of object, with all its fields, by version."""

import functools
import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Final, TypeAlias, TypeVar

import msgspec

from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = [
    "DROPS_WHOLE_REFERENCE",
    "FieldTable",
    "Reference",
    "field_table",
    "structure_of",
]

Reference: TypeAlias = int | list[int] | dict[str, int]
"""The content of a field: 0 for anything, the number of a structure or (below 0) of a
simple type, or such a number in a list or (under an empty key) in a map."""

DROPS_WHOLE_REFERENCE: Final = "CrossNamespaceVolumeDataSource"
"""The gate of a namespace field; without the gate, its whole reference is dropped."""

Fields: TypeAlias = Mapping[str, Reference]

T = TypeVar("T")


class _File(msgspec.Struct, frozen=True, kw_only=True):
    """The whole table; versions that share a mark are joined by commas.

    Attributes:
        kinds: The number of the structure of each kind, such as ``apps/v1 Deployment``.
        kinds_by_version: The kinds that only some versions have, by these versions.
        structures: All fields of all structures, by the numbers of these.
        fields_by_version: The fields that only some versions have, by these versions
            and the number of the structure.
        gated: The fields that need a feature gate, by the gate and the number.
        gates: The versions in which each of these gates is on by default.
    """

    kinds: dict[str, int]
    kinds_by_version: dict[str, list[str]]
    structures: list[dict[str, Reference]]
    fields_by_version: dict[str, dict[int, list[str]]]
    gated: dict[str, dict[int, list[str]]]
    gates: dict[str, list[str]]


_FILE: Final = "fields.json.gz"


class FieldTable:
    """The kinds and fields of one Kubernetes version.

    Args:
        kubernetes: Its version, and its feature gates.

    Attributes:
        kubernetes: The version and its feature gates.
        kinds: The number of the structure of each kind, such as ``apps/v1 Deployment``.
    """

    def __init__(self, kubernetes: Kubernetes) -> None:
        self.kubernetes = kubernetes
        file = _file()
        self.kinds: Mapping[str, int] = _without(file.kinds, self._missing_kinds(file))
        self._existing: Sequence[Fields] = _less(file.structures, self._missing(file))
        self._gates = {
            (structure, field): gate
            for gate, structures in file.gated.items()
            if not self._is_on(gate, file.gates[gate])
            for structure, fields in structures.items()
            for field in fields
            if field in self._existing[structure]
        }
        self._enabled: Sequence[Fields] = _less(self._existing, self._gates)

    def structure_of(self, api_version: str, kind: str) -> int:
        """Return the structure of a kind; 0 if this Kubernetes has no such kind."""
        return self.kinds.get(f"{api_version} {kind}", 0)

    def fields_of(self, structure: int) -> Fields:
        """Return the fields of a structure, whether their feature gates are on or off.

        Fields of other versions are not included.
        """
        return self._existing[structure]

    def enabled_fields_of(self, structure: int) -> Fields:
        """Return the fields of a structure that an API server does not drop."""
        return self._enabled[structure]

    def gate_of(self, structure: int, field: str) -> str:
        """Return the disabled feature gate that drops a field; or empty."""
        return self._gates.get((structure, field), "")

    def versions_of(self, structure: int, field: str) -> Sequence[str]:
        """Return the versions that have a field that this one lacks, oldest first."""
        for versions, structures in _file().fields_by_version.items():
            if field in structures.get(structure, ()):
                return versions.split(",")
        return ()

    def _is_on(self, gate: str, on_in: Sequence[str]) -> bool:
        default = self.kubernetes.version in on_in
        return self.kubernetes.feature_gates.get(gate, default)

    def _missing_kinds(self, file: _File) -> Iterator[str]:
        for versions, kinds in file.kinds_by_version.items():
            if self.kubernetes.version not in versions.split(","):
                yield from kinds

    def _missing(self, file: _File) -> Iterator[tuple[int, str]]:
        for versions, structures in file.fields_by_version.items():
            if self.kubernetes.version not in versions.split(","):
                for structure, fields in structures.items():
                    yield from ((structure, field) for field in fields)


@functools.lru_cache(maxsize=8)
def field_table(kubernetes: Kubernetes) -> FieldTable:
    """Return the table of a Kubernetes version."""
    return FieldTable(kubernetes)


def structure_of(api_version: str, kind: str) -> int:
    """Return the structure of a kind in any version; 0 if no version has it."""
    return _file().kinds.get(f"{api_version} {kind}", 0)


def _less(
    structures: Sequence[Fields], fields: Iterable[tuple[int, str]]
) -> Sequence[Fields]:
    """Return the structures without some fields; unchanged ones are shared."""
    remaining = list(structures)
    missing: dict[int, set[str]] = {}
    for structure, field in fields:
        missing.setdefault(structure, set()).add(field)
    for structure, names in missing.items():
        remaining[structure] = _without(structures[structure], names)
    return remaining


def _without(mapping: Mapping[str, T], keys: Iterable[str]) -> dict[str, T]:
    remaining = dict(mapping)
    for key in keys:
        remaining.pop(key, None)
    return remaining


@functools.cache
def _file() -> _File:
    text = resources.files(__package__).joinpath(_FILE).read_bytes()
    return msgspec.json.decode(gzip.decompress(text), type=_File)
