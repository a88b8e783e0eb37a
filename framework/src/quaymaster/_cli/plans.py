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
from quaymaster._cli.output import print_command, print_line
from quaymaster._cli.plan_details import detail_documents, print_costs, print_nodes
from quaymaster._cli.plan_failures import (
    kind_documents,
    pod_documents,
    print_obstacle,
)
from quaymaster._cli.plan_packing import packing_document, packing_text
from quaymaster._cli.plan_rounds import print_rounds, round_documents
from quaymaster._cli.tables import Fit
from quaymaster._studies.planning.plans import Plan, PlannedGroup, Utilization

__all__ = ["bound_text", "group_table", "plan_document", "print_plan", "print_plan_csv"]

_SHOWN: Final = ("cpu", "memory", "pods")
_BEST_AT_ONCE: Final = "the best that is bought at once"


def print_plan(
    found: Plan, *, is_wide: bool = False, packed: Plan | None = None
) -> None:
    """Print a plan as a table, or why there is none and what fits nevertheless.

    Args:
        found: The plan.
        is_wide: Whether costs are printed, too.
        packed: A plan with packing that costs less.
    """
    shown = found
    if not found.is_found:
        print_obstacle(found)
        if found.partial is None:
            print_nodes(found)
            return
        shown = found.partial
        print_line()
        print_line(_partial_heading(found, shown))
        print_line()
    _print_found(shown, packed)
    if is_wide:
        print_costs(shown)


def _partial_heading(found: Plan, partial: Plan) -> str:
    """Return what a plan for some pods leaves out."""
    pods = counted(len(partial.unplaced), "pod")
    if partial.has_bound and len(partial.unplaced) == len(found.unplaced):
        return f"for the other pods, if {pods} may stay pending:"
    return f"for all pods but {len(partial.unplaced)}:"


def _print_found(found: Plan, packed: Plan | None) -> None:
    resources = _resources(found)
    _columns(found).print(found.groups)
    print_rounds(found)
    print_line()
    shares = ", ".join(
        f"{name} {_percent(found.utilization.get(name))}" for name in resources
    )
    print_line(f"requested of all nodes, those of the input included: {shares}")
    print_nodes(found)
    cost = "" if found.cost is None else f" at a cost of {plain_amount(found.cost)}"
    spare = sum(group.spare for group in found.groups)
    kept = f", {spare} of them spare" if spare else ""
    print_line(f"plan: {counted(len(found.nodes), 'more node')}{cost}{kept}")
    if found.has_bound:
        print_line(f"lower bound: {bound_text(found)}")
    if packed is not None:
        print_line(packing_text(packed))
    for line in _commands(found):
        print_command(line)
    if found.daemon_sets_first:
        print_line("--daemon-sets-first")


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


def plan_document(found: Plan, packed: Plan | None = None) -> dict[str, object]:
    """The plan as plain data, in the form of ``-o json``.

    CPU is in millicores, memory and storage are in bytes.

    Args:
        found: The plan.
        packed: A plan with packing that costs less.
    """
    return {
        "groups": _columns(found).documents(found.groups),
        "rounds": round_documents(found),
        "daemonSetsFirst": found.daemon_sets_first,
        "summary": {
            "found": found.is_found,
            "nodes": len(found.nodes),
            "cost": _number(found.cost),
            "lowerBound": _bound_number(found, found.lower_bound),
            "lowerBoundInRounds": _bound_number(found, found.lower_bound_in_rounds),
            "proven": found.is_final,
            "provenAtOnce": found.is_final_at_once,
            "gap": found.gap if _has_gap(found) else None,
            "tried": found.tried,
            "obstacle": found.obstacle,
        },
        "withPacking": packing_document(packed),
        "utilization": _shares(found.utilization),
        **detail_documents(found),
        "placements": [
            {"pod": placement.pod, "node": placement.node}
            for placement in (found.result.placements if found.result else ())
        ],
        "unplaced": pod_documents(found),
        "unplacedKinds": kind_documents(found),
        "partial": None if found.partial is None else plan_document(found.partial),
        "warnings": notice_documents(found.notices),
    }


def print_plan_csv(found: Plan) -> None:
    """Print a line of CSV for each group of nodes, of a partial plan if need be."""
    shown = found if found.is_found else found.partial or found
    _columns(shown).print_csv(shown.groups)


def _bound_number(found: Plan, bound: Decimal) -> float | int | None:
    return _number(bound) if found.has_bound else None


def _has_gap(found: Plan) -> bool:
    return found.has_bound and found.gap != float("inf")


def _columns(found: Plan) -> Columns[PlannedGroup]:
    priced = Shown.NEVER if found.cost is None else Shown.ALWAYS
    return Columns[PlannedGroup](
        Column("name", value=attrgetter("group.name"), heading="Group", fit=Fit.NAME),
        Column("nodes"),
        Column(
            "spare",
            shown=Shown.ALWAYS
            if any(group.spare for group in found.groups)
            else Shown.NEVER,
        ),
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


def _resources(found: Plan) -> list[str]:
    """CPU, memory, pods, and every other requested resource."""
    others = (
        name
        for name, there in found.utilization.items()
        if there.requested and name not in _SHOWN
    )
    return [*_SHOWN, *sorted(others)]


def group_table(found: Plan) -> tuple[list[str], list[list[str]]]:
    """Return headings, and a row for each group of nodes, for a page."""
    return _columns(found).table(found.groups)


def bound_text(found: Plan) -> str:
    """Return the lower bound, and what is proven."""
    return f"{_bound(found)} ({_certainty(found)})"


def _bound(found: Plan) -> str:
    """Return what no plan costs, with a second bound if that of rounds is lower."""
    less = "costs less" if found.cost is not None else "has fewer"
    than = f"{less} than {plain_amount(found.lower_bound)}"
    if found.spare_cost:
        than += " without spare nodes"
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
    if found.gap == 0:
        same = "one of the same cost may have fewer nodes"
        return f"{same}, {tried}; more with --max-trials"
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
