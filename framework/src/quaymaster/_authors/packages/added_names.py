"""The public names that came after 0.1, by the version that added them.

At the release of a minor version, its new names move here from the record of all names
(`tests/compatibility`); a test compares both. A name that is not listed came with 0.1.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

__all__ = ["ADDED", "AddedNames"]

AddedNames: TypeAlias = Mapping[str, Mapping[str, frozenset[str]]]
"""Version -> public module -> names."""

ADDED: Final[AddedNames] = {}
