"""Records of cases about devices, made alike where products may differ."""

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
    """A record of a pod without the words of CEL and of API servers.

    Quantities are those of equal amount. With several nodes whose filter fails, any of
    their errors may be the pod's.
    """
    kept = {key: value for key, value in entry.items() if key not in _INFORMATIVE}
    if kept.get("errorNodes"):
        kept.pop("error", None)
    return {key: _alike(value) for key, value in kept.items()}


def _alike(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: {name: Quantity(text).nanos for name, text in one.items()}
            if key in _AMOUNTS and isinstance(one, dict)
            else _alike(one)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_alike(one) for one in value]
    if isinstance(value, str):
        for pattern in _TEXTS:
            value = pattern.sub(r"\1", value)
    return value
