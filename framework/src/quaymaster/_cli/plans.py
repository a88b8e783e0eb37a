"""Prints the answer of ``plan``, in the formats of its ``-o``."""

from collections.abc import Mapping, Sequence
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
from quaymaster._cli.plan_scaled import scaled_document, scaled_text
from quaymaster._cli.tables import Fit
from quaymaster._studies.planning.plans import Plan, PlannedGroup, Utilization

__all__ = ["bound_text", "group_table", "plan_document", "print_plan", "print_plan_csv"]

_MOST_GROUPS: Final = 20
"""A cloud offers more kinds of nodes; chosen so that a table fits a screen."""

_SHOWN: Final = ("cpu", "memory", "pods")
_BEST_AT_ONCE: Final = "the best that is bought at once"


def print_plan(
    planned: Plan, *, is_wide: bool = False, packed: Plan | None = None
) -> None:
    """Print a plan as a table, or why there is none and what fits nevertheless.

    Args:
        planned: The plan.
        is_wide: Whether costs are printed, too.
        packed: A plan with packing that costs less.
    """
    shown = planned
    if not planned.is_found:
        print_obstacle(planned)
        if planned.partial is None:
            print_nodes(planned)
            _print_scaled(planned)
            return
        shown = planned.partial
        print_line()
        print_line(_partial_heading(planned, shown))
        print_line()
    _print_plan(shown, packed)
    if is_wide:
        print_costs(shown)


def _partial_heading(planned: Plan, partial: Plan) -> str:
    """Return what a plan for some pods leaves out."""
    pods = counted(len(partial.unplaced), "pod")
    if partial.has_bound and len(partial.unplaced) == len(planned.unplaced):
        return f"for the other pods, if {pods} may stay pending:"
    return f"for all pods but {len(partial.unplaced)}:"


def _print_plan(planned: Plan, packed: Plan | None) -> None:
    resources = _resources(planned)
    shown = _shown_groups(planned)
    _columns(planned).print(shown)
    if left_out := len(planned.groups) - len(shown):
        print_line(f"and {counted(left_out, 'group')} without new nodes")
    print_rounds(planned)
    print_line()
    shares = ", ".join(
        f"{name} {_percent(planned.utilization.get(name))}" for name in resources
    )
    print_line(f"requested of all nodes, those of the input included: {shares}")
    print_nodes(planned)
    cost = "" if planned.cost is None else f" at a cost of {plain_amount(planned.cost)}"
    spare = sum(group.spare for group in planned.groups)
    kept = f", {spare} of them spare" if spare else ""
    print_line(f"plan: {counted(len(planned.nodes), 'more node')}{cost}{kept}")
    if planned.has_bound:
        print_line(f"lower bound: {bound_text(planned)}")
    if packed is not None:
        print_line(packing_text(packed))
    _print_scaled(planned)
    for line in _commands(planned):
        print_command(line)
    if planned.daemon_sets_first:
        print_line("--daemon-sets-first")


def _shown_groups(planned: Plan) -> Sequence[PlannedGroup]:
    """Return the groups; of many, only those that get nodes."""
    if len(planned.groups) <= _MOST_GROUPS:
        return planned.groups
    return [group for group in planned.groups if group.nodes or _scaled(planned, group)]


def _print_scaled(planned: Plan) -> None:
    if planned.scaled is not None:
        print_line(f"autoscaler: {scaled_text(planned)}")


def _commands(planned: Plan) -> list[str]:
    """Return the options that make the nodes, for ``simulate`` or ``what-if``."""
    if not planned.rounds:
        return [f"--nodes {group.spec}" for group in planned.groups if group.nodes]
    lines = []
    counts = [0] * len(planned.groups)
    for number, round_ in enumerate(planned.rounds):
        option = "--add-nodes" if number else "--nodes"
        for index, (group, count) in enumerate(
            zip(planned.groups, round_.nodes, strict=True)
        ):
            # The nodes of each line take turns in the zones, from the first one on.
            if count and counts[index] % len(group.group.zones()):
                return ["--write-nodes FILE writes the nodes with their zones"]
            counts[index] += count
            if count:
                lines.append(f"{option} {group.group.spec(count)}")
    return lines


