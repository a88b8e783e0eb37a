"""Prints how much free room a cluster has."""

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
    """Print the capacity as tables.

    Args:
        found: The capacity.
        wide: Whether each resource of each node has its own line.
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
        print_line(_answer(headroom))


def print_groups(room: Room) -> None:
    """Print the room of each group of nodes and in total, and its price."""
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
    """The capacity as plain data, in the form of ``-o json``."""
    result = found.result
    return {
        **room_document(found.room),
        "headroom": [
            {
                "pod": headroom.pod,
                "fits": headroom.fits,
                "limit": headroom.limit,
                "nodes": dict(headroom.nodes),
                "message": headroom.message,
            }
            for headroom in found.headroom
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
                "node": node.node,
                "labels": dict(zip(room.by, node.group, strict=True)),
                "pods": node.pods,
                "resources": _resources_document(node.resources),
                "pricePerHour": node.price_per_hour,
            }
            for node in room.nodes
        ],
        "typicalPods": [
            {
                "pod": pod.pod,
                "pods": pod.pods,
                "requests": dict(pod.requests),
                "nodes": pod.nodes,
            }
            for pod in room.typical
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
            "allocatable": resource_room.allocatable,
            "requested": resource_room.requested,
            "free": resource_room.free,
            "utilization": resource_room.utilization,
        }
        for name, resource_room in resources.items()
    }


def _shown(room: Room) -> list[str]:
    """The resources that tables show: storage only if some pod requests it."""
    return [
        name
        for name, resource_room in room.total.resources.items()
        if name != EPHEMERAL_STORAGE or resource_room.requested
    ]


def _keys(group: GroupRoom, by: Sequence[str]) -> list[str]:
    if group.group or not by:
        return [value or _NONE for value in group.group] or [_ALL]
    return [_ALL, *("" for _ in by[1:])]


def _group_rows(group: GroupRoom, shown: Iterable[str]) -> Iterable[list[str]]:
    for name in shown:
        resource_room = group.resources.get(name)
        if resource_room is not None:
            yield [
                str(group.nodes),
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


def _print_nodes(room: Room) -> None:
    shown = _shown(room)
    priced = room.total.price_per_hour is not None
    columns = ["NODE", *(name.upper() for name in shown)]
    rows = [
        [
            node.node,
            *(_used(node, name) for name in shown),
            *([price(node.price_per_hour)] if priced else []),
        ]
        for node in room.nodes
    ]
    print_table([*columns, *(["PRICE/H"] if priced else [])], rows)


def _used(node: NodeRoom, name: str) -> str:
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
            *(value or _NONE for value in node.group),
            name,
            *_amounts(name, amounts),
            price(node.price_per_hour),
        ]
        for node in room.nodes
        for name, amounts in node.resources.items()
    ]
    print_table(["NODE", *names, *columns], rows)


def _print_typical(room: Room) -> None:
    rows = [
        [
            pod.pod,
            pod.pods,
            pod.nodes,
            ",".join(
                f"{name}={amount(name, number)}"
                for name, number in pod.requests.items()
                if name != PODS
            )
            or _NONE,
        ]
        for pod in room.typical
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


def _answer(headroom: Headroom) -> str:
    if headroom.message:
        return f"{headroom.fits} more of {headroom.pod} fit; then {headroom.message}"
    limit = f"--at-most {headroom.limit} was reached"
    return f"{headroom.fits} more of {headroom.pod} fit, or more ({limit})"
