"""Conditions on the domains of a topology that every plan must meet.

A domain is a value of a label of nodes: a zone, a rack, or a host. Where pods may not
share one, or must be spread evenly over all of them, a plan needs enough domains, and
enough room in each:

- Anti-affinity: each domain has one of the pods that required anti-affinity keeps
apart. Nodes without the label accept any number. - Spreading: if all pods that a
``DoNotSchedule`` constraint counts have it themselves, the fullest domain has at most
``maxSkew`` pods more than the emptiest one in the end. So of ``n`` pods in ``D``
domains, each has ``(n - (D - 1) maxSkew) / D`` at least and ``(n + (D - 1) maxSkew) /
D`` at most; while there are fewer domains than ``minDomains``, each has ``maxSkew`` at
most. That holds for pods that no plugin preempts, that may run on every node, and that
have no node in the input.

Unlike a `Need`, such a condition is not a sum over nodes, so it is checked for each
plan.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Protocol

import attrs

from quaymaster._api.objects import (
    Node,
    Pod,
    PodAffinityTerm,
    TopologySpreadConstraint,
)
from quaymaster._api.objects.codec import ENCODER
from quaymaster._api.objects.selectors import compile_label_selector
from quaymaster._studies.planning.amounts import requested
from quaymaster._studies.planning.demand import Demand, PodDemand
from quaymaster._studies.planning.enforcement import APART, EVEN, HOST
from quaymaster._studies.planning.question import BASIC, Counts, Question
from quaymaster._studies.planning.shapes import Shapes

__all__ = ["DomainRule", "excluding_terms", "families", "find_rules"]


class DomainRule(Protocol):
    """A condition on the domains of the nodes of a plan."""

    @property
    def of(self) -> str:
        """What is needed, for people."""

    @property
    def lasts(self) -> bool:
        """Whether it must hold after a loss, too."""

    @property
    def grows(self) -> bool:
        """Whether a plan that meets it still meets it with more nodes."""

    def is_met(self, counts: Counts, lost_zone: str = "") -> bool:
        """Whether a plan meets it.

        Args:
            counts: The plan.
            lost_zone: The zone whose nodes do not count, or an empty text.
        """

    def is_met_in_rounds(self, counts: Counts, lows: Counts) -> bool:
        """Whether a plan may meet it if its nodes are added in rounds.

        Args:
            counts: The plan.
            lows: The nodes that are there from the beginning at least.
        """


@attrs.frozen(kw_only=True)
class _Place:
    """Nodes that are equal for a rule.

    Attributes:
        zone: Their zone, or what else is lost at once.
        domain: Their value of the label; None if each is a domain of its own.
        room: How many pods one of them can have.
    """

    zone: str
    domain: str | None
    room: int


@attrs.frozen(kw_only=True)
class _Ground:
    """The places of the nodes of plans, for one rule.

    Attributes:
        existing: The nodes of the input.
        groups: For each group, the places of its nodes, which take turns; empty if the
            nodes are in no domain.
    """

    existing: Sequence[_Place]
    groups: Sequence[Sequence[_Place]]

    def of(self, counts: Counts, lost_zone: str) -> Iterator[tuple[_Place, int]]:
        """Return the places of a plan, each with its number of nodes."""
        for place in self.existing:
            if not lost_zone or place.zone != lost_zone:
                yield place, 1
        for places, count in zip(self.groups, counts, strict=True):
            # A group without places has no nodes in any domain, and ``divmod`` by 0
            # would fail.
            whole, rest = divmod(count, len(places) or 1)
            for index, place in enumerate(places):
                nodes = whole + (index < rest)
                if nodes and (not lost_zone or place.zone != lost_zone):
                    yield place, nodes


@attrs.frozen(kw_only=True)
class _Apart:
    """Pods that may not share a domain.

    Attributes:
        of: What is needed, for people.
        demand: How many pods there are.
        ground: The places of the nodes; the room of a place is that of its domain.
        lasts: Whether it must hold after a loss, too.
        grows: More domains never harm.
    """

    of: str
    demand: int
    ground: _Ground
    lasts: bool = True
    grows: bool = True

    def is_met(self, counts: Counts, lost_zone: str = "") -> bool:
        """Whether the plan has enough domains; see `DomainRule.is_met`."""
        rooms: dict[str | None, int] = {}
        for place, _ in self.ground.of(counts, lost_zone):
            # The rooms of places of one domain are not added: they share the domain.
            rooms[place.domain] = max(place.room, rooms.get(place.domain, 0))
        return sum(rooms.values()) >= self.demand

    def is_met_in_rounds(
        self,
        counts: Counts,
        lows: Counts,  # noqa: ARG002 - as `DomainRule` has it
    ) -> bool:
        """Return the same as `is_met`: pods stay apart, also from later ones."""
        return self.is_met(counts)


@attrs.frozen(kw_only=True)
class _Even:
    """Pods that are spread evenly.

    Attributes:
        of: What is needed, for people.
        demand: How many pods there are.
        skew: By how many the fullest domain may exceed the emptiest one.
        min_domains: With fewer domains, none has more pods than `skew`.
        ground: The places of the nodes.
        lasts: Whether it must hold after a loss, too. It need not, since the remaining
            pods do not move.
        grows: False, since a node in a new domain may require more pods than it has
            room for.
    """

    of: str
    demand: int
    skew: int
    min_domains: int
    ground: _Ground
    lasts: bool = False
    grows: bool = False

    def is_met(self, counts: Counts, lost_zone: str = "") -> bool:
        """Whether the domains have enough room; see `DomainRule.is_met`."""
        domains = self._domains(counts, lost_zone)
        number = sum(nodes for _, nodes in domains)
        # Without any domain, the pods cannot be placed at all, unless there are none.
        if not number:
            return not self.demand
        slack = (number - 1) * self.skew
        # If the fullest domain has m pods, each other one has m - skew at least: m *
        # number - slack <= demand. For the emptiest the same holds with the signs
        # changed.
        most = (self.demand + slack) // number
        # Floor division of a negative number, to round up.
        least = max(0, -((slack - self.demand) // number))
        # The emptiest domain then counts as one without pods.
        if number < self.min_domains:
            most, least = min(most, self.skew), 0
        if any(room < least for room, _ in domains):
            return False
        return sum(min(room, most) * nodes for room, nodes in domains) >= self.demand

    def is_met_in_rounds(self, counts: Counts, lows: Counts) -> bool:
        """Whether a plan may meet it in rounds; see `DomainRule.is_met_in_rounds`.

        A domain that comes later does not move the pods of the others, so the skew may
        be larger in the end. It is not if there are all domains from the beginning, or
        fewer than ``minDomains`` in the end. And no domain ever exceeds one that was
        there from the beginning by more, so the room of that limits the others.
        """
        domains = self._domains(counts)
        number = sum(nodes for _, nodes in domains)
        initial = self._initial_rooms(counts, lows)
        if number < self.min_domains or number == len(initial):
            return self.is_met(counts)
        most = self.skew + min(initial, default=self.demand)
        return sum(min(room, most) * nodes for room, nodes in domains) >= self.demand

    def _domains(self, counts: Counts, lost_zone: str = "") -> list[tuple[int, int]]:
        """Return the rooms of domains, each with the number of such domains."""
        rooms, alone = self._rooms(counts, lost_zone)
        return [(room, 1) for room in rooms.values()] + alone

    def _initial_rooms(self, counts: Counts, lows: Counts) -> list[int]:
        """Return the rooms in the end of the domains of the beginning."""
        rooms, _ = self._rooms(counts)
        named, alone = self._rooms(lows)
        return [rooms[domain] for domain in named] + [
            room for room, nodes in alone for _ in range(nodes)
        ]

    def _rooms(
        self, counts: Counts, lost_zone: str = ""
    ) -> tuple[Counter[str], list[tuple[int, int]]]:
        """Return the rooms of domains with names, and those of hosts with numbers."""
        rooms: Counter[str] = Counter()
        alone: list[tuple[int, int]] = []
        for place, nodes in self.ground.of(counts, lost_zone):
            if place.domain is None:
                alone.append((place.room, nodes))
            else:
                rooms[place.domain] += nodes * place.room
        return rooms, alone


def find_rules(question: Question, demand: Demand, shapes: Shapes) -> list[DomainRule]:
    """Find conditions on domains that every plan must meet."""
    return [
        *_apart_rules(question, demand, shapes),
        *_even_rules(question, demand, shapes),
    ]


def families(
    question: Question, demand: Demand
) -> Iterator[tuple[PodAffinityTerm, Sequence[PodDemand]]]:
    """Return the pods that a required anti-affinity keeps apart, with its term."""
    by_term: dict[Hashable, tuple[PodAffinityTerm, list[PodDemand]]] = {}
    for pod in demand.demands:
        if not question.enforces(pod.pod, APART):
            continue
        for term in excluding_terms(pod.pod):
            key = (pod.pod.namespace, ENCODER.encode(term))
            by_term.setdefault(key, (term, []))[1].append(pod)
    yield from by_term.values()


def excluding_terms(pod: Pod) -> Iterator[PodAffinityTerm]:
    """Return the terms that keep equal pods apart."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return
    required = (
        affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
    )
    for term in required:
        means_own = pod.namespace in term.namespaces or not (
            term.namespaces or term.namespace_selector is not None
        )
        # Label keys make one term mean different pods, so their number is not known.
        by_keys = term.match_label_keys or term.mismatch_label_keys
        selector = compile_label_selector(term.label_selector)
        if means_own and not by_keys and selector.matches(pod.labels):
            yield term


