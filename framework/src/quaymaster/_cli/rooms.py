"""Prints how much free room a cluster has."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from quaymaster._api.objects.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from quaymaster._base.errors import counted, listed
from quaymaster._cli.amounts import amount, percent, price
from quaymaster._cli.closed_nodes import CLOSED, closed_lines
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.tables import Fit, Heading
from quaymaster._studies.capacity.calls import CapacityResult
from quaymaster._studies.capacity.figures import (
    GroupRoom,
    Headroom,
    NodeRoom,
    ResourceRoom,
    Room,
    TypicalPod,
)
from quaymaster._studies.capacity.grouping import GROUP_LABELS

__all__ = [
    "as_document",
    "group_table",
    "headroom_table",
    "print_capacity",
    "print_groups",
    "print_nodes_csv",
    "print_room",
    "print_room_csv",
    "room_document",
]

_ALL: Final = "(all)"
_OPEN: Final = "(open)"
_CLOSED: Final = "(closed)"
_NONE: Final = "-"
_IMPORTANCE: Final = {CPU: 5, MEMORY: 4, PODS: 1}
_EXTENDED: Final = 2
"""The importance of the columns of other resources."""
_GROUP_HEADINGS: Final = (
    Heading("RESOURCE"),
    *(Heading("ALLOCATABLE", importance=4), Heading("REQUESTED", importance=5)),
    *(Heading("FREE"), Heading("USED", importance=6)),
    Heading("FRAGMENTED", importance=2),
    *(Heading("STRANDED", importance=3), Heading("IMBALANCE", importance=1)),
)
_SHORT: Final = {label: name for name, label in GROUP_LABELS.items()}


def print_capacity(measured: CapacityResult, left_out: int, *, wide: bool) -> None:
    """Print the capacity as tables.

    Args:
        measured: The capacity.
        left_out: How many nodes its room lacks.
        wide: Whether each resource of each node has its own line.
    """
    room = measured.room
    if room.nodes:
        if wide:
            _print_resources(room)
        else:
            _node_columns(room).print(room.nodes)
        if left_out:
            print_line(f"and {counted(left_out, 'more node')}")
        print_line()
    if wide:
        _TYPICAL.print_section(room.typical, is_wide=True)
    print_groups(room, is_fitted=not wide)
    _print_pods(measured)
    for headroom in measured.headroom:
        print_line(_answer(headroom))
        for fact in headroom.facts:
            print_line(f"  {fact}")


def print_room(room: Room) -> None:
    """Print the room of each node, of each group of nodes, and in total."""
    _node_columns(room).print_section(room.nodes)
    print_groups(room)
    print_line(_pods_and_nodes(room.total))


def print_room_csv(room: Room) -> None:
    """Print a line of CSV for each node."""
    _node_columns(room).print_csv(room.nodes)


def print_groups(room: Room, *, is_fitted: bool = True) -> None:
    """Print the room of each group of nodes and in total, and its price.

    Args:
        room: The room.
        is_fitted: Whether tables are fitted to a terminal.
    """
    columns, rows = group_table(room)
    if rows:
        print_table(columns, rows, is_fitted=is_fitted)
        print_line()
    for line in closed_lines(room.closed_nodes):
        print_line(line)
    _print_prices(room)


def group_table(room: Room) -> tuple[list[Heading], list[list[object]]]:
    """Return the room of each group of nodes and in total: headings and cells."""
    groups = room.groups if len(room.groups) > 1 else ()
    by = room.by if groups else ()
    names = [_SHORT.get(label, label).upper() for label in by] or ["GROUP"]
    counts = [Heading("CLOSED", importance=3)] if room.closed else []
    shown = _shown(room)
    rows = [
        [*keys, group.nodes, *(group.closed for _ in counts), *cells]
        for keys, group in _groups(room, groups, by)
        for cells in _group_rows(group, shown)
    ]
    headings = [Heading(name, Fit.NAME) for name in names]
    return [*headings, Heading("NODES"), *counts, *_GROUP_HEADINGS], rows


def headroom_table(measured: CapacityResult) -> tuple[list[str], list[list[str]]]:
    """Return how many more of each requested pod fit, for a page."""
    return _HEADROOM.table(measured.headroom)


def as_document(measured: CapacityResult) -> dict[str, object]:
    """The capacity as plain data, in the form of ``-o json``."""
    result = measured.result
    return {
        **room_document(measured.room),
        "headroom": [_headroom_document(headroom) for headroom in measured.headroom],
        "summary": {
            "pods": result.pods,
            "placed": len(result.placements),
            "unscheduled": len(result.unscheduled),
            "nodes": result.nodes,
        },
        "warnings": notice_documents(result.notices),
    }


def room_document(room: Room) -> dict[str, object]:
    """The room as plain data: CPU in millicores, memory and storage in bytes."""
    return {
        "by": list(room.by),
        "total": _group_document(room.total, ()),
        "open": room.open and _group_document(room.open, ()),
        "closed": room.closed and _group_document(room.closed, ()),
        "closedNodes": CLOSED.documents(room.closed_nodes),
        "groups": [_group_document(group, room.by) for group in room.groups],
        "nodes": _node_columns(room).documents(room.nodes),
        "typicalPods": _TYPICAL.documents(room.typical),
    }


def print_nodes_csv(measured: CapacityResult) -> None:
    """Print a line of CSV for each node, with how many more of each pod fit on it."""
    columns = _node_columns(measured.room)
    documents = columns.documents(measured.room.nodes)
    if not measured.headroom:
        print_csv(documents, columns.keys)
        return
    for document in documents:
        document["fits"] = {
            headroom.pod: headroom.nodes.get(str(document["node"]), 0)
            for headroom in measured.headroom
        }
    print_csv(documents, [*columns.keys, "fits"])


def _group_document(group: GroupRoom, by: Sequence[str]) -> dict[str, object]:
    resources = {
        name: {
            **cells,
            "imbalance": group.imbalance.get(name, 0.0),
            "fragmentation": group.fragmentation.get(name),
            "stranded": group.stranded.get(name),
        }
        for name, cells in _resources_document(group.resources).items()
    }
    document: dict[str, object] = {
        "nodes": group.nodes,
        "closed": group.closed,
        "pods": group.pods,
        "resources": resources,
        "pricePerHour": group.price_per_hour,
        "unpriced": group.unpriced,
    }
    labels = dict(zip(by, group.group, strict=True))
    return {"labels": labels, **document} if by else document


def _resources_document(
    resources: Mapping[str, ResourceRoom],
) -> dict[str, dict[str, object]]:
    return {name: _RESOURCE.document(amounts) for name, amounts in resources.items()}


def _shown(room: Room) -> list[str]:
    """The resources that tables show: storage only if some pod requests it."""
    return [
        name
        for name, resource_room in room.total.resources.items()
        if name != EPHEMERAL_STORAGE or resource_room.requested
    ]


def _groups(
    room: Room, groups: Iterable[GroupRoom], by: Sequence[str]
) -> Iterable[tuple[list[str], GroupRoom]]:
    """Yield the first cells of each group, and the group; all nodes are the last."""
    for group in groups:
        yield [value or _NONE for value in group.group], group
    totals = ((_OPEN, room.open), (_CLOSED, room.closed), (_ALL, room.total))
    for name, total in totals:
        if total is not None:
            yield [name, *("" for _ in by[1:])], total


def _group_rows(group: GroupRoom, shown: Iterable[str]) -> Iterable[list[str]]:
    for name in shown:
        resource_room = group.resources.get(name)
        if resource_room is not None:
            yield [
                name,
                *_amounts(name, resource_room),
                _part(group.fragmentation.get(name)),
                _part(group.stranded.get(name)),
                f"{group.imbalance.get(name, 0.0):.2f}",
            ]


def _part(part: float | None) -> str:
    return _NONE if part is None else percent(part)


def _amounts(name: str, resource_room: ResourceRoom) -> list[str]:
    numbers = (resource_room.allocatable, resource_room.requested, resource_room.free)
    return [
        *(amount(name, number) for number in numbers),
        percent(resource_room.utilization),
    ]


def _node_columns(room: Room) -> Columns[NodeRoom]:
    priced = room.total.price_per_hour is not None
    shown = _shown(room)
    return Columns[NodeRoom](
        Column("node", fit=Fit.NODE),
        Column("status", importance=3),
        Column(
            "labels",
            value=lambda node: dict(zip(room.by, node.group, strict=True)),
            shown=Shown.NEVER,
        ),
        "pods",
        Column(
            "resources",
            value=lambda node: _resources_document(node.resources),
            shown=Shown.NEVER,
        ),
        *(
            Column(
                heading=_short(name, shown),
                value=partial(_used, name),
                importance=_IMPORTANCE.get(name, _EXTENDED),
            )
            for name in shown
        ),
        Column(
            "pricePerHour",
            heading="Price/h",
            text=price,
            shown=Shown.ALWAYS if priced else Shown.NEVER,
            importance=2,
        ),
    )


def _short(name: str, names: Iterable[str]) -> str:
    """Return the last part of a resource's name, unless another one has it, too."""
    last = name.rpartition("/")[2]
    is_clear = sum(other.rpartition("/")[2] == last for other in names) == 1
    return last if is_clear else name


