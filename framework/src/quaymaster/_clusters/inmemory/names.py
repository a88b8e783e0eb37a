"""Names, uids and hashes, generated as upstream does but from a seed.

Mirrors ``pkg/util/rand`` (k8s.io/apimachinery v0.36), ``names/generate.go``
(k8s.io/apiserver v0.36) and ``pkg/util/hash`` (Kubernetes v1.36).
"""

import random
from typing import Final

__all__ = ["NameMaker", "limit_base", "safe_hash"]

# Upstream's alphabet: no vowels (so no words), no digits that look like letters.
_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH: Final = 5
_LETTERS: Final = float(len(_ALPHABET))
_MAX_BASE: Final = 63 - _SUFFIX_LENGTH
_FNV_OFFSET: Final = 2166136261
_FNV_PRIME: Final = 16777619


class NameMaker:
    """Generates the random parts of names, and uids; the same seed gives the same ones.

    Args:
        seed: The start of the sequence.
    """

    __slots__ = ("_count", "_noted", "_prefix", "_random")

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random
        self._count = 0
        self._noted: set[str] = set()
        # The form of a random uid (version 4), with the seed in front: clusters with
        # different seeds share no uids.
        self._prefix = f"{seed & 0xFFFFFFFF:08x}-0000-4000-8000-"

    def uid(self) -> str:
        """Return a uid that this maker has not returned before."""
        while True:
            self._count += 1
            uid = f"{self._prefix}{self._count:012x}"
            if uid not in self._noted:
                return uid

    def note(self, uid: str) -> None:
        """Record the uid of a loaded object, so that it is never generated again."""
        if uid.startswith(self._prefix):
            self._noted.add(uid)

    def has_made(self, uid: str) -> bool:
        """Return whether this maker generated a uid; others were loaded."""
        return uid.startswith(self._prefix) and uid not in self._noted

    def name(self, base: str) -> str:
        """Return ``base`` and five random characters, as for ``generateName``."""
        # The same numbers as `random.choices` draws, without its handling of weights;
        # `_SUFFIX_LENGTH` letters written out take two thirds of the time of a loop.
        letters, draw = _ALPHABET, self._random
        return (
            f"{base[:_MAX_BASE]}{letters[int(draw() * _LETTERS)]}"
            f"{letters[int(draw() * _LETTERS)]}{letters[int(draw() * _LETTERS)]}"
            f"{letters[int(draw() * _LETTERS)]}{letters[int(draw() * _LETTERS)]}"
        )


def limit_base(base: str, tail: str) -> str:
    """Return ``base`` and ``tail``, the base cut so that a suffix still fits."""
    return base[: _MAX_BASE - len(tail)] + tail


def safe_hash(data: bytes) -> str:
    """Return a short hash for names and labels: FNV-1a, in the alphabet of suffixes.

    Upstream hashes Go's dump of the template, so its hash of the same template differs.
    """
    value = _FNV_OFFSET
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFF
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(value))
