"""What an autoscaler did, as tables and as a part of documents."""

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from quaymaster._base.errors import counted
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.output import print_line
from quaymaster._cli.results import moment
from quaymaster._cli.tables import Fit
from quaymaster._studies.simulation.autoscaler import AutoscaledNode, Autoscaler

__all__ = ["autoscaler_document", "print_autoscaled"]


@attrs.frozen(kw_only=True)
class _Group:
    """What a group of nodes cost.

    Attributes:
        group: Its name.
        first: Its nodes at the beginning.
        last: Its nodes at the end.
        added: How many came.
        removed: How many went.
        hours: The hours of all its nodes together.
        cost: Their price; None if it is unknown.
    """

    group: str
    first: int
    last: int
    added: int
    removed: int
    hours: float
    cost: float | None


@attrs.frozen(kw_only=True)
class _Reason:
    """Why a group does not grow for some pods.

    Attributes:
        pods: The keys of the pods.
        group: The group.
        why: The reason.
    """

    pods: tuple[str, ...]
    group: str
    why: str


def autoscaler_document(autoscaler: Autoscaler) -> dict[str, object]:
    """Return what an autoscaler did as plain data."""
    nodes = autoscaler.nodes()
    return {
        "nodes": _NODES.documents(nodes),
        "groups": _GROUPS.documents(_groups(nodes)),
        "unhelped": _REASONS.documents(_reasons(autoscaler)),
    }


def print_autoscaled(autoscaler: Autoscaler, *, wide: bool) -> None:
    """Print which nodes came and went, what they cost, and which pods have none.

    Args:
        autoscaler: The autoscaler, at the end of its simulation.
        wide: Whether to print more columns.
    """
    nodes = autoscaler.nodes()
    changed = [each for each in nodes if each.ordered is not None or each.removed_for]
    print_line()
    _NODES.print_section(changed, is_wide=wide)
    _GROUPS.print_section(_groups(nodes), is_wide=wide)
    _REASONS.print_section(_reasons(autoscaler), is_wide=wide)
    if not changed:
        print_line("the autoscaler changed nothing")


def _reasons(autoscaler: Autoscaler) -> Sequence[_Reason]:
    """Return why groups do not grow; pods with the same reasons share a row."""
    pods: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for pod, reasons in autoscaler.reasons_not_to_grow().items():
        pods.setdefault(tuple(reasons.items()), []).append(pod)
    return [
        _Reason(pods=tuple(keys), group=group, why=why)
        for reasons, keys in pods.items()
        for group, why in reasons
    ]


def _few(pods: Sequence[str]) -> str:
    others = len(pods) - 1
    return f"{pods[0]} and {counted(others, 'other')}" if others else pods[0]


def _groups(nodes: Sequence[AutoscaledNode]) -> Sequence[_Group]:
    names = dict.fromkeys(each.group for each in nodes)
    return [_group(name, [e for e in nodes if e.group == name]) for name in names]


def _group(name: str, nodes: Sequence[AutoscaledNode]) -> _Group:
    return _Group(
        group=name,
        first=sum(each.ordered is None for each in nodes),
        last=sum(each.removed is None for each in nodes),
        added=sum(each.ordered is not None for each in nodes),
        removed=sum(each.removed is not None for each in nodes),
        hours=sum(each.hours for each in nodes),
        cost=_sum(each.cost for each in nodes),
    )


def _sum(costs: Iterable[float | None]) -> float | None:
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def _money(cost: float | None) -> str:
    return "-" if cost is None else f"{cost:.2f}"


_NODES: Final = Columns[AutoscaledNode](
    Column("node", fit=Fit.NODE),
    Column("group"),
    Column("ordered", text=moment),
    Column("registered", text=moment, shown=Shown.WIDE),
    Column("ready", text=moment),
    Column("removed", text=moment),
    Column("addedFor", heading="Added for", fit=Fit.NAME),
    Column("removedFor", heading="Removed for", is_optional=True),
    Column("hours", text="{:.2f}".format, shown=Shown.WIDE),
    Column("cost", text=_money, shown=Shown.WIDE),
)
_REASONS: Final = Columns[_Reason](
    Column("pods", heading="Not helped", text=_few, fit=Fit.NAME),
    Column("group"),
    Column("why"),
)
_GROUPS: Final = Columns[_Group](
    Column("group", heading="Group of nodes"),
    Column("first"),
    Column("last"),
    Column("added"),
    Column("removed"),
    Column("hours", text="{:.2f}".format),
    Column("cost", text=_money),
)