def _used(name: str, node: NodeRoom) -> str:
    resource_room = node.resources.get(name)
    if resource_room is None:
        return _NONE
    used = amount(name, resource_room.requested)
    return f"{used}/{amount(name, resource_room.allocatable)}"


def _print_resources(room: Room) -> None:
    names = [_SHORT.get(label, label).upper() for label in room.by]
    columns = ["RESOURCE", "ALLOCATABLE", "REQUESTED", "FREE", "USED", "PRICE/H"]
    rows = [
        [
            node.node,
            node.status,
            *(value or _NONE for value in node.group),
            name,
            *_amounts(name, amounts),
            price(node.price_per_hour),
        ]
        for node in room.nodes
        for name, amounts in node.resources.items()
    ]
    print_table(["NODE", "STATUS", *names, *columns], rows, is_fitted=False)


def _requests(requests: Mapping[str, int]) -> str:
    texts = [
        f"{name}={amount(name, number)}"
        for name, number in requests.items()
        if name != PODS
    ]
    return ",".join(texts) or _NONE


_DOMAINS: Final = 20
"""How many topology domains are named in the answer about a PodGroup."""

_HEADROOM: Final = Columns[Headroom](
    Column("pod"),
    Column("fits", heading="More that fit"),
    *("limit", "nodes"),
    Column("message", heading="Why not more"),
    Column("facts", text="; ".join),
)
_RESOURCE: Final = Columns[ResourceRoom](
    *("allocatable", "requested", "free", "utilization")
)
_TYPICAL: Final = Columns[TypicalPod](
    Column("pod", heading="Typical pod"),
    Column("pods"),
    Column("nodes", heading="Nodes that fit"),
    Column("requests", text=_requests),
)


