"""What may be lost while everything must still fit on the rest."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import ClassVar, Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._base.errors import counted
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._base.suggestions import did_you_mean
from quaymaster._clusters.inmemory.node_health import zone_of
from quaymaster._studies.capacity.grouping import label_called
from quaymaster._studies.planning.groups import NodeGroupError

__all__ = ["Loss", "LostNodes", "check_loss", "lost_sets", "untried_losses"]

_NODE: Final = "node"
_ZONE: Final = "zone"
_WHERE: Final = "tolerate loss"
_FORM: Final = re.compile(r"(?P<label>[^:\s]+)(:(?P<count>[1-9][0-9]{0,3}))?", re.ASCII)
_MOST_SETS: Final = 500
"""How many sets of several values are tried: those that move most pods."""


@attrs.frozen
class Loss:
    """What may be lost: any nodes, or all nodes of any values of a label.

    Attributes:
        label: ``node`` for nodes, or a label: ``zone``, another short name, or its key.
            All nodes with a value are lost together. Nodes without the label are not
            lost.
        count: How many nodes, or values, may be lost at the same time.
    """

    label: str
    count: int = 1

    NODE: ClassVar["Loss"]
    """Any one node."""

    ZONE: ClassVar["Loss"]
    """All nodes of any one zone at once."""

    @classmethod
    def parse(cls, text: str) -> "Loss":
        """Read a loss such as ``node``, ``zone``, ``rack`` or ``node:2``.

        Raises:
            NodeGroupError: The text is not a loss.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            expected = "expected node, zone or a label, and :N for several, such as"
            raise NodeGroupError(_WHERE, f"{expected} node:2, got {text!r}")
        return cls(match["label"], int(match["count"] or 1))

    def __str__(self) -> str:
        return self.label

    def value(self, node: Node) -> str:
        """Return what is lost together with a node; empty if it cannot be lost."""
        if self.label == _NODE:
            return node.name
        if self.label == _ZONE:
            return zone_of(node)
        return node.labels.get(label_called(self.label), "")


Loss.NODE = Loss(_NODE)
Loss.ZONE = Loss(_ZONE)


@attrs.frozen(kw_only=True)
class LostNodes:
    """Nodes that are lost together.

    Attributes:
        name: The node, or the value of the label; several are separated by commas.
        nodes: The names of the nodes.
    """

    name: str
    nodes: frozenset[str]


def check_loss(loss: Loss, nodes: Iterable[Node], groups: Iterable[Node]) -> None:
    """Check that something remains after a loss.

    Args:
        loss: The loss.
        nodes: The nodes of the input.
        groups: A node of each group, and of each of its zones.

    Raises:
        NodeGroupError: No node has the label, or there are too few values.
    """
    if loss.label == _NODE:
        return
    everything = [*nodes, *groups]
    values = sorted({loss.value(node) for node in everything} - {""})
    if not values:
        labels = {key for node in everything for key in node.labels}
        names = ", ".join(sorted(labels)) or "none"
        hint = did_you_mean(loss.label, labels)
        problem = f"expected a label of nodes ({names}), got {loss.label!r}{hint}"
        raise NodeGroupError(_WHERE, problem)
    # A node without a value always remains.
    if len(values) <= loss.count and all(map(loss.value, everything)):
        lost = "one" if loss.count == 1 else str(loss.count)
        problem = (
            f"{loss.label}: expected more values than may be lost, to survive the loss "
            f"of {lost}, got only {', '.join(values)}"
        )
        raise NodeGroupError(_WHERE, problem)


def lost_sets(
    loss: Loss, nodes: Iterable[Node], moving: Mapping[str, int]
) -> Sequence[LostNodes]:
    """Return the possible losses that move pods, those that move most pods first.

    Of several values at the same time, at most 500 sets are returned.

    Args:
        loss: The loss.
        nodes: All nodes.
        moving: Node -> how many of its pods need another node after its loss.
    """
    members: dict[str, list[str]] = defaultdict(list)
    pods: dict[str, int] = defaultdict(int)
    for node in nodes:
        if value := loss.value(node):
            members[value].append(node.name)
            pods[value] += moving.get(node.name, 0)
    values = sorted(members, key=lambda value: -pods[value])
    count = min(loss.count, len(values))
    sets = _sets(values, count)
    order = sorted(sets, key=lambda each: -sum(pods[value] for value in each))
    return [
        LostNodes(name=", ".join(each), nodes=_all_nodes(members, each))
        for each in order[: _MOST_SETS if count > 1 else None]
        if any(pods[value] for value in each)
    ]


def untried_losses(loss: Loss | None, nodes: Iterable[Node]) -> Iterator[Notice]:
    """Yield a notice if there are more possible losses than are tried."""
    if loss is None or loss.count < 2:
        return
    values = {loss.value(node) for node in nodes} - {""}
    number = comb(len(values), loss.count)
    if number > _MOST_SETS:
        of_label = f"{loss.count} values of {loss.label}"
        what = f"{loss.count} nodes" if loss.label == _NODE else of_label
        yield Notice(
            reason=NoticeReason.UNTRIED_LOSSES,
            message=f"of {counted(number, 'possible loss')} of {what}, only the "
            f"{_MOST_SETS} that move most pods were tried",
        )


def _sets(values: Sequence[str], count: int) -> Iterable[tuple[str, ...]]:
    """Return sets of values: all, or those of the values that move most pods."""
    if count < 2 or comb(len(values), count) <= _MOST_SETS:
        return combinations(values, count)
    numbers = range(count, len(values) + 1)
    enough = next(number for number in numbers if comb(number, count) >= _MOST_SETS)
    return combinations(values[:enough], count)


def _all_nodes(
    members: Mapping[str, Collection[str]], values: Iterable[str]
) -> frozenset[str]:
    return frozenset(name for value in values for name in members[value])
