"""Rounds amounts as they are stored: to whole thousandths.

Mirrors ``SetDefaults_ResourceList`` (Kubernetes v1.36,
``pkg/apis/core/v1/defaults.go``), which every list of resources goes through.
"""

from typing import Final

from quaymaster._api.objects.quantity import Quantity, ResourceList

__all__ = ["round_amounts"]

_MILLI: Final = 10**6


def round_amounts(amounts: ResourceList) -> ResourceList:
    """Return the amounts, rounded up to whole thousandths."""
    if not any(amount.nanos % _MILLI for amount in amounts.values()):
        return amounts
    return {
        name: Quantity.from_milli(-(-amount.nanos // _MILLI))
        if amount.nanos % _MILLI
        else amount
        for name, amount in amounts.items()
    }
