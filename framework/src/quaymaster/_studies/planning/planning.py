"""`plan`: the fewest or cheapest nodes with which everything fits."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from time import monotonic
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.inmemory.node_health import zone_of
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.planning.amounts import offered
from quaymaster._studies.planning.demand import Demand, demand_of
from quaymaster._studies.planning.domains import find_rules
from quaymaster._studies.planning.estimates import Estimates
from quaymaster._studies.planning.groups import (
    NodeGroup,
    NodeGroupError,
    priced,
    with_names_of_their_own,
)
from quaymaster._studies.planning.needs import find_needs
from quaymaster._studies.planning.order import Order
from quaymaster._studies.planning.plans import Plan, PlannedGroup, PlannedRound
from quaymaster._studies.planning.question import Loss, Question, is_tied
from quaymaster._studies.planning.refutation import Refutation
from quaymaster._studies.planning.round_search import RoundSearch
from quaymaster._studies.planning.search import Search
from quaymaster._studies.planning.shapes import Shapes
from quaymaster._studies.planning.trials import Trial, Trials, utilization_of
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = ["plan"]

_MOST_TRIALS: Final = 500
_FEWEST_TRIALS: Final = 20
_CROWDED: Final = ", all of DaemonSets; a higher priority keeps room for such pods"
_PODS_TO_TRY: Final = 250_000
"""How many pods may be scheduled in all trials together, about."""


def plan(
    objects: Iterable[ApiObject],
    *,
    groups: Iterable[NodeGroup],
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    prices: Prices | None = None,
    max_utilization: Mapping[str, Fraction | float] | None = None,
    tolerate_loss: Loss | None = None,
    max_trials: int | None = None,
    in_rounds: bool = True,
    time_limit: float | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_better: Callable[[Plan], None] | None = None,
    max_pods: int = MAX_PODS,
    clock: Callable[[], float] = monotonic,
) -> Plan:
    """Find the cheapest nodes, or without prices the fewest, so that everything fits.

    A plan works if, in a simulation of the input with its nodes, no pod stays pending,
    no pod is preempted for good, and the limits hold. The best plan is the cheapest of
    these; at equal cost, one with the fewest nodes. Every plan is simulated. Conditions
    that every plan must meet only save simulations and give the bound.

    Args:
        objects: The input, as for `simulate`; its nodes exist already and cost nothing.
        groups: The groups whose nodes may be added.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: As for `simulate`.
        prices: Prices by instance type, for groups without a price.
        max_utilization: Resource -> the largest part of the total of all nodes,
            including those of the input, that pods may request in the end; 0.8 is 80%.
        tolerate_loss: What may be lost, one at a time, so that all its pods fit on the
            remaining nodes without moving other pods.
        max_trials: How many plans are tried at most; by default 20 to 500, by the
            number of pods.
        in_rounds: Whether the nodes may be bought in rounds, each for the pods that are
            still pending while placed pods stay. If not, all nodes are there from the
            beginning.
        time_limit: After how many seconds the search ends, with the best plan so far;
            the plan that is tried then is completed. With a limit, the answer depends
            on the speed of the machine.
        on_progress: Called now and then with how many plans were tried, and how many
            will be at most.
        on_better: Called with each plan that is better than those before; its bounds
            are not computed yet.
        max_pods: As for `simulate`.
        clock: Returns the time in seconds, for the time limit.

    Raises:
        AdmissionError: Some objects break rules, or ask for too many pods.
        NodeGroupError: The groups conflict, or no node has a resource with a limit.
        ProfileError: A profile's plugins cannot be built.
    """
    better = on_better or (lambda _plan: None)
    config, registry = with_defaults(config, registry)
    chosen = priced(with_names_of_their_own(groups), prices or Prices())
    question = Question(
        objects=list(objects),
        groups=chosen,
        config=config,
        registry=registry,
        seed=seed,
        max_pods=max_pods,
        max_utilization={
            name: Fraction(str(most)) for name, most in (max_utilization or {}).items()
        },
        loss=tolerate_loss,
    )
    cluster = question.cluster_of(question.objects)
    demand = demand_of(cluster)
    # Losses are simulated as well.
    pods = demand.pods if tolerate_loss is None else 2 * demand.pods
    budget = _budget(pods) if max_trials is None else max_trials
    report = on_progress or (lambda _tried, _most: None)
    late = math.inf if time_limit is None else clock() + time_limit
    trials = Trials(
        question,
        on_try=lambda tried: report(tried, max(budget, tried + 1)),
        on_better=lambda trial: better(_answer(question, trial)),
        is_late=lambda: clock() >= late,
    )
    trials.know(cluster)
    _check_zones(question, demand)
    _check_limits(question, demand)
    shapes = Shapes(question, [pod.pod for pod in demand.wanted if not pod.node])
    return (
        _hopeless(question, demand, shapes)
        or _useless(question, shapes)
        or _searched(question, demand, shapes, trials, budget, in_rounds)
    )


def _budget(pods: int) -> int:
    return max(_FEWEST_TRIALS, min(_MOST_TRIALS, _PODS_TO_TRY // max(1, pods)))


def _check_zones(question: Question, demand: Demand) -> None:
    """Raise an error if the only possible zone may be lost."""
    if question.loss is not Loss.ZONE:
        return
    zones = {zone_of(node) for node in demand.nodes}
    for group in question.groups:
        zones |= {*group.zones()} if group.max_nodes else set()
    if len(zones) < 2:
        got = f"only {zone}" if (zone := next(iter(zones), "")) else "none"
        raise NodeGroupError(
            question.groups[0].where,
            f"zones: expected at least two to survive the loss of one, got {got}",
        )


def _check_limits(question: Question, demand: Demand) -> None:
    """Raise an error for limits of resources that no node has: probably misspelt."""
    samples = (group.samples()[0] for group in question.groups)
    there = set().union(*(offered(node) for node in (*samples, *demand.nodes)))
    for name in question.max_utilization:
        if name not in there:
            expected = f"expected what nodes have ({', '.join(sorted(there))})"
            raise NodeGroupError("max utilization", f"{expected}, got {name!r}")


def _hopeless(question: Question, demand: Demand, shapes: Shapes) -> Plan | None:
    """Return a failed plan if some pods fit on no node of any group."""
    verdicts = (shapes.why_hopeless(pod.pod) for pod in demand.wanted if not pod.node)
    unplaced = tuple(verdict for verdict in verdicts if verdict is not None)
    if not unplaced:
        return None
    what = counted(len(unplaced), "pod")
    return _without_plan(question, f"no number of nodes helps {what}", unplaced)


def _useless(question: Question, shapes: Shapes) -> Plan | None:
    """Return a failed plan if a required node has no room for its DaemonSets."""
    for group, shape in zip(question.groups, shapes.shapes, strict=True):
        if shape.misfit is not None and group.min_nodes:
            what = f"{group.name}: min is {group.min_nodes}, but no node of it can run"
            obstacle = f"{what} what a DaemonSet puts on each"
            return _without_plan(question, obstacle, (shape.misfit,))
    return None


def _searched(
    question: Question,
    demand: Demand,
    shapes: Shapes,
    trials: Trials,
    budget: int,
    in_rounds: bool,
) -> Plan:
    needs = find_needs(question, demand, shapes)
    rules = find_rules(question, demand, shapes)
    lows = tuple(group.min_nodes for group in question.groups)
    highs = tuple(
        group.max_nodes if shape.misfit is None else 0
        for group, shape in zip(question.groups, shapes.shapes, strict=True)
    )
    for rule in rules:
        if rule.grows and not rule.is_met(highs):
            obstacle = f"no number of nodes helps: {rule.of}, of which there are fewer"
            return _without_plan(question, obstacle, ())
    scale = _Scale(question.groups, sum(highs) + 1)
    weights = [scale.weight(group) for group in question.groups]
    refutation = Refutation(question, needs, demand.nodes, rules, lows)
    rounds = RoundSearch(
        trials,
        Estimates(shapes, weights),
        refutation,
        weights,
        lows,
        highs,
        max(1, budget // 2),
    )
    found = Search(
        question,
        trials,
        shapes,
        refutation,
        Order(needs, weights, lows, highs),
        weights,
        lows,
        highs,
        budget,
        enough=2 * (demand.pods + len(demand.nodes) + sum(lows)) + 100,
        rounds=rounds if in_rounds else None,
    ).run()
    if found.trial is None:
        lack = refutation.lack(highs) or "what is needed after a loss"
        obstacle = f"no number of nodes helps: even the most have too little: {lack}"
        if not found.is_final:
            obstacle = "no plan that was tried works"
        failed = _without_plan(question, obstacle, ())
        return attrs.evolve(failed, is_final=found.is_final, tried=trials.number)
    answer = _answer(question, found.trial) if found.trial.fits else None
    return attrs.evolve(
        answer or _failed(question, found.trial),
        is_final=found.is_final,
        is_final_at_once=found.is_final_at_once,
        has_looked_at_rounds=in_rounds,
        lower_bound=scale.value(found.bound),
        lower_bound_in_rounds=scale.value(found.bound_in_rounds),
        tried=trials.number,
    )


class _Scale:
    """Weighs nodes in whole numbers: first by price, then by number.

    Args:
        groups: The groups; either all have a price or none has.
        many: More nodes than there can be.
    """

    def __init__(self, groups: Sequence[NodeGroup], many: int) -> None:
        prices = [group.price for group in groups if group.price is not None]
        self._many = many if prices else 1
        digits = max((_decimals(price) for price in prices), default=0)
        self._unit = Decimal(1).scaleb(-digits) if prices else None

    def weight(self, group: NodeGroup) -> int:
        """Return the weight of a node."""
        if self._unit is None or group.price is None:
            return 1
        return int(group.price / self._unit) * self._many + 1

    def value(self, weight: int) -> Decimal:
        """Return the cost of a weight, or the number of nodes without prices."""
        if self._unit is None:
            return Decimal(weight)
        return weight // self._many * self._unit


def _decimals(price: Decimal) -> int:
    exponent = price.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _without_plan(
    question: Question, obstacle: str, unplaced: tuple[UnscheduledPod, ...]
) -> Plan:
    return Plan(
        groups=tuple(PlannedGroup(group=group, nodes=0) for group in question.groups),
        obstacle=obstacle,
        unplaced=tuple(sorted(unplaced, key=lambda pod: pod.pod)),
        is_final=True,
    )


def _failed(question: Question, trial: Trial) -> Plan:
    nodes = counted(sum(trial.counts), "more node")
    unplaced = tuple(verdict for _, verdict in trial.pending)
    hint = (
        _CROWDED if unplaced and all(is_tied(pod) for pod, _ in trial.pending) else ""
    )
    return attrs.evolve(
        _without_plan(question, f"with {nodes}: {trial.problem}{hint}", unplaced),
        result=trial.result,
        notices=trial.result.notices,
    )


def _answer(question: Question, trial: Trial) -> Plan:
    nodes = question.nodes_of_rounds(trial.rounds)
    return Plan(
        groups=tuple(
            PlannedGroup(
                group=group,
                nodes=len(mine),
                utilization=utilization_of(mine, trial.taken),
            )
            for group, mine in zip(question.groups, nodes, strict=True)
        ),
        nodes=tuple(chain.from_iterable(nodes)),
        is_found=True,
        rounds=_rounds(question, trial) if len(trial.rounds) > 1 else (),
        utilization=trial.utilization,
        result=trial.result,
        notices=trial.result.notices,
    )


def _rounds(question: Question, trial: Trial) -> tuple[PlannedRound, ...]:
    """Return the rounds, the first with the nodes that are there from the beginning."""
    prices = [group.price for group in question.groups]
    rounds: list[PlannedRound] = []
    cost: Decimal | None = Decimal(0)
    for counts, pending in zip(trial.rounds, trial.pending_by_round, strict=True):
        for count, price in zip(counts, prices, strict=True):
            cost = None if cost is None or price is None else cost + count * price
        rounds.append(PlannedRound(nodes=counts, pending=pending, cost=cost))
    return tuple(rounds)
