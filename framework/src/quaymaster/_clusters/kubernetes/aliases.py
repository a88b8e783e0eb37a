"""Other names for names: one for each, in the same order.

Since equal texts get equal aliases, and different ones different aliases, whatever is
compared is still equal or not; and what is sorted stays in its order.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["Aliases", "hashed_alias"]

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
"""Names of Kubernetes itself and of simulations, and values that say nothing."""

_NUMBER: Final = re.compile(r"-?\d+")  # selectors compare numbers
_REPLICA: Final = re.compile(r"(.+)-(\d+)")


class Aliases:
    """Gives names their aliases.

    Args:
        names: All names that there are.
        compound: Names that somebody puts together of others with dashes in between,
            such as claims of StatefulSets: their parts.
        stems: Names that get a number behind a dash, such as those of StatefulSets.
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
        width = max(4, len(str(len(plain))))
        self._plain = {
            name: f"x{rank:0{width}}" for rank, name in enumerate(plain, start=1)
        }

    def of(self, name: str) -> str:
        """The alias of a name; itself if it may be known."""
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
    """The alias of a name of which the others are not known yet.

    Args:
        name: The name. One that ends with a number keeps that.
        key: What the alias is made with.
        compound: Names that are put together of others: their parts.
    """
    if name in _KEPT or _NUMBER.fullmatch(name):
        return name
    parts = compound.get(name)
    if parts is not None:
        return "-".join(hashed_alias(part, key, compound) for part in parts)
    match = _REPLICA.fullmatch(name)
    if match is not None:
        return f"{hashed_alias(match[1], key, compound)}-{match[2]}"
    digest = hashlib.blake2b(name.encode(), key=key, digest_size=6)
    return f"x{digest.hexdigest()}"