def _print_prices(room: Room) -> None:
    total = room.total
    if total.price_per_hour is None:
        return
    missing = counted(total.unpriced, "node")
    has = "has" if total.unpriced == 1 else "have"
    rest = f"; {missing} {has} no price" if total.unpriced else ""
    print_line(f"price: {price(total.price_per_hour)} per hour{rest}")
    for group in room.groups if len(room.groups) > 1 else ():
        name = ", ".join(value or _NONE for value in group.group)
        print_line(f"  {name}: {price(group.price_per_hour)}")


def _print_pods(measured: CapacityResult) -> None:
    total, result = measured.room.total, measured.result
    print_line(_pods_and_nodes(total))
    waiting = len(result.unscheduled)
    if waiting:
        have = "has" if waiting == 1 else "have"
        print_line(f"{counted(waiting, 'pod')} {have} no node")


def _headroom_document(headroom: Headroom) -> dict[str, object]:
    document = _HEADROOM.document(headroom)
    if headroom.group_size:
        document["groupSize"] = headroom.group_size
        document["domains"] = dict(headroom.domains)
    return document


def _gangs(headroom: Headroom) -> str:
    """Return how many more copies of a PodGroup fit."""
    copies = counted(headroom.fits, "more gang")
    fit = "fits" if headroom.fits == 1 else "fit"
    text = f"{copies} of {headroom.group_size} like {headroom.pod} {fit}"
    if headroom.domains:
        counts = [f"{name}: {count}" for name, count in headroom.domains.items()]
        text += f" ({listed(counts, _DOMAINS)})"
    if headroom.message:
        return f"{text}; then {headroom.message}"
    return f"{text}, or more (--at-most was reached)"


def _pods_and_nodes(total: GroupRoom) -> str:
    return f"{counted(total.pods, 'pod')} on {counted(total.nodes, 'node')}"


def _answer(headroom: Headroom) -> str:
    if headroom.group_size:
        return _gangs(headroom)
    if headroom.message:
        return f"{headroom.fits} more of {headroom.pod} fit; then {headroom.message}"
    limit = f"--at-most {headroom.limit} was reached"
    return f"{headroom.fits} more of {headroom.pod} fit, or more ({limit})"
