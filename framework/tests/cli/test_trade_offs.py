"""Plans in rounds say what the last pods cost, if they are dearer than the others."""

from decimal import Decimal

import pytest

from quaymaster.planning import Plan, PlannedGroup, PlannedRound, parse_node_group
from tests.kit.internals.cli import trade_off

GROUP = PlannedGroup(
    group=parse_node_group("name=g,cpu=4,memory=8Gi,price=1"), nodes=10
)


def plan_of(*rounds: tuple[int, int]) -> Plan:
    """Return a plan whose rounds have a cost so far and a number of pending pods."""
    return Plan(
        groups=(GROUP,),
        is_found=True,
        rounds=tuple(
            PlannedRound(nodes=(1,), pending=pending, cost=Decimal(cost))
            for cost, pending in rounds
        ),
    )


@pytest.mark.parametrize(
    ("rounds", "line"),
    [
        pytest.param(
            ((0, 969), (900, 100), (1400, 2), (6900, 0)),
            "967 of 969 pods for 1400; the last 2 pods cost 5500 more",
            id="the last pods are dear",
        ),
        pytest.param(
            ((0, 5000), (2, 4814), (160, 1100), (260, 50), (264, 0)),
            "3900 of 5000 pods for 160; the last 1100 pods cost 104 more",
            id="the first pods are cheap, but few",
        ),
        pytest.param(((0, 100), (80, 10), (81, 0)), "", id="the last pods are cheaper"),
        pytest.param(
            ((0, 100), (1, 60), (100, 0)), "", id="most pods are in the last round"
        ),
        pytest.param((), "", id="no rounds"),
    ],
)
def test_trade_off_is_where_pods_become_dearest(
    rounds: tuple[tuple[int, int], ...], line: str
) -> None:
    assert trade_off(plan_of(*rounds)) == line
