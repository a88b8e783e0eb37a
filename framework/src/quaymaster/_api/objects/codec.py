"""Converts texts and numbers of JSON to values, and back."""

from typing import Final

import msgspec

from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.time import Time
from quaymaster._base.errors import QuantityError, TimeError

__all__ = ["ENCODER", "dec_hook", "enc_hook"]


def dec_hook(cls: type, value: object) -> object:
    """Read types that msgspec lacks; it turns a ValueError into its ValidationError."""
    if cls is Quantity:
        if isinstance(value, str | int | float):
            return Quantity(value)
        raise QuantityError(value)
    if cls is object:  # a part that no code reads
        return value
    if issubclass(cls, Time):
        if isinstance(value, str):
            return cls.parse(value)
        raise TimeError(value)
    raise TypeError(f"no wire form for {cls}")


def enc_hook(value: object) -> str:
    """Write types that msgspec lacks."""
    if isinstance(value, Quantity | Time):
        return str(value)
    raise TypeError(f"no wire form for {type(value)}")


ENCODER: Final = msgspec.json.Encoder(enc_hook=enc_hook, order="deterministic")
"""Equal objects have equal bytes."""
