"""Groups of nodes that a plan may use, and their descriptions."""

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
"""The most nodes of a group without ``max``: as many as Kubernetes supports."""

_ZONE: Final = "topology.kubernetes.io/zone"
_COUNT: Final = re.compile(r"[0-9]{1,6}", re.ASCII)
_DEFAULT_NAME: Final = "node"
_HIGHEST_PRICE: Final = 10**9
_DIGITS: Final = 9
"""The number of decimals of rounded prices."""


class NodeGroupError(QuaymasterError, ValueError):
    """A group of nodes that is invalid or conflicts with the others.

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
    """Nodes of one shape, of which a plan may use some.

    Attributes:
        name: The prefix of the nodes' names.
        shape: The shape of each node, as `quaymaster.inmemory.make_nodes` takes it
            after the count: ``cpu=4,memory=16Gi,zones=3``.
        price: The price of a node, in any unit; None if it is unknown.
        min_nodes: The fewest nodes of a plan.
        max_nodes: The most nodes of a plan.
        where: The name of the group in messages.
    """

    name: str = _DEFAULT_NAME
    shape: str
    price: Decimal | None = None
    min_nodes: int = 0
    max_nodes: int = MOST_NODES
    where: str = attrs.field(default="", eq=False)

    def spec(self, count: int) -> str:
        """Return the text for ``--nodes`` that makes some nodes of the group."""
        return f"{count}:name={self.name},{self.shape}"

    def samples(self) -> list[Node]:
        """Make one node for each zone of the group, or one if it has no zones.

        Raises:
            NodeGroupError: The shape is invalid.
        """
        [first] = self._made(1)
        zones = _setting(self.shape, "zones")
        return self._made(int(zones)) if zones else [first]

    def zones(self) -> tuple[str, ...]:
        """Return the zones of its nodes, which take turns; ``("",)`` without zones."""
        return tuple(node.labels.get(_ZONE, "") for node in self.samples())

    def _made(self, count: int) -> list[Node]:
        try:
            return make_nodes([self.spec(count)])
        except NodesSpecError as error:
            raise NodeGroupError(self.where, error.problem) from error


def parse_node_group(spec: str, where: str | None = None) -> NodeGroup:
    """Read a group of nodes from a line such as ``name=big,cpu=16,memory=64Gi,max=20``.

    The line has the settings that `quaymaster.inmemory.make_nodes` takes after the
    count, and ``price`` (of one node, in any unit), ``min`` and ``max`` (how many
    nodes).

    Args:
        spec: The line.
        where: Its name in messages; by default, ``node group`` and the line.

    Raises:
        NodeGroupError: The line is invalid.
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
    # Makes the nodes once, so that an invalid shape is reported at its line.
    group.samples()
    return group


def with_names_of_their_own(groups: Iterable[NodeGroup]) -> Sequence[NodeGroup]:
    """Return the groups with unique names.

    Raises:
        NodeGroupError: There is no group, or two groups have the same name.
    """
    by_name: dict[str, NodeGroup] = {}
    for group in groups:
        if group.name in by_name:
            problem = f"name: expected another one than {group.name!r}, which is taken"
            raise NodeGroupError(
                group.where, f"{problem} by {by_name[group.name].where}"
            )
        by_name[group.name] = group
    if not by_name:
        raise NodeGroupError("node groups", "expected at least one, got none")
    return tuple(by_name.values())


def priced(groups: Sequence[NodeGroup], prices: Prices) -> Sequence[NodeGroup]:
    """Give groups without a price the price of their instance type.

    Raises:
        NodeGroupError: Some groups have a price then, and others do not.
    """
    with_prices = [_with_price(group, prices) for group in groups]
    without = [group for group in with_prices if group.price is None]
    if without and len(without) < len(with_prices):
        raise NodeGroupError(
            without[0].where, "price: expected one, as other groups have one; got none"
        )
    return with_prices


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
