"""Prints the rounds of a plan whose nodes are bought in rounds."""

from decimal import Decimal

from quaymaster._base.errors import counted
from quaymaster._cli.amounts import plain_amount
from quaymaster._cli.output import print_line, print_table
from quaymaster._studies.planning.plans import Plan, PlannedRound

__all__ = ["print_rounds", "round_documents"]


def print_rounds(plan: Plan) -> None:
    """Print what is added when, and what the last pods cost."""
    if not plan.rounds:
        return
    priced = plan.cost is not None
    headings = ["ROUND", "NODES", "PENDING", *(["COST"] if priced else [])]
    rows = [
        [
            str(number),
            _nodes(plan, planned),
            str(planned.pending),
            *([plain_amount(planned.cost)] if priced else []),
        ]
        for number, planned in enumerate(plan.rounds)
    ]
    print_line()
    print_table(headings, rows)
    print_line()
    print_line(
        "in rounds: each adds nodes for the pods that are still pending; placed pods "
        "stay"
    )
    trade_off = _trade_off(plan)
    if trade_off:
        print_line(trade_off)


def round_documents(plan: Plan) -> list[dict[str, object]]:
    """The rounds as plain data, in the form of ``-o json``."""
    return [
        {
            "nodes": {
                group.group.name: count
                for group, count in zip(plan.groups, planned.nodes, strict=True)
                if count
            },
            "pending": planned.pending,
            "cost": None if planned.cost is None else float(planned.cost),
        }
        for planned in plan.rounds
    ]


def _nodes(plan: Plan, planned: PlannedRound) -> str:
    pairs = zip(plan.groups, planned.nodes, strict=True)
    return ", ".join(f"{n} {group.group.name}" for group, n in pairs if n) or "-"


def _trade_off(plan: Plan) -> str:
    """Return what is saved without the pods that the last round places."""
    if len(plan.rounds) < 2:
        return ""
    before, last = plan.rounds[-2:]
    pods = plan.rounds[0].pending
    placed = pods - before.pending
    if placed <= 0 or not before.pending:
        return ""
    rest = counted(before.pending, "pod")
    if last.cost is None or before.cost is None:
        fewer = sum(map(sum, (planned.nodes for planned in plan.rounds[:-1])))
        more = counted(sum(last.nodes), "more node")
        return (
            f"{placed} of {pods} pods need {counted(fewer, 'node')}; the last {rest} "
            f"{_need(before.pending)} {more}"
        )
    more_cost: Decimal = last.cost - before.cost
    verb = "costs" if before.pending == 1 else "cost"
    return (
        f"{placed} of {pods} pods for {plain_amount(before.cost)}; the last {rest} "
        f"{verb} {plain_amount(more_cost)} more"
    )


def _need(pods: int) -> str:
    return "needs" if pods == 1 else "need"
