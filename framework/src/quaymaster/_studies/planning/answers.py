"""Makes the answer of `plan` from the trial of a plan."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._base.errors import counted
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.planning.amounts import offered
from quaymaster._studies.planning.plans import (
    Plan,
    PlannedGroup,
    PlannedRound,
    UnplacedKind,
)
from quaymaster._studies.planning.question import Question, is_tied
from quaymaster._studies.planning.spot import SPOT, spot_of
from quaymaster._studies.planning.trials import Trial, utilization_of
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = ["answer_of", "failure_of", "node_prices", "without_plan"]

_CROWDED: Final = ", all of DaemonSets; a higher priority keeps room for such pods"


def answer_of(question: Question, trial: Trial) -> Plan:
    """Return the answer with the plan of a trial."""
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
        spot_share=_spot_share(nodes),
        closed_nodes=tuple(question.closed.values()),
        nodes=tuple(chain.from_iterable(nodes)),
        is_found=True,
        rounds=_rounds(question, trial) if len(trial.rounds) > 1 else (),
        daemon_sets_first=question.tries_daemons_first,
        utilization=trial.utilization,
        result=trial.result,
        notices=trial.result.notices,
    )


def without_plan(
    question: Question,
    obstacle: str,
    unplaced: Sequence[UnscheduledPod] = (),
    kinds: Sequence[UnplacedKind] = (),
) -> Plan:
    """Return the answer without a plan."""
    return Plan(
        groups=tuple(PlannedGroup(group=group, nodes=0) for group in question.groups),
        obstacle=obstacle,
        closed_nodes=tuple(question.closed.values()),
        unplaced=tuple(sorted(unplaced, key=lambda pod: pod.pod)),
        unplaced_kinds=tuple(kinds),
        is_final=True,
    )


def failure_of(question: Question, trial: Trial, kinds: Sequence[UnplacedKind]) -> Plan:
    """Return the answer without a plan, with what prevents that of a trial."""
    nodes = counted(sum(trial.counts), "more node")
    unplaced = [verdict for _, verdict in trial.pending]
    hint = (
        _CROWDED if unplaced and all(is_tied(pod) for pod, _ in trial.pending) else ""
    )
    failed = without_plan(
        question, f"with {nodes}: {trial.problem}{hint}", unplaced, kinds
    )
    return attrs.evolve(failed, result=trial.result, notices=trial.result.notices)


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


def _spot_share(nodes: Sequence[Sequence[Node]]) -> float | None:
    """Return the part of the CPU of some nodes that spot nodes have."""
    every = list(chain.from_iterable(nodes))
    cpu = sum(offered(node).get("cpu", 0) for node in every)
    spot = sum(spot_of(node).get(SPOT, 0) for node in every)
    return spot / cpu if cpu else None


def node_prices(
    question: Question, trial: Trial, prices: Prices
) -> Mapping[str, Decimal]:
    """Return the price of each node of a plan and of the input that has one."""
    by_node: dict[str, Decimal] = {}
    mine = question.nodes_of_rounds(trial.rounds)
    for group, nodes in zip(question.groups, mine, strict=True):
        if group.price is not None:
            by_node |= {node.name: group.price for node in nodes}
    amounts = prices.of_all(trial.nodes)
    for node, price in zip(trial.nodes, amounts, strict=True):
        if price is not None:
            by_node.setdefault(node.name, Decimal(repr(price)))
    return by_node