def _apart_rules(
    question: Question, demand: Demand, shapes: Shapes
) -> Iterator[DomainRule]:
    for term, demands in families(question, demand):
        key = term.topology_key
        samples = [group.samples() for group in question.groups]
        labelled = [node for nodes in (*samples, demand.nodes) for node in nodes]
        # Hosts are a `Need`: each node is a domain of its own, so a sum is enough.
        if key == HOST or not all(key in node.labels for node in labelled):
            continue
        takers = _takers(demands, shapes)
        domains = {node.name: node.labels[key] for node in demand.nodes}
        came: Counter[str] = Counter()
        for pod in demands:
            if pod.node:
                came[domains[pod.node]] += pod.count
        number = sum(pod.count for pod in demands)
        pods = f"{number} pods such as {demands[0].pod.key}"
        yield _Apart(
            of=f"{pods} may not share a value of {key}",
            demand=number,
            ground=_Ground(
                existing=[
                    _Place(
                        zone=question.lost_with(node),
                        domain=domains[node.name],
                        # Pods that came with the node may break the rule already.
                        room=max(1, came[domains[node.name]]),
                    )
                    for node in demand.nodes
                ],
                groups=[
                    [
                        _Place(
                            zone=question.lost_with(node),
                            domain=node.labels[key],
                            room=int(index in takers),
                        )
                        for node in nodes
                    ]
                    for index, nodes in enumerate(samples)
                ],
            ),
        )


