"""Groups of nodes that may be bought, and how they are described in words."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.inmemory.nodes_spec import NodesSpecError, make_nodes
from quaymaster._studies.capacity.prices import Prices, price_of_text

__all__ = [
    "MOST_NODES",
    "NodeGroup",
    "NodeGroupError",
    "parse_node_group",
    "priced",
    "with_names_of_their_own",
]

MOST_NODES: Final = 5_000
"""The most nodes of a group that has no ``max``: what Kubernetes supports at all."""

_ZONE: Final = "topology.kubernetes.io/zone"
_COUNT: Final = re.compile(r"[0-9]{1,6}", re.ASCII)
_DEFAULT_NAME: Final = "node"
_HIGHEST_PRICE: Final = 10**9
_DIGITS: Final = 9
"""Prices are rounded to so many digits behind the point."""


class NodeGroupError(QuaymasterError, ValueError):
    """A group of nodes that cannot be read, or does not go with the others.

    Attributes:
        where: The group: its line, or its file and place.
        problem: What is wrong with it.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem


@attrs.frozen(kw_only=True)
class NodeGroup:
    """Nodes of one shape, of which a plan may take some.

    Attributes:
        name: What the nodes' names begin with.
        shape: What each node has, as `quaymaster.inmemory.make_nodes` reads it behind
            the count: ``cpu=4,memory=16Gi,zones=3``.
        price: The price of a node, in any unit; None if it is unknown.
        min_nodes: How many nodes a plan has at least.
        max_nodes: How many it may have.
        where: What messages call the group.
    """

    name: str = _DEFAULT_NAME
    shape: str
    price: Decimal | None = None
    min_nodes: int = 0
    max_nodes: int = MOST_NODES
    where: str = attrs.field(default="", eq=False)

    def spec(self, count: int) -> str:
        """Return the line that makes some nodes of the group, for ``--nodes``."""
        return f"{count}:name={self.name},{self.shape}"

    def samples(self) -> list[Node]:
        """Make one node for each zone of the group, or one if it has no zones.

        Raises:
            NodeGroupError: The shape cannot be read.
        """
        [first] = self._made(1)
        zones = _setting(self.shape, "zones")
        return self._made(int(zones)) if zones else [first]

    def zones(self) -> tuple[str, ...]:
        """Return the zones that its nodes lie in by turns; ``("",)`` for no zone."""
        return tuple(node.labels.get(_ZONE, "") for node in self.samples())

    def _made(self, count: int) -> list[Node]:
        try:
            return make_nodes([self.spec(count)])
        except NodesSpecError as error:
            raise NodeGroupError(self.where, error.problem) from error


def parse_node_group(spec: str, where: str | None = None) -> NodeGroup:
    """Read a group of nodes from a line such as ``name=big,cpu=16,memory=64Gi,max=20``.

    The line has what `quaymaster.inmemory.make_nodes` reads behind the count, and
    ``price`` (of one node, in any unit), ``min`` and ``max`` (how many nodes).

    Args:
        spec: The line.
        where: What messages call it; by default, ``node group`` and the line.

    Raises:
        NodeGroupError: It cannot be read.
    """
    place = f"node group {spec!r}" if where is None else where
    own, shape = _divided(spec, place)
    low, high = (_count(own.get(key), key, place) for key in ("min", "max"))
    group = NodeGroup(
        name=own.get("name", _DEFAULT_NAME),
        shape=",".join(shape),
        price=_price(own.get("price"), place),
        min_nodes=low or 0,
        max_nodes=MOST_NODES if high is None else high,
        where=place,
    )
    if group.max_nodes < group.min_nodes:
        expected = f"expected at least min, which is {group.min_nodes}"
        raise NodeGroupError(place, f"max: {expected}, got {group.max_nodes}")
    group.samples()
    return group


def with_names_of_their_own(groups: Iterable[NodeGroup]) -> Sequence[NodeGroup]:
    """Return the groups, none of which has the name of another.

    Raises:
        NodeGroupError: There is no group, or two have one name.
    """
    found: dict[str, NodeGroup] = {}
    for group in groups:
        if group.name in found:
            problem = f"name: expected another one than {group.name!r}, which is taken"
            raise NodeGroupError(group.where, f"{problem} by {found[group.name].where}")
        found[group.name] = group
    if not found:
        raise NodeGroupError("node groups", "expected at least one, got none")
    return tuple(found.values())


def priced(groups: Sequence[NodeGroup], prices: Prices) -> Sequence[NodeGroup]:
    """Give the groups that have no price the one of their instance type.

    Raises:
        NodeGroupError: Some groups have a price then, and others have none.
    """
    found = [_with_price(group, prices) for group in groups]
    without = [group for group in found if group.price is None]
    if without and len(without) < len(found):
        raise NodeGroupError(
            without[0].where, "price: expected one, as other groups have one; got none"
        )
    return found


def _with_price(group: NodeGroup, prices: Prices) -> NodeGroup:
    if group.price is not None:
        return group
    price = prices.of(group.samples()[0])
    if price is None:
        return group
    return attrs.evolve(group, price=_price(str(price), group.where))


def _divided(spec: str, where: str) -> tuple[dict[str, str], list[str]]:
    """Separate the settings of the group from those of its nodes."""
    own: dict[str, str] = {}
    shape = []
    for setting in spec.split(","):
        key, _, value = (part.strip() for part in setting.partition("="))
        if key not in ("name", "price", "min", "max"):
            shape.append(setting.strip())
        elif key in own:
            raise NodeGroupError(where, f"{key}: expected once, came twice")
        else:
            own[key] = value
    return own, shape


def _count(text: str | None, key: str, where: str) -> int | None:
    if text is None:
        return None
    if not _COUNT.fullmatch(text):
        problem = f"{key}: expected a number of nodes, at most 999999, got {text!r}"
        raise NodeGroupError(where, problem)
    return int(text)


def _price(text: str | None, where: str) -> Decimal | None:
    if text is None:
        return None
    price = price_of_text(text)
    if price is None or price > _HIGHEST_PRICE:
        problem = f"price: expected an amount such as 0.40, got {text!r}"
        raise NodeGroupError(where, problem)
    return _rounded(Decimal(text))


def _rounded(price: Decimal) -> Decimal:
    return round(price, _DIGITS).normalize() + Decimal(0)


def _setting(shape: str, name: str) -> str:
    for setting in shape.split(","):
        key, _, value = (part.strip() for part in setting.partition("="))
        if key == name:
            return value
    return ""