def plan_document(planned: Plan, packed: Plan | None = None) -> dict[str, object]:
    """The plan as plain data, in the form of ``-o json``.

    CPU is in millicores, memory and storage are in bytes.

    Args:
        planned: The plan.
        packed: A plan with packing that costs less.
    """
    return {
        "groups": _columns(planned).documents(planned.groups),
        "rounds": round_documents(planned),
        "daemonSetsFirst": planned.daemon_sets_first,
        "summary": {
            "found": planned.is_found,
            "nodes": len(planned.nodes),
            "cost": _number(planned.cost),
            "lowerBound": _bound_number(planned, planned.lower_bound),
            "lowerBoundInRounds": _bound_number(planned, planned.lower_bound_in_rounds),
            "proven": planned.is_final,
            "provenAtOnce": planned.is_final_at_once,
            "gap": planned.gap if _has_gap(planned) else None,
            "tried": planned.tried,
            "obstacle": planned.obstacle,
        },
        "withPacking": packing_document(packed),
        "autoscaler": scaled_document(planned),
        "utilization": _shares(planned.utilization),
        **detail_documents(planned),
        "placements": [
            {"pod": placement.pod, "node": placement.node}
            for placement in (planned.result.placements if planned.result else ())
        ],
        "unplaced": pod_documents(planned),
        "unplacedKinds": kind_documents(planned),
        "partial": None if planned.partial is None else plan_document(planned.partial),
        "warnings": notice_documents(planned.notices),
    }


def print_plan_csv(planned: Plan) -> None:
    """Print a line of CSV for each group of nodes, of a partial plan if need be."""
    shown = planned if planned.is_found else planned.partial or planned
    _columns(shown).print_csv(shown.groups)


def _bound_number(planned: Plan, bound: Decimal) -> float | int | None:
    return _number(bound) if planned.has_bound else None


def _has_gap(planned: Plan) -> bool:
    return planned.has_bound and planned.gap != float("inf")


def _columns(planned: Plan) -> Columns[PlannedGroup]:
    priced = Shown.NEVER if planned.cost is None else Shown.ALWAYS
    return Columns[PlannedGroup](
        Column("name", value=attrgetter("group.name"), heading="Group", fit=Fit.NAME),
        Column("nodes"),
        Column(
            "spare",
            shown=Shown.ALWAYS
            if any(group.spare for group in planned.groups)
            else Shown.NEVER,
        ),
        Column(
            "autoscaler",
            value=lambda group: _scaled(planned, group),
            shown=Shown.NEVER if planned.scaled is None else Shown.ALWAYS,
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
            for name in _resources(planned)
        ),
    )


def _scaled(planned: Plan, group: PlannedGroup) -> int | None:
    """Return how many nodes of a group the autoscaler adds; None without one."""
    if planned.scaled is None:
        return None
    return planned.scaled.nodes.get(group.group.name, 0)


def _resources(planned: Plan) -> list[str]:
    """CPU, memory, pods, and every other requested resource."""
    others = (
        name
        for name, there in planned.utilization.items()
        if there.requested and name not in _SHOWN
    )
    return [*_SHOWN, *sorted(others)]


def group_table(planned: Plan) -> tuple[list[str], list[list[str]]]:
    """Return headings, and a row for each group of nodes, for a page."""
    return _columns(planned).table(planned.groups)


def bound_text(planned: Plan) -> str:
    """Return the lower bound, and what is proven."""
    return f"{_bound(planned)} ({_certainty(planned)})"


def _bound(planned: Plan) -> str:
    """Return what no plan costs, with a second bound if that of rounds is lower."""
    less = "costs less" if planned.cost is not None else "has fewer"
    than = f"{less} than {plain_amount(planned.lower_bound)}"
    if planned.spare_cost:
        than += " without spare nodes"
    if planned.lower_bound == planned.lower_bound_in_rounds:
        return f"no plan {than}"
    other = plain_amount(planned.lower_bound_in_rounds)
    return (
        f"no plan bought at once {than}, and none bought in rounds {less} than {other}"
    )


def _certainty(planned: Plan) -> str:
    tried = f"{counted(planned.tried, 'plan')} tried"
    if planned.is_final:
        best = "the best" if planned.has_looked_at_rounds else _BEST_AT_ONCE
        if planned.lower_bound == planned.lower_bound_in_rounds:
            best = "the best"
        return f"proven to be {best}, {tried}"
    if planned.is_final_at_once and not planned.rounds:
        return f"proven to be {_BEST_AT_ONCE}, {tried}"
    if planned.gap == 0:
        same = "one of the same cost may have fewer nodes"
        return f"{same}, {tried}; more with --max-trials"
    gap = "" if planned.gap == float("inf") else f": the gap is {planned.gap:.1%}"
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