def _even_rules(
    question: Question, demand: Demand, shapes: Shapes
) -> Iterator[DomainRule]:
    spread: dict[Hashable, list[PodDemand]] = defaultdict(list)
    constraints: dict[Hashable, TopologySpreadConstraint] = {}
    for pod in demand.demands:
        constraint = _constraint(pod.pod)
        if constraint is not None and question.enforces(pod.pod, EVEN):
            key = (pod.pod.namespace, ENCODER.encode(constraint))
            spread[key].append(pod)
            constraints[key] = constraint
    for family, demands in spread.items():
        if _is_ruled_alone(constraints[family], demands, demand):
            yield _even(constraints[family], demands, question, demand, shapes)


def _constraint(pod: Pod) -> TopologySpreadConstraint | None:
    """Return the constraint that spreads a pod, if it is all that limits its nodes."""
    spec = pod.spec
    hard = [
        topology_spread_constraint
        for topology_spread_constraint in spec.topology_spread_constraints
        if topology_spread_constraint.when_unsatisfiable == "DoNotSchedule"
    ]
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity
        else None
    )
    # A pod that is limited to some nodes leaves domains out, by rules that this
    # condition does not repeat.
    is_held = bool(spec.node_selector) or required is not None
    if len(hard) != 1 or is_held or hard[0].match_label_keys:
        return None
    # The default ignores taints; otherwise nodes with taints do not count as domains.
    if hard[0].node_taints_policy not in (None, "Ignore"):
        return None
    return hard[0]


