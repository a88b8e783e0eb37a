"""Conditions that every plan must meet, independent of the scheduler's choices.

Each compares sums: what all pods need of something is at most what all nodes have of
it. No condition proves that a plan works. Each proves that some plans do not, so the
cheapest plan that meets all of them is a lower bound. They follow from three rules, and
hold only for pods whose profile enforces these rules:

- On a node, the requests of pods that run without end do not exceed what it offers,
except for pods that came with the node. That is counted by resource, and by how many
pods of at least one size a node can hold. - Two pods with the same host port are on
different nodes. - So are two pods that may not share a host, a zone or another domain.

The limits of utilisation are conditions of the same form.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import DeviceClass, Node, Pod
from quaymaster._studies.planning.amounts import Amounts, offered, requested, total
from quaymaster._studies.planning.demand import Demand, PodDemand
from quaymaster._studies.planning.domains import families
from quaymaster._studies.planning.enforcement import HOST, PORTS, RoomFor
from quaymaster._studies.planning.question import BASIC, Counts, Question
from quaymaster._studies.planning.shapes import Shape, Shapes, wildcard_ports

__all__ = ["Need", "find_needs"]

_SIZES: Final = 24
"""How many sizes of pods are used per resource: the largest ones."""
_UNIONS: Final = 6
"""The number of kinds of pods of which all unions are used."""


@attrs.frozen(kw_only=True)
class Need:
    """The amount of one thing that pods need, and that nodes have.

    Attributes:
        of: The thing, for people.
        demand: What all pods need.
        existing: What each node of the input has.
        capacity: What a node of each group has.
        lasts: Whether it must hold after a loss, too.
    """

    of: str
    demand: int
    existing: tuple[int, ...]
    capacity: tuple[int, ...]
    lasts: bool = True

    @property
    def missing(self) -> int:
        """The amount that the nodes of the input lack."""
        return self.demand - sum(self.existing)

    def is_met(self, counts: Counts) -> bool:
        """Whether the nodes of a plan have enough."""
        have = sum(n * each for n, each in zip(counts, self.capacity, strict=True))
        return have >= self.missing


def find_needs(question: Question, demand: Demand, shapes: Shapes) -> list[Need]:
    """Find conditions that every plan must meet, except those that all plans meet."""
    makers = (_fit_needs, _port_needs, _affinity_needs, _utilization_needs)
    needs = (need for maker in makers for need in maker(question, demand, shapes))
    seen = {
        (need.demand, need.existing, need.capacity, need.lasts): need
        for need in needs
        # A need that the input meets can still fail after a loss.
        if need.missing > 0 or (need.lasts and question.loss is not None)
    }
    return list(seen.values())


@attrs.frozen
class _Batch:
    """Pods with the same requests and the same node in the input, if any."""

    amounts: Amounts
    takers: frozenset[int]
    node: str
    count: int


def _fit_needs(question: Question, demand: Demand, shapes: Shapes) -> Iterator[Need]:
    batches = _batches(question, demand, shapes)
    free = demand.rooms(question)
    counted = _counted(question, demand)
    for groups in _families({batch.takers for batch in batches}):
        # Only pods that no other group can take: others could go elsewhere.
        pods = [batch for batch in batches if batch.takers <= groups]
        for name in sorted({name for batch in pods for name in batch.amounts}):
            if name not in counted:
                continue
            rooms = [
                shape.room(name) if index in groups else 0
                for index, shape in enumerate(shapes.shapes)
            ]
            there = [each.get(name, 0) for each in free]
            sizes = [(batch, batch.amounts.get(name, 0)) for batch in pods]
            yield _need(name, sizes, rooms, there, demand.nodes)
            # Counting pods of at least one size refutes where the sum does not: two
            # pods of 60 % do not share a node.
            for least in _sizes(sizes, [*rooms, *there]):
                yield _need(
                    f"{name}, in pods of {least} and more",
                    [(batch, 1) for batch, size in sizes if size >= least],
                    [room // least for room in rooms],
                    [room // least for room in there],
                    demand.nodes,
                )


def _batches(question: Question, demand: Demand, shapes: Shapes) -> list[_Batch]:
    counts: Counter[tuple[tuple[tuple[str, int], ...], frozenset[int], str]] = Counter()
    for pod in demand.demands:
        if question.enforces_room(pod.pod):
            amounts = tuple(sorted(requested(pod.pod).items()))
            counts[amounts, shapes.takers(pod.pod), pod.node] += pod.count
    return [
        _Batch(dict(amounts), takers, node, count)
        for (amounts, takers, node), count in counts.items()
    ]


def _need(
    of: str,
    values: Iterable[tuple[_Batch, int]],
    rooms: Sequence[int],
    there: Sequence[int],
    nodes: Sequence[Node],
) -> Need:
    """Add what pods need; pods of an overcommitted node may stay there."""
    demand = 0
    came: Counter[str] = Counter()
    for batch, value in values:
        demand += batch.count * value
        if batch.node:
            came[batch.node] += batch.count * value
    return Need(
        of=of,
        demand=demand,
        existing=tuple(
            # The pods that came with an overcommitted node may stay there.
            max(room, came[node.name])
            for node, room in zip(nodes, there, strict=True)
        ),
        capacity=tuple(rooms),
    )


def _families(kinds: Collection[frozenset[int]]) -> Sequence[frozenset[int]]:
    """Return the sets of groups that some kinds of pods are limited to.

    Pods that only a few groups can take need room in these.
    """
    families = {*kinds, frozenset().union(*kinds)}
    # All unions would be 2**n; beyond six kinds, only the kinds themselves are used.
    if len(kinds) <= _UNIONS:
        for kind in kinds:
            families |= {kind | other for other in families}
    return sorted(families, key=sorted)


def _sizes(sizes: Iterable[tuple[_Batch, int]], rooms: Sequence[int]) -> Sequence[int]:
    """Return the sizes of which a node holds so few that counting refutes more."""
    largest = max(rooms, default=0)
    # The largest sizes, since small pods fill up what is left anyway.
    return sorted({size for _, size in sizes if 0 < size <= largest})[-_SIZES:]


def _counted(question: Question, demand: Demand) -> frozenset[str]:
    """Return the resources that pods need room for.

    Other resources may be handled by extenders or devices, or not at all.
    """
    asking: dict[str, set[str]] = defaultdict(set)
    samples: dict[str, Pod] = {}
    for pod in demand.demands:
        profile = pod.pod.spec.scheduler_name
        samples[profile] = pod.pod
        for name in requested(pod.pod):
            asking[name].add(profile)
    others = asking.keys() - BASIC
    # An extender may handle any resource, and devices back resources without a node's
    # offer.
    if question.config.extenders or any(
        isinstance(obj, DeviceClass) for obj in question.objects
    ):
        others = set()
    return frozenset(BASIC) | {
        name
        for name in others
        if all(
            question.enforces(samples[profile], RoomFor(name))
            for profile in asking[name]
        )
    }


def _port_needs(question: Question, demand: Demand, shapes: Shapes) -> Iterator[Need]:
    using: dict[tuple[str, int], list[PodDemand]] = defaultdict(list)
    for pod in demand.demands:
        if question.enforces(pod.pod, PORTS):
            for port in set(wildcard_ports(pod.pod)):
                using[port].append(pod)
    for port, demands in using.items():
        free = [int(port not in shape.ports) for shape in shapes.shapes]
        protocol, number = port
        yield _apart(f"host port {number}/{protocol}", demands, free, demand, shapes)


def _affinity_needs(
    question: Question, demand: Demand, shapes: Shapes
) -> Iterator[Need]:
    samples = [node for group in question.groups for node in group.samples()]
    nodes = [*samples, *demand.nodes]
    anywhere = [1] * len(shapes.shapes)
    for term, demands in families(question, demand):
        key = term.topology_key
        if key != HOST and not all(key in node.labels for node in nodes):
            continue
        of = f"nodes without {demands[0].pod.key} and its like"
        yield _apart(of, demands, anywhere, demand, shapes)


def _apart(
    of: str,
    demands: Sequence[PodDemand],
    free: Sequence[int],
    demand: Demand,
    shapes: Shapes,
) -> Need:
    """Require that no two of the pods share a node."""
    groups = frozenset().union(*(shapes.takers(pod.pod) for pod in demands))
    came = Counter(pod.node for pod in demands if pod.node)
    return Need(
        of=of,
        demand=sum(pod.count for pod in demands),
        existing=tuple(
            max(int(node.name not in demand.shut), came[node.name])
            for node in demand.nodes
        ),
        capacity=tuple(
            each if index in groups else 0 for index, each in enumerate(free)
        ),
    )


def _utilization_needs(
    question: Question, demand: Demand, shapes: Shapes
) -> Iterator[Need]:
    """Require that requests are at most a part of the offer, in whole numbers."""
    demands = total(
        {name: pod.count * amount for name, amount in requested(pod.pod).items()}
        for pod in demand.demands
        if pod.node not in question.closed
    )
    nodes = [node for node in demand.nodes if node.name not in question.closed]
    tied = total(
        requested(pod) for node in nodes for pod in demand.tied.get(node.name, ())
    )
    for name, most in question.max_utilization.items():
        part, whole = most.numerator, most.denominator
        yield Need(
            of=f"{name}, of which at most {float(most):.0%} may be requested",
            # Both sides are multiplied by the denominator, to stay with whole numbers.
            demand=whole * (demands.get(name, 0) + tied.get(name, 0)),
            existing=tuple(
                0 if node.name in question.closed else part * offered(node).get(name, 0)
                for node in demand.nodes
            ),
            capacity=tuple(_spare(shape, name, part, whole) for shape in shapes.shapes),
            lasts=False,
        )


def _spare(shape: Shape, name: str, part: int, whole: int) -> int:
    offer, taken = shape.offered.get(name, 0), shape.taken.get(name, 0)
    return max(0, part * offer - whole * taken)
