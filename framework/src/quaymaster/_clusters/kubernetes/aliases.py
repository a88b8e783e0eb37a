"""Replaces names by aliases: one for each name, in the same order.

Equal names get equal aliases, and different names get different ones. So comparisons
have the same results, and sorted names stay in their order.
"""

import hashlib
import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["Aliases", "UidAliases", "hashed_alias", "hashed_uid"]

_KEPT: Final = frozenset(
    {
        "",
        "default",
        "false",
        "kube-node-lease",
        "kube-public",
        "kube-system",
        "standard",  # the storage class that simulations imply
        "system-cluster-critical",
        "system-node-critical",
        "true",
    }
)
"""Names of Kubernetes itself and of simulations, and values that reveal nothing."""

_NUMBER: Final = re.compile(r"-?\d+")  # selectors compare numbers
_UID_PREFIX: Final = "00000000-0000-4000-9000-"  # simulations make others
_UID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REPLICA: Final = re.compile(r"(.+)-(\d+)")


class Aliases:
    """Maps names to aliases.

    Args:
        names: All names.
        compound: Compound name -> its parts. Controllers join the parts with dashes,
            such as in the names of claims of StatefulSets.
        stems: Names to which controllers append a dash and a number, such as those of
            StatefulSets.
    """

    def __init__(
        self,
        names: Iterable[str],
        *,
        compound: Mapping[str, tuple[str, ...]],
        stems: Iterable[str],
    ) -> None:
        self._compound = compound
        self._stems = frozenset(stems)
        plain = sorted(filter(self._is_plain, set(names)))
        # All ranks are equally wide, so that aliases sort as the names do.
        width = max(4, len(str(len(plain))))
        self._plain = {
            name: f"x{rank:0{width}}" for rank, name in enumerate(plain, start=1)
        }

    def of(self, name: str) -> str:
        """Return the alias of a name; a public name is returned unchanged."""
        parts = self._compound.get(name)
        if parts is not None:
            return "-".join(map(self.of, parts))
        stem, number = self._replica(name)
        if stem:
            return f"{self.of(stem)}-{number}"
        return self._plain.get(name, name)

    def _is_plain(self, name: str) -> bool:
        if name in _KEPT or name in self._compound or _NUMBER.fullmatch(name):
            return False
        return not self._replica(name)[0]

    def _replica(self, name: str) -> tuple[str, str]:
        match = _REPLICA.fullmatch(name)
        if match is None or match[1] not in self._stems:
            return "", ""
        return match[1], match[2]


def hashed_alias(name: str, key: bytes, compound: Mapping[str, tuple[str, ...]]) -> str:
    """Return the alias of a name without reading the other names.

    Args:
        name: The name. A number at its end is kept.
        key: The secret key of the hash.
        compound: Compound name -> its parts.
    """
    if name in _KEPT or _NUMBER.fullmatch(name):
        return name
    if _UID.fullmatch(name):
        return hashed_uid(name, key)
    parts = compound.get(name)
    if parts is not None:
        return "-".join(hashed_alias(part, key, compound) for part in parts)
    match = _REPLICA.fullmatch(name)
    if match is not None:
        return f"{hashed_alias(match[1], key, compound)}-{match[2]}"
    # 48 bits: even among a million names, two equal aliases are unlikely.
    digest = hashlib.blake2b(name.encode(), key=key, digest_size=6)
    return f"x{digest.hexdigest()}"


class UidAliases:
    """Maps uids to aliases in the same order, which have the form of uids.

    Args:
        uids: All uids.
    """

    def __init__(self, uids: Iterable[str]) -> None:
        ordered = enumerate(sorted(filter(None, uids)), start=1)
        self._aliases = {uid: f"{_UID_PREFIX}{rank:012d}" for rank, uid in ordered}

    def get(self, uid: str) -> str | None:
        """Return the alias of a uid; None if the text is not a uid."""
        return self._aliases.get(uid)


def hashed_uid(uid: str, key: bytes) -> str:
    """Return the alias of a uid without reading the other uids.

    Args:
        uid: The uid; empty stays empty.
        key: The secret key of the hash.
    """
    if not uid:
        return uid
    digest = hashlib.blake2b(uid.encode(), key=key, digest_size=16)
    return str(uuid.UUID(digest.hexdigest(), version=4))
