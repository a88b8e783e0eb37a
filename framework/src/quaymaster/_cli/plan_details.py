"""Prints what a plan says about the nodes of the input, spot nodes and costs."""

from decimal import Decimal

from quaymaster._base.errors import counted
from quaymaster._cli.amounts import percent, plain_amount
from quaymaster._cli.closed_nodes import CLOSED, closed_lines, names_of
from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.output import print_line
from quaymaster._cli.tables import Fit
from quaymaster._studies.planning.costs import Costs, CostShare
from quaymaster._studies.planning.plans import Plan

__all__ = [
    "cost_document",
    "cost_rows",
    "detail_documents",
    "print_costs",
    "print_nodes",
]


def print_nodes(planned: Plan) -> None:
    """Print which nodes of the input do not count, and which are not needed."""
    for line in closed_lines(planned.closed_nodes, "not counted, since "):
        print_line(line)
    if planned.unneeded_nodes:
        nodes = counted(len(planned.unneeded_nodes), "node")
        names = names_of(planned.unneeded_nodes)
        print_line(f"no longer needed: {nodes} of the input: {names}")
    if planned.spot_share:
        print_line(f"spot: {percent(planned.spot_share)} of the CPU that is added")


def print_costs(planned: Plan) -> None:
    """Print what namespaces and workloads cost, as tables."""
    costs = planned.costs
    if not costs.total:
        print_line()
        print_line("no node has a price, so nothing has a cost")
        return
    for heading, shares in (
        ("Namespace", costs.namespaces),
        ("Workload", costs.workloads),
    ):
        print_line()
        _columns(costs, heading).print(shares)
    print_line()
    idle = f"idle: {plain_amount(costs.idle)} of {plain_amount(costs.total)}"
    print_line(f"{idle}, the part of nodes that no pod requests")
    if costs.unpriced:
        have = "has" if costs.unpriced == 1 else "have"
        print_line(f"{counted(costs.unpriced, 'node')} {have} no price")


def cost_rows(costs: Costs, heading: str) -> tuple[list[str], list[list[str]]]:
    """Return the costs by workload or namespace, for a page."""
    shares = costs.workloads if heading == "Workload" else costs.namespaces
    return _columns(costs, heading).table(shares)


def cost_document(costs: Costs) -> dict[str, object]:
    """The costs as plain data."""
    return {
        "total": float(costs.total),
        "idle": float(costs.idle),
        "unpricedNodes": costs.unpriced,
        "namespaces": _columns(costs, "Namespace").documents(costs.namespaces),
        "workloads": _columns(costs, "Workload").documents(costs.workloads),
    }


def detail_documents(planned: Plan) -> dict[str, object]:
    """The nodes of the input, the spot nodes and the costs as plain data."""
    return {
        "closedNodes": CLOSED.documents(planned.closed_nodes),
        "unneededNodes": list(planned.unneeded_nodes),
        "spotShare": planned.spot_share,
        "costs": cost_document(planned.costs),
    }


def _columns(costs: Costs, heading: str) -> Columns[CostShare]:
    return Columns[CostShare](
        Column("name", heading=heading, fit=Fit.NAME),
        Column("pods"),
        Column(
            "cost",
            value=lambda share: float(share.cost),
            text=lambda cost: plain_amount(Decimal(repr(cost))),
        ),
        Column(
            heading="Share",
            value=lambda share: percent(float(share.cost / costs.total)),
        ),
    )
