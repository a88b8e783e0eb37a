"""Records about devices, without the parts in which products may differ."""

import re
from typing import Final

from quaymaster.objects import Quantity
from tests.parity.cases import Json

__all__ = ["comparable"]

_INFORMATIVE: Final = ("apiCalls",)
_TEXTS: Final = (
    re.compile(r"(CEL (?:compile|runtime) error).*", re.DOTALL),
    re.compile(r"(add (?:allocation and )?reservation to claim \S+: ).*", re.DOTALL),
)
_AMOUNTS: Final = ("consumedCapacity", "requests")


def comparable(entry: Json) -> Json:
    """Return a pod's record without the texts of CEL and of API servers.

    Quantities are replaced by their amounts. If the filter fails on several nodes, any
    of their errors may be the pod's.
    """
    kept = {key: value for key, value in entry.items() if key not in _INFORMATIVE}
    if kept.get("errorNodes"):
        kept.pop("error", None)
    return {key: _normalized(value) for key, value in kept.items()}


def _normalized(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: {name: Quantity(text).nanos for name, text in part.items()}
            if key in _AMOUNTS and isinstance(part, dict)
            else _normalized(part)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_normalized(part) for part in value]
    if isinstance(value, str):
        for pattern in _TEXTS:
            value = pattern.sub(r"\1", value)
    return value
