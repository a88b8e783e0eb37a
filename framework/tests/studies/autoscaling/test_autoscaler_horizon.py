"""Simulations whose autoscaler never settles."""

from collections.abc import Mapping, Sequence

from quaymaster.autoscaling import AutoscaledNode, AutoscalerContext
from quaymaster.simulation import Simulation, simulate
from quaymaster.testing import make_node, make_pod

HOUR = 3600.0
WEEK = 7 * 24 * HOUR


class Restless:
    """Looks every hour, and never has settled."""

    def __init__(self, context: AutoscalerContext) -> None:
        self._clock = context.cluster.clock

    def start(self) -> None:
        self._clock.call_later(HOUR, self.start, background=True)

    @property
    def is_settled(self) -> bool:
        return False

    def nodes(self) -> Sequence[AutoscaledNode]:
        return []

    def reasons_to_stay(self) -> Mapping[str, str]:
        return {}

    def reasons_not_to_grow(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    def close(self) -> None:
        pass


OBJECTS = [make_node(name="a", capacity={"cpu": "2", "memory": "4Gi"}), make_pod()]


def test_simulation_ends_after_a_week_with_a_notice() -> None:
    result = simulate(OBJECTS, autoscaler=Restless)
    assert [placement.node for placement in result.placements] == ["a"]
    [notice] = result.notices
    assert notice.reason == "UnsettledAutoscaler"
    assert str(notice).startswith("after 7 days of virtual time, the autoscaler")


def test_each_settling_has_a_week() -> None:
    with Simulation(OBJECTS, autoscaler=Restless) as simulation:
        simulation.settle()
        assert simulation.now == WEEK
        assert not simulation.has_settled
        simulation.settle()
        assert simulation.now == 2 * WEEK
