"""Formats amounts of resources for people."""

from decimal import Decimal
from typing import Final

from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.resource_names import (
    CPU,
    EPHEMERAL_STORAGE,
    HUGE_PAGES,
    MEMORY,
)

__all__ = ["amount", "percent", "plain_amount", "price"]

_UNITS: Final = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_KIBI: Final = 1024


def amount(resource: str, number: int) -> str:
    """Write an amount: ``1500m`` of CPU, ``1.5Gi`` of memory, ``2`` of other resources.

    Args:
        resource: The name of the resource.
        number: Millicores, bytes, or a plain number.
    """
    if resource == CPU:
        return str(Quantity.from_milli(number))
    if resource in (MEMORY, EPHEMERAL_STORAGE) or resource.startswith(HUGE_PAGES):
        return _bytes(number)
    return str(number)


def percent(part: float) -> str:
    """Format a fraction as ``37%``; a small fraction above 0 is ``<1%``."""
    return "<1%" if 0 < part < 0.01 else f"{part:.0%}"


def price(number: float | None) -> str:
    """Format a price per hour; ``-`` if it is unknown."""
    return "-" if number is None else f"{number:.10g}"


def plain_amount(number: Decimal | None) -> str:
    """Format an exact amount without an exponent; ``-`` if it is unknown."""
    return "-" if number is None else f"{number.normalize():f}"


def _bytes(number: int) -> str:
    size, unit = float(number), ""
    for larger in _UNITS:
        if size < _KIBI:
            break
        size, unit = size / _KIBI, larger
    return f"{size:.1f}".removesuffix(".0") + unit
