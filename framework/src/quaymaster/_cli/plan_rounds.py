"""Prints the rounds of a plan whose nodes are bought in rounds."""

from decimal import Decimal

from quaymaster._base.errors import counted
from quaymaster._cli.amounts import plain_amount
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.tables import Fit, Heading
from quaymaster._studies.planning.plans import Plan, PlannedRound

__all__ = ["print_rounds", "round_documents", "round_rows", "trade_off"]


def print_rounds(plan: Plan) -> None:
    """Print what is added when, and what the last pods cost."""
    if not plan.rounds:
        return
    headings, rows = round_rows(plan)
    print_line()
    columns = [Heading(heading.upper()) for heading in headings]
    columns[1] = Heading("NODES", Fit.SENTENCE)
    print_table(columns, rows)
    print_line()
    print_line(
        "in rounds: each adds nodes for the pods that are still pending; placed pods "
        "stay"
    )
    line = trade_off(plan)
    if line:
        print_line(line)


def round_rows(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Return headings, and a row for each round."""
    priced = plan.cost is not None
    headings = ["Round", "Nodes", "Pending", *(["Cost"] if priced else [])]
    rows = [
        [
            str(number),
            _nodes(plan, planned),
            str(planned.pending),
            *([plain_amount(planned.cost)] if priced else []),
        ]
        for number, planned in enumerate(plan.rounds)
    ]
    return headings, rows


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


def trade_off(plan: Plan) -> str:
    """Return what is saved without the pods that the last rounds place.

    Of the rounds after which at most half of the pods are pending, it is the one after
    which a pod costs most in comparison with the pods before, if it costs more at all.
    """
    if not plan.rounds:
        return ""
    # Later rounds add room to spare.
    pending = [planned.pending for planned in plan.rounds]
    rounds = plan.rounds[: pending.index(pending[-1]) + 1]
    first, last = rounds[0], rounds[-1]
    pods = first.pending - last.pending
    nodes = [sum(planned.nodes) for planned in rounds]
    spent = [
        Decimal(sum(nodes[: number + 1])) if planned.cost is None else planned.cost
        for number, planned in enumerate(rounds)
    ]
    breaks = [
        (_steepness(plan, spent[number], spent[-1], planned.pending), number)
        for number, planned in enumerate(rounds[:-1])
        if last.pending < planned.pending <= first.pending - pods / 2 and spent[number]
    ]
    steepness, number = max(breaks, default=(Decimal(0), 0))
    if steepness <= 1:
        return ""
    rest = rounds[number].pending - last.pending
    return _trade_off_text(plan, pods - rest, pods, spent[number], spent[-1])


def _steepness(plan: Plan, before: Decimal, after: Decimal, pending: int) -> Decimal:
    """Return how much more a pod costs after a round than one before its end."""
    early = before / (plan.rounds[0].pending - pending)
    late = (after - before) / (pending - plan.rounds[-1].pending)
    return late / early


def _trade_off_text(
    plan: Plan, placed: int, pods: int, spent: Decimal, total: Decimal
) -> str:
    is_single = pods - placed == 1
    rest = "pod" if is_single else f"{pods - placed} pods"
    if plan.cost is None:
        verb, more = ("needs" if is_single else "need"), total - spent
        return (
            f"{placed} of {pods} pods need {counted(int(spent), 'node')}; the last "
            f"{rest} {verb} {counted(int(more), 'more node')}"
        )
    return (
        f"{placed} of {pods} pods for {plain_amount(spent)}; the last {rest} "
        f"{'costs' if is_single else 'cost'} {plain_amount(total - spent)} more"
    )
