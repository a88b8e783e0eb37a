"""The option ``--autoscaler``, and what an autoscaler did."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import attrs
import click

from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.output import print_line
from quaymaster._cli.results import moment
from quaymaster._cli.tables import Fit
from quaymaster._studies.simulation.autoscaler import (
    AutoscaledNode,
    Autoscaler,
    AutoscalerContext,
    AutoscalerFactory,
)

__all__ = ["ScaledRun", "autoscaler_option", "the_autoscaler"]

F = TypeVar("F", bound=Callable[..., Any])


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


class ScaledRun:
    """Keeps the autoscaler that a factory makes, for what is printed at the end.

    Args:
        factory: The factory, or None.

    Attributes:
        autoscaler: What it has made; None before, or without a factory.
    """

    def __init__(self, factory: AutoscalerFactory | None) -> None:
        self.autoscaler: Autoscaler | None = None
        self._factory = factory

    @property
    def factory(self) -> AutoscalerFactory | None:
        """A factory that keeps what it makes."""
        return None if self._factory is None else self._make

    def print(self, *, wide: bool = False) -> None:
        """Print which nodes came and went, if there is an autoscaler."""
        if self.autoscaler is not None:
            _print_autoscaled(self.autoscaler, wide=wide)

    def document(self) -> dict[str, object]:
        """Return what it did, as an entry of a document; empty without one."""
        if self.autoscaler is None:
            return {}
        nodes = self.autoscaler.nodes()
        return {
            "autoscaler": {
                "nodes": _NODES.documents(nodes),
                "groups": _GROUPS.documents(_groups(nodes)),
            }
        }

    def _make(self, context: AutoscalerContext) -> Autoscaler:
        assert self._factory is not None
        self.autoscaler = self._factory(context)
        return self.autoscaler


def autoscaler_option(*, required: bool = False) -> Callable[[F], F]:
    """The option ``--autoscaler``, which gives a command ``autoscaler_file``.

    Args:
        required: Whether the command needs it.
    """
    return click.option(
        "--autoscaler",
        "autoscaler_file",
        metavar="FILE",
        required=required,
        type=click.Path(dir_okay=False),
        help="Let an autoscaler add and remove nodes, as FILE describes it.",
    )


def the_autoscaler(file: str | None) -> AutoscalerFactory | None:
    """Return the autoscaler of a file, or None without a file.

    Raises:
        ConfigErrors: The file is unreadable or invalid.
        AutoscalerError: It describes no autoscaler.
    """
    if file is None:
        return None
    from quaymaster._studies.autoscaling.files import (  # noqa: PLC0415 - rarely needed
        read_autoscaler,
    )

    return read_autoscaler(file)


def _print_autoscaled(autoscaler: Autoscaler, *, wide: bool) -> None:
    nodes = autoscaler.nodes()
    changed = [each for each in nodes if each.ordered is not None or each.removed_for]
    print_line()
    _NODES.print_section(changed, is_wide=wide)
    _GROUPS.print_section(_groups(nodes), is_wide=wide)
    if not changed:
        print_line("the autoscaler changed nothing")


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
_GROUPS: Final = Columns[_Group](
    Column("group", heading="Group of nodes"),
    Column("first"),
    Column("last"),
    Column("added"),
    Column("removed"),
    Column("hours", text="{:.2f}".format),
    Column("cost", text=_money),
)
