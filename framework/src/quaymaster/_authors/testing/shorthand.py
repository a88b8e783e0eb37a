"""Parses the short forms of taints, tolerations, ports and selectors in makers."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from quaymaster._api.objects import (
    ContainerPort,
    LabelSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Taint,
    Time,
    Toleration,
)
from quaymaster._api.objects.quantity import Quantity, ResourceList

__all__ = [
    "Amounts",
    "Moment",
    "node_selector_term",
    "parse_host_port",
    "parse_taint",
    "parse_toleration",
    "to_label_selector",
    "to_resource_list",
    "to_time",
]

Amounts: TypeAlias = Mapping[str, str | int | float | Quantity]
"""Resource name -> amount, as in a manifest."""

Moment: TypeAlias = float | str
"""Seconds since the epoch, or an RFC 3339 text."""

_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_HOST_PORT: Final = re.compile(
    r"(?:(?P<ip>.+):)?(?P<port>\d+)(?:/(?P<protocol>[A-Z]+))?"
)


def parse_taint(text: str | Taint) -> Taint:
    """Read ``key=value:Effect`` or ``key:Effect``, as ``kubectl taint`` does.

    Raises:
        ValueError: The text has neither form.
    """
    if isinstance(text, Taint):
        return text
    front, _, effect = text.rpartition(":")
    key, _, value = front.partition("=")
    if not key or effect not in _EFFECTS:
        raise ValueError(f"expected a taint such as key=value:NoSchedule, got {text!r}")
    return Taint(key=key, value=value, effect=effect)


def parse_toleration(text: str | Toleration) -> Toleration:
    """Read a toleration: the text of a taint, or a part of it.

    ``key=value:Effect`` and ``key=value`` tolerate that value, ``key:Effect`` and
    ``key`` every value, ``:Effect`` every taint of that effect and ``*`` every taint.

    Raises:
        ValueError: The text has none of these forms.
    """
    if isinstance(text, Toleration):
        return text
    if text == "*":
        return Toleration(operator="Exists")
    front, colon, effect = text.rpartition(":") if ":" in text else (text, "", "")
    key, equals, value = front.partition("=")
    if (colon and effect not in _EFFECTS) or (equals and not key) or not text:
        raise ValueError(
            f"expected a toleration such as key=value:NoSchedule or key, got {text!r}"
        )
    return Toleration(
        key=key, operator="Equal" if equals else "Exists", value=value, effect=effect
    )


def parse_host_port(text: int | str | ContainerPort) -> ContainerPort:
    """Read ``8080``, ``8080/UDP`` or ``10.0.0.1:8080/TCP``.

    Raises:
        ValueError: The text has none of these forms.
    """
    if isinstance(text, ContainerPort):
        return text
    match = _HOST_PORT.fullmatch(str(text))
    if match is None:
        raise ValueError(f"expected a host port such as 8080/TCP, got {text!r}")
    port = int(match["port"])
    return ContainerPort(
        host_ip=match["ip"] or "",
        host_port=port,
        container_port=port,
        protocol=match["protocol"] or "TCP",
    )


def to_label_selector(
    selector: LabelSelector | Mapping[str, str] | None,
) -> LabelSelector | None:
    """Make a label selector from the labels that objects must have."""
    if selector is None or isinstance(selector, LabelSelector):
        return selector
    return LabelSelector(match_labels=dict(selector))


def node_selector_term(
    labels: NodeSelectorTerm | Mapping[str, str | Sequence[str]],
) -> NodeSelectorTerm:
    """Make a term that requires one of some values for each label."""
    if isinstance(labels, NodeSelectorTerm):
        return labels
    return NodeSelectorTerm(
        match_expressions=tuple(
            NodeSelectorRequirement(
                key=key,
                operator="In",
                values=(values,) if isinstance(values, str) else tuple(values),
            )
            for key, values in labels.items()
        )
    )


def to_resource_list(amounts: Amounts | None) -> ResourceList:
    """Parse amounts as in a manifest into exact quantities.

    Raises:
        QuantityError: An amount is not a quantity.
    """
    return {name: Quantity(amount) for name, amount in (amounts or {}).items()}


def to_time(moment: Moment | None) -> Time | None:
    """Make a time from seconds or from a text.

    Raises:
        TimeError: The text is not a time.
    """
    if moment is None:
        return None
    return Time.parse(moment) if isinstance(moment, str) else Time(moment)
