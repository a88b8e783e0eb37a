"""Prints how much room a cluster has."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects.resource_names import EPHEMERAL_STORAGE, PODS
from quaymaster._base.errors import counted
from quaymaster._cli.amounts import amount, percent, price
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line, print_table
from quaymaster._studies.capacity.calls import CapacityResult
from quaymaster._studies.capacity.figures import (
    GroupRoom,
    Headroom,
    NodeRoom,
    ResourceRoom,
    Room,
)
from quaymaster._studies.capacity.grouping import GROUP_LABELS

__all__ = ["as_document", "print_capacity", "print_groups", "room_document"]

_ALL: Final = "(all)"
_NONE: Final = "-"
_SHORT: Final = {label: name for name, label in GROUP_LABELS.items()}


def print_capacity(found: CapacityResult, *, wide: bool) -> None:
    """Print all that is known as tables.

    Args:
        found: What is known.
        wide: Whether each resource of each node has a line of its own.
    """
    room = found.room
    if room.nodes:
        (_print_resources if wide else _print_nodes)(room)
        print_line()
    if wide and room.typical:
        _print_typical(room)
        print_line()
    print_groups(room)
    _print_pods(found)
    for headroom in found.headroom:
        print_line(_told(headroom))


def print_groups(room: Room) -> None:
    """Print the room on each group of nodes and in all, and what it costs."""
    groups = room.groups if len(room.groups) > 1 else ()
    by = room.by if groups else ()
    names = [_SHORT.get(label, label).upper() for label in by]
    columns = ["NODES", "RESOURCE", "ALLOCATABLE", "REQUESTED", "FREE", "USED"]
    columns += ["FRAGMENTED", "STRANDED", "IMBALANCE"]
    shown = _shown(room)
    rows = [
        [*_keys(group, by), *cells]
        for group in (*groups, room.total)
        for cells in _group_rows(group, shown)
    ]
    if rows:
        print_table([*(names or ["GROUP"]), *columns], rows)
        print_line()
    _print_prices(room)


def as_document(found: CapacityResult) -> dict[str, object]:
    """All that is known as plain data, in the form of ``-o json``."""
    result = found.result
    return {
        **room_document(found.room),
        "headroom": [
            {
                "pod": one.pod,
                "fits": one.fits,
                "limit": one.limit,
                "nodes": dict(one.nodes),
                "message": one.message,
            }
            for one in found.headroom
        ],
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
        "groups": [_group_document(group, room.by) for group in room.groups],
        "nodes": [
            {
                "node": one.node,
                "labels": dict(zip(room.by, one.group, strict=True)),
                "pods": one.pods,
                "resources": _resources_document(one.resources),
                "pricePerHour": one.price_per_hour,
            }
            for one in room.nodes
        ],
        "typicalPods": [
            {
                "pod": one.pod,
                "pods": one.pods,
                "requests": dict(one.requests),
                "nodes": one.nodes,
            }
            for one in room.typical
        ],
    }


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
    return {
        name: {
            "allocatable": one.allocatable,
            "requested": one.requested,
            "free": one.free,
            "utilization": one.utilization,
        }
        for name, one in resources.items()
    }


def _shown(room: Room) -> list[str]:
    """The resources that tables show: storage only if some pod requests it."""
    return [
        name
        for name, one in room.total.resources.items()
        if name != EPHEMERAL_STORAGE or one.requested
    ]


def _keys(group: GroupRoom, by: Sequence[str]) -> list[str]:
    if group.group or not by:
        return [value or _NONE for value in group.group] or [_ALL]
    return [_ALL, *("" for _ in by[1:])]


def _group_rows(group: GroupRoom, shown: Iterable[str]) -> Iterable[list[str]]:
    for name in shown:
        one = group.resources.get(name)
        if one is not None:
            yield [
                str(group.nodes),
                name,
                *_amounts(name, one),
                _part(group.fragmentation.get(name)),
                _part(group.stranded.get(name)),
                f"{group.imbalance.get(name, 0.0):.2f}",
            ]


def _part(part: float | None) -> str:
    return _NONE if part is None else percent(part)


def _amounts(name: str, one: ResourceRoom) -> list[str]:
    numbers = (one.allocatable, one.requested, one.free)
    return [*(amount(name, number) for number in numbers), percent(one.utilization)]


def _print_nodes(room: Room) -> None:
    shown = _shown(room)
    priced = room.total.price_per_hour is not None
    columns = ["NODE", *(name.upper() for name in shown)]
    rows = [
        [
            one.node,
            *(_used(one, name) for name in shown),
            *([price(one.price_per_hour)] if priced else []),
        ]
        for one in room.nodes
    ]
    print_table([*columns, *(["PRICE/H"] if priced else [])], rows)


def _used(node: NodeRoom, name: str) -> str:
    one = node.resources.get(name)
    if one is None:
        return _NONE
    return f"{amount(name, one.requested)}/{amount(name, one.allocatable)}"


def _print_resources(room: Room) -> None:
    names = [_SHORT.get(label, label).upper() for label in room.by]
    columns = ["RESOURCE", "ALLOCATABLE", "REQUESTED", "FREE", "USED", "PRICE/H"]
    rows = [
        [
            one.node,
            *(value or _NONE for value in one.group),
            name,
            *_amounts(name, amounts),
            price(one.price_per_hour),
        ]
        for one in room.nodes
        for name, amounts in one.resources.items()
    ]
    print_table(["NODE", *names, *columns], rows)


def _print_typical(room: Room) -> None:
    rows = [
        [
            one.pod,
            one.pods,
            one.nodes,
            ",".join(
                f"{name}={amount(name, number)}"
                for name, number in one.requests.items()
                if name != PODS
            )
            or _NONE,
        ]
        for one in room.typical
    ]
    print_table(["TYPICAL POD", "PODS", "NODES THAT FIT", "REQUESTS"], rows)


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


def _print_pods(found: CapacityResult) -> None:
    total, result = found.room.total, found.result
    print_line(f"{counted(total.pods, 'pod')} on {counted(total.nodes, 'node')}")
    waiting = len(result.unscheduled)
    if waiting:
        have = "has" if waiting == 1 else "have"
        print_line(f"{counted(waiting, 'pod')} {have} no node")


def _told(headroom: Headroom) -> str:
    if headroom.message:
        return f"{headroom.fits} more of {headroom.pod} fit; then {headroom.message}"
    limit = f"--at-most {headroom.limit} was reached"
    return f"{headroom.fits} more of {headroom.pod} fit, or more ({limit})"
