"""Writes the page of ``plan --report``."""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from quaymaster._base.errors import counted
from quaymaster._cli.amounts import plain_amount, price
from quaymaster._cli.inputs import InputOptions, Inputs
from quaymaster._cli.plan_details import cost_rows
from quaymaster._cli.plan_failures import obstacle, unplaced_table
from quaymaster._cli.plan_packing import packing_text
from quaymaster._cli.plan_rounds import round_rows, trade_off
from quaymaster._cli.plan_scaled import scaled_text
from quaymaster._cli.plans import bound_text, group_table
from quaymaster._cli.reports import write_report
from quaymaster._studies.planning.observed_plan import observe_plan
from quaymaster._studies.planning.plans import Plan

__all__ = ["plan_tables", "write_plan_report"]


def write_plan_report(
    planned: Plan,
    inputs: Inputs,
    options: InputOptions,
    file: str,
    *,
    packed: Plan | None = None,
) -> None:
    """Write the page: the input with the plan's nodes, prices, bound and costs.

    Args:
        planned: The plan.
        inputs: The input.
        options: The options about the input.
        file: The path of the page.
        packed: A plan with packing that costs less.
    """
    shown = planned if planned.is_found else planned.partial or planned
    with inputs.located():
        run = observe_plan(
            inputs.objects,
            shown,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            max_pods=options.max_pods,
        )
    notices = (*inputs.notices, *run.result.notices)
    run = attrs.evolve(run, result=attrs.evolve(run.result, notices=notices))
    write_report(file, [run], title="Plan", tables=plan_tables(planned, shown, packed))


def plan_tables(planned: Plan, shown: Plan, packed: Plan | None = None) -> list[Any]:
    """Return the tables of the page, each a `ReportTable`.

    Args:
        planned: The plan.
        shown: The plan itself, or the part of it that exists.
        packed: A plan with packing that costs less.
    """
    return list(_tables(planned, shown, packed))


def _tables(planned: Plan, shown: Plan, packed: Plan | None) -> Iterable[Any]:
    answer = list(_answer(planned, shown))
    if packed is not None:
        answer.append(("Alternative", packing_text(packed)))
    yield _table("Answer", ("What", "Value"), answer)
    if not planned.is_found:
        yield _table("Pods that are not placed", *unplaced_table(planned))
    yield _table("Groups of nodes", *group_table(shown))
    if shown.rounds:
        yield _table("Rounds", *round_rows(shown))
    for heading, title in (
        ("Workload", "Cost by workload"),
        ("Namespace", "Cost by namespace"),
    ):
        headings, rows = cost_rows(shown.costs, heading)
        if rows:
            yield _table(title, headings, rows)
    if shown.closed_nodes:
        rows = [[node.node, node.status, node.why] for node in shown.closed_nodes]
        title = "Nodes that accept no pods"
        yield _table(title, ("Node", "Status", "Why"), rows)
    if shown.unneeded_nodes:
        rows = [[name] for name in shown.unneeded_nodes]
        yield _table("Nodes of the input that are not needed", ("Node",), rows)


def _answer(planned: Plan, shown: Plan) -> Iterable[Sequence[str]]:
    if not planned.is_found:
        yield "Obstacle", obstacle(planned)
    yield "Nodes to add", counted(len(shown.nodes), "node")
    if shown.cost is not None:
        yield "Cost", plain_amount(shown.cost)
    if shown.is_found and shown.has_bound:
        yield "Lower bound", bound_text(shown)
    if shown.scaled is not None:
        yield "Autoscaler", scaled_text(shown)
    line = trade_off(shown)
    if line:
        yield "Trade-off", line
    for name, utilization in shown.utilization.items():
        if utilization.requested:
            yield f"Requested {name}", f"{utilization.share:.0%}"
    if shown.costs.total:
        yield "Idle", f"{price(float(shown.costs.idle))} of {shown.costs.total}"


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Any:  # noqa: ANN401 - its class is imported only if a report is written
    from quaymaster._surfaces.reporting.tables import ReportTable  # noqa: PLC0415

    return ReportTable(
        title=title, columns=tuple(headings), rows=tuple(map(tuple, rows))
    )
