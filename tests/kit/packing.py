"""Perfect packing of pods on nodes: an integer program, solved by HiGHS."""

import importlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import attrs

__all__ = ["PackedGroup", "PackedKind", "cheapest_packing"]


@attrs.frozen(kw_only=True)
class PackedKind:
    """Identical pods: how many, their CPU in millicores, their memory in mebibytes."""

    count: int
    cpu: int
    memory: int
    is_apart: bool = False


@attrs.frozen(kw_only=True)
class PackedGroup:
    """Nodes of one shape, without what DaemonSets take: the most, and the price."""

    price: int
    most: int
    cpu: int
    memory: int
    daemon_cpu: int = 0


def cheapest_packing(
    kinds: Sequence[PackedKind],
    groups: Sequence[PackedGroup],
    max_cpu: Fraction = Fraction(1),
) -> int:
    """Return what the cheapest nodes cost on which all pods fit, however placed.

    Args:
        kinds: The pods.
        groups: The nodes.
        max_cpu: The part of the nodes' CPU that may be requested in all.
    """
    highspy: Any = importlib.import_module("highspy")  # it has no types
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    costs, rooms = [], []
    placed: list[list[Any]] = [[] for _ in kinds]
    for group in groups:
        before = None
        for _ in range(group.most):
            used = model.addBinary()
            pods = [
                model.addIntegral(0, 1 if kind.is_apart else kind.count)
                for kind in kinds
            ]
            pairs = list(zip(kinds, pods, strict=True))
            model.addConstr(
                model.qsum([kind.cpu * n for kind, n in pairs]) <= group.cpu * used
            )
            model.addConstr(
                model.qsum([kind.memory * n for kind, n in pairs])
                <= group.memory * used
            )
            if before is not None:
                model.addConstr(used <= before)
            before = used
            costs.append(group.price * used)
            whole = group.cpu + group.daemon_cpu
            room = max_cpu.numerator * whole - max_cpu.denominator * group.daemon_cpu
            rooms.append(room * used)
            for row, n in zip(placed, pods, strict=True):
                row.append(n)
    for kind, row in zip(kinds, placed, strict=True):
        model.addConstr(model.qsum(row) == kind.count)
    requested = sum(kind.count * kind.cpu for kind in kinds)
    model.addConstr(model.qsum(rooms) >= max_cpu.denominator * requested)
    model.minimize(model.qsum(costs))
    cost: float = model.getInfo().objective_function_value
    return round(cost)
