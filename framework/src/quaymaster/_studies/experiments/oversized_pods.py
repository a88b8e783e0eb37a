"""Finds the waiting pods that are larger than every node."""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.quantity import Quantity, QuantityFormat
from quaymaster._api.objects.resources import (
    Resources,
    node_allocatable,
    pod_requests,
)
from quaymaster._base.errors import counted

__all__ = ["oversized_warning"]

_ALWAYS: Final = ("cpu", "memory", "ephemeral-storage")


def oversized_warning(pods: Iterable[Pod], nodes: Iterable[Node]) -> str | None:
    """Return a warning about pods that no node can ever have, or None.

    Args:
        pods: The waiting pods.
        nodes: All nodes.
    """
    offers = [node_allocatable(node) for node in nodes]
    if not offers:
        return None
    first, number = "", 0
    for pod in pods:
        excess = _excess(pod_requests(pod), offers)
        if excess is None:
            continue
        number += 1
        first = first or f"pod {pod.key} can never start: {excess}"
    if number > 1:
        return f"{first}; {counted(number - 1, 'more pod')} as well"
    return first or None


def _excess(requests: Resources, offers: Sequence[Resources]) -> str | None:
    """Return which resource is requested in excess of what every node has."""
    for name in (*_ALWAYS, *requests.scalars):
        amount = requests.get(name)
        most = max(offer.get(name) for offer in offers)
        if amount > most:
            return (
                f"it requests {name} {_text(name, amount)}, "
                f"and no node has more than {_text(name, most)}"
            )
    return None


def _text(name: str, amount: int) -> str:
    if name == "cpu":
        return str(Quantity.from_milli(amount))
    if name in _ALWAYS:
        return str(Quantity.from_value(amount, QuantityFormat.BINARY_SI))
    return str(amount)
