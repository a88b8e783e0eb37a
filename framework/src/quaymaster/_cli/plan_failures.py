"""Prints why no plan was found, and which pods are not placed."""

from collections.abc import Sequence
from typing import Final

from quaymaster._base.errors import counted, listed
from quaymaster._cli.amounts import amount
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.output import print_line
from quaymaster._cli.tables import Fit
from quaymaster._studies.planning.plans import Plan, UnplacedKind
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = [
    "kind_documents",
    "obstacle",
    "pod_documents",
    "print_obstacle",
    "print_unplaced",
    "unplaced_table",
]

_KINDS: Final = 10
"""How many kinds of pods are listed, in a page for each reason."""


def print_obstacle(planned: Plan) -> None:
    """Print which pods prevent a plan, and the reason."""
    print_unplaced(planned)
    print_line(obstacle(planned))


def print_unplaced(planned: Plan) -> None:
    """Print the pods without a node, one line for each kind, and an empty line."""
    shown = planned.unplaced_kinds[:_KINDS]
    if not shown:
        return
    _UNPLACED.print(shown)
    rest = planned.unplaced_kinds[_KINDS:]
    if rest:
        pods = counted(sum(kind.pods for kind in rest), "more pod")
        print_line(f"and {pods}, of {counted(len(rest), 'kind')}")
    print_line()


def unplaced_table(planned: Plan) -> tuple[list[str], list[list[str]]]:
    """Return the pods without a node, one row for each reason, for a page."""
    reasons: dict[str, list[UnplacedKind]] = {}
    for kind in planned.unplaced_kinds:
        reasons.setdefault(_why(kind), []).append(kind)
    rows = [
        (sum(kind.pods for kind in kinds), why, _workloads(kinds))
        for why, kinds in reasons.items()
    ]
    rows.sort(key=lambda row: -row[0])
    return ["Pods", "Why", "Unplaced"], [[str(cell) for cell in row] for row in rows]


def obstacle(planned: Plan) -> str:
    """Return a sentence about why no plan was found."""
    if planned.is_final:
        return f"no plan: {planned.obstacle} (proven)"
    tried = counted(planned.tried, "plan")
    return f"none found: {planned.obstacle} ({tried} tried, which proves nothing)"


def pod_documents(planned: Plan) -> list[dict[str, object]]:
    """The pods without a node as plain data."""
    return _PODS.documents(planned.unplaced)


def kind_documents(planned: Plan) -> list[dict[str, object]]:
    """The kinds of pods without a node as plain data."""
    return _UNPLACED.documents(planned.unplaced_kinds)


def _workloads(kinds: Sequence[UnplacedKind]) -> str:
    """Return the first workloads with their numbers of pods, and how many more."""
    names = [
        f"{kind.workload} ({kind.pods})" if kind.pods > 1 else kind.workload
        for kind in kinds
    ]
    return listed(names, _KINDS)


def _why(kind: UnplacedKind) -> str:
    """Return what the pods lack, or else the scheduler's message."""
    lacks = [
        f"requests {amount(name, lack.requested)} {name}, "
        + (
            f"the largest node has {amount(name, lack.largest)}"
            if lack.largest
            else "no node has any"
        )
        for name, lack in kind.lacks.items()
    ]
    return "; ".join(lacks) or kind.message


_UNPLACED: Final = Columns[UnplacedKind](
    Column("workload", heading="Unplaced", fit=Fit.NAME),
    Column("pods"),
    Column(heading="Why", value=_why, fit=Fit.MESSAGE),
    "example",
    "message",
    Column(
        "lacks",
        value=lambda kind: {
            name: {"requested": lack.requested, "largest": lack.largest}
            for name, lack in kind.lacks.items()
        },
        shown=Shown.NEVER,
    ),
)
_PODS: Final = Columns[UnscheduledPod]("pod", "reason", "message", "plugins")
