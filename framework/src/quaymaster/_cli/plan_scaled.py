"""Prints what an autoscaler does beside a plan."""

from decimal import Decimal

from quaymaster._base.errors import counted
from quaymaster._cli.amounts import plain_amount
from quaymaster._cli.results import moment
from quaymaster._studies.planning.plans import Plan
from quaymaster._studies.planning.scaled import ScaledPlan

__all__ = ["scaled_document", "scaled_text"]


def scaled_text(planned: Plan) -> str:
    """Return one line about what the autoscaler does; empty without one."""
    scaled = planned.scaled
    if scaled is None:
        return ""
    facts = [_nodes(planned, scaled)]
    if scaled.removed:
        facts.append(f"{counted(scaled.removed, 'node')} of the input removed")
    if scaled.pending:
        facts.append(f"{counted(scaled.pending, 'pod')} pending")
    elif scaled.added:
        facts.append(f"ready after {moment(scaled.seconds)}")
    return ", ".join(facts)


def _nodes(planned: Plan, scaled: ScaledPlan) -> str:
    text = counted(scaled.added, "more node")
    if scaled.cost is not None:
        text += f" at a cost of {plain_amount(scaled.cost)}"
    if not planned.is_found or scaled.pending:
        return text
    return f"{text}, {_difference(planned, scaled)}"


def _difference(planned: Plan, scaled: ScaledPlan) -> str:
    """Return how much more or less than the plan the autoscaler buys."""
    plan, own, same, less = planned.cost, scaled.cost, "much", "less"
    if plan is None or own is None:
        plan, own = Decimal(len(planned.nodes)), Decimal(scaled.added)
        same, less = "many", "fewer"
    if own == plan:
        return f"as {same} as the plan"
    amount = plain_amount(abs(own - plan))
    return f"{amount} {'more' if own > plan else less} than the plan"


def scaled_document(planned: Plan) -> dict[str, object] | None:
    """Return what the autoscaler does as plain data."""
    scaled = planned.scaled
    if scaled is None:
        return None
    return {
        "groups": {name: count for name, count in scaled.nodes.items() if count},
        "nodes": scaled.added,
        "cost": None if scaled.cost is None else float(scaled.cost),
        "removed": scaled.removed,
        "pending": scaled.pending,
        "seconds": scaled.seconds,
    }
