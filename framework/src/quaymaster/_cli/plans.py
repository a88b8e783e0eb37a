"""Prints the answer of ``plan``, in the formats of its ``-o``."""

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from operator import attrgetter
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._cli.amounts import plain_amount, price
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line
from quaymaster._cli.plan_rounds import print_rounds, round_documents
from quaymaster._cli.tables import Fit
from quaymaster._studies.planning.plans import Plan, PlannedGroup, Utilization
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = ["obstacle", "plan_document", "print_plan", "print_plan_csv"]

_SHOWN: Final = ("cpu", "memory", "pods")
_BEST_AT_ONCE: Final = "the best that is bought at once"
_PODS: Final = 10
"""How many pods that prevent a plan are listed."""


def print_plan(found: Plan) -> None:
    """Print a plan as a table, or why there is none."""
    if not found.is_found:
        _print_obstacle(found)
        return
    resources = _resources(found)
    _columns(found).print(found.groups)
    print_rounds(found)
    print_line()
    shares = ", ".join(
        f"{name} {_percent(found.utilization.get(name))}" for name in resources
    )
    print_line(f"requested of all nodes, those of the input included: {shares}")
    cost = "" if found.cost is None else f" at a cost of {plain_amount(found.cost)}"
    print_line(f"plan: {counted(len(found.nodes), 'more node')}{cost}")
    print_line(f"lower bound: {_bound(found)} ({_certainty(found)})")
    for line in _commands(found):
        print_line(line)


def _commands(found: Plan) -> list[str]:
    """Return the options that make the nodes, for ``simulate`` or ``what-if``."""
    if not found.rounds:
        return [f"--nodes {group.spec}" for group in found.groups if group.nodes]
    lines = []
    made = [0] * len(found.groups)
    for number, planned in enumerate(found.rounds):
        option = "--add-nodes" if number else "--nodes"
        for index, (group, count) in enumerate(
            zip(found.groups, planned.nodes, strict=True)
        ):
            # The nodes of each line take turns in the zones, from the first one on.
            if count and made[index] % len(group.group.zones()):
                return ["--write-nodes FILE writes the nodes with their zones"]
            made[index] += count
            if count:
                lines.append(f"{option} {group.group.spec(count)}")
    return lines


def plan_document(found: Plan) -> dict[str, object]:
    """The plan as plain data, in the form of ``-o json``.

    CPU is in millicores, memory and storage are in bytes.
    """
    return {
        "groups": _columns(found).documents(found.groups),
        "rounds": round_documents(found),
        "summary": {
            "found": found.is_found,
            "nodes": len(found.nodes),
            "cost": _number(found.cost),
            "lowerBound": _number(found.lower_bound),
            "lowerBoundInRounds": _number(found.lower_bound_in_rounds),
            "proven": found.is_final,
            "provenAtOnce": found.is_final_at_once,
            "gap": found.gap if found.gap != float("inf") else None,
            "tried": found.tried,
            "obstacle": found.obstacle,
        },
        "utilization": _shares(found.utilization),
        "placements": [
            {"pod": placement.pod, "node": placement.node}
            for placement in (found.result.placements if found.result else ())
        ],
        "unplaced": _UNPLACED.documents(found.unplaced),
        "warnings": notice_documents(found.notices),
    }


def print_plan_csv(found: Plan) -> None:
    """Print a line of CSV for each group of nodes."""
    _columns(found).print_csv(found.groups)


def _print_obstacle(found: Plan) -> None:
    shown = found.unplaced[:_PODS]
    if shown:
        _UNPLACED.print(shown)
        if len(found.unplaced) > len(shown):
            rest = len(found.unplaced) - len(shown)
            print_line(f"and {counted(rest, 'more pod')}")
        print_line()
    print_line(obstacle(found))


def obstacle(found: Plan) -> str:
    """Return a sentence about why there is no plan."""
    if found.is_final:
        return f"no plan: {found.obstacle} (proven)"
    tried = counted(found.tried, "plan")
    return f"none found: {found.obstacle} ({tried} tried, which proves nothing)"


def _columns(found: Plan) -> Columns[PlannedGroup]:
    priced = Shown.NEVER if found.cost is None else Shown.ALWAYS
    return Columns[PlannedGroup](
        Column("name", value=attrgetter("group.name"), heading="Group", fit=Fit.NAME),
        Column("nodes"),
        Column("min", value=attrgetter("group.min_nodes"), importance=1),
        Column("max", value=attrgetter("group.max_nodes"), importance=1),
        Column(
            "price",
            value=lambda group: _number(group.group.price),
            text=price,
            shown=priced,
        ),
        Column(
            "cost", value=lambda group: _number(group.cost), text=price, shown=priced
        ),
        "spec",
        Column(
            "utilization",
            value=lambda group: _shares(group.utilization),
            shown=Shown.NEVER,
        ),
        *(
            Column(
                heading=name,
                value=partial(_share, name),
                importance=2,
            )
            for name in _resources(found)
        ),
    )


_UNPLACED: Final = Columns[UnscheduledPod](
    Column("pod", heading="Unplaced", fit=Fit.NAME),
    Column("reason", importance=1),
    Column("message", fit=Fit.MESSAGE),
    "plugins",
)


def _resources(found: Plan) -> list[str]:
    """CPU, memory, pods, and every other requested resource."""
    others = (
        name
        for name, there in found.utilization.items()
        if there.requested and name not in _SHOWN
    )
    return [*_SHOWN, *sorted(others)]


def _bound(found: Plan) -> str:
    """Return what no plan costs, with a second bound if that of rounds is lower."""
    less = "costs less" if found.cost is not None else "has fewer"
    than = f"{less} than {plain_amount(found.lower_bound)}"
    if found.lower_bound == found.lower_bound_in_rounds:
        return f"no plan {than}"
    other = plain_amount(found.lower_bound_in_rounds)
    return (
        f"no plan bought at once {than}, and none bought in rounds {less} than {other}"
    )


def _certainty(found: Plan) -> str:
    tried = f"{counted(found.tried, 'plan')} tried"
    if found.is_final:
        best = "the best" if found.has_looked_at_rounds else _BEST_AT_ONCE
        if found.lower_bound == found.lower_bound_in_rounds:
            best = "the best"
        return f"proven to be {best}, {tried}"
    if found.is_final_at_once and not found.rounds:
        return f"proven to be {_BEST_AT_ONCE}, {tried}"
    gap = "" if found.gap == float("inf") else f": the gap is {found.gap:.1%}"
    return f"the best plan may be better{gap}, {tried}; more with --max-trials"


def _share(resource: str, group: PlannedGroup) -> str:
    return _percent(group.utilization.get(resource))


def _percent(there: Utilization | None) -> str:
    return "-" if there is None or not there.allocatable else f"{there.share:.0%}"


def _number(amount: Decimal | None) -> float | int | None:
    if amount is None:
        return None
    return int(amount) if amount == int(amount) else float(amount)


def _shares(utilization: Mapping[str, Utilization]) -> dict[str, object]:
    return {
        name: {
            "requested": share.requested,
            "allocatable": share.allocatable,
            "share": round(share.share, 4),
        }
        for name, share in utilization.items()
    }