def _is_ruled_alone(
    constraint: TopologySpreadConstraint, demands: Sequence[PodDemand], demand: Demand
) -> bool:
    """Whether all counted pods have the constraint from the beginning."""
    pods = {id(pod.pod) for pod in demands}
    namespace = demands[0].pod.namespace
    priority = min(pod.pod.priority for pod in demands)
    selector = compile_label_selector(constraint.label_selector)
    everybody = [
        *(pod.pod for pod in demand.demands),
        *(pod for tied in demand.tied.values() for pod in tied),
        *demand.others,
    ]
    return (
        not demand.updates
        and not any(pod.node for pod in demands)
        and all(selector.matches(pod.pod.labels) for pod in demands)
        # A pod with a higher priority may preempt, and then the counts change.
        and all(pod.node_name or pod.priority <= priority for pod in everybody)
        and not any(
            # Identity: the pods are the same objects as in the demand.
            id(pod) not in pods
            and pod.namespace == namespace
            and selector.matches(pod.labels)
            for pod in everybody
        )
        and not any(
            daemon_set.namespace == namespace
            and selector.matches(daemon_set.spec.template.metadata.labels)
            for daemon_set in demand.daemon_sets
        )
    )


def _even(
    constraint: TopologySpreadConstraint,
    demands: Sequence[PodDemand],
    question: Question,
    demand: Demand,
    shapes: Shapes,
) -> _Even:
    key = constraint.topology_key
    least = _least_requests(demands, question)
    number = sum(pod.count for pod in demands)
    takers = _takers(demands, shapes)

    def places(node: Node, room: int) -> list[_Place]:
        if key not in node.labels and key != HOST:
            return []
        # A hostname equal to the node's name is a domain of its own.
        domain = node.labels.get(key)
        is_own = key == HOST and domain in (None, node.name)
        domain = None if is_own else domain
        return [_Place(zone=question.lost_with(node), domain=domain, room=room)]

    def room_of(has: Iterable[tuple[int, int]]) -> int:
        return min((have // size for have, size in has), default=number)

    groups = []
    for index, group in enumerate(question.groups):
        shape = shapes.shapes[index]
        # The least request counts, so the room is never underestimated: a condition
        # must not refute what works.
        room = room_of((shape.room(name), size) for name, size in least.items())
        room = room if index in takers else 0
        groups.append(
            [place for node in group.samples() for place in places(node, room)]
        )
    existing = []
    for node, free in zip(demand.nodes, demand.rooms(question), strict=True):
        room = room_of((free.get(name, 0), size) for name, size in least.items())
        existing += places(node, room)
    return _Even(
        of=f"room in each {key} for its part of {number} pods such as "
        f"{demands[0].pod.key}",
        demand=number,
        skew=constraint.max_skew,
        min_domains=constraint.min_domains or 1,
        ground=_Ground(existing=existing, groups=groups),
    )


def _least_requests(demands: Sequence[PodDemand], question: Question) -> dict[str, int]:
    """Return the least that any of some pods requests, by resource."""
    if not all(question.enforces_room(pod.pod) for pod in demands):
        return {}
    requests = [requested(pod.pod) for pod in demands]
    least = {name: min(request.get(name, 0) for request in requests) for name in BASIC}
    return {name: size for name, size in least.items() if size}


def _takers(demands: Sequence[PodDemand], shapes: Shapes) -> frozenset[int]:
    """Return the groups that may be able to run some of the pods."""
    return frozenset().union(*(shapes.takers(pod.pod) for pod in demands))
