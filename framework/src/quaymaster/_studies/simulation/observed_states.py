"""The states of one simulated cluster, before and after each of its changes."""

from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.run import Simulation

__all__ = ["ObservedStates"]

_MOST_OBJECTS: Final = 200_000
"""How many nodes and pods all states together have, about: a page contains them."""

_LEAST: Final = 2
_MOST: Final = 50


class ObservedStates:
    """Records the states of a simulation, of large clusters only the last ones.

    Args:
        simulation: The simulation; None if it is not observed.
    """

    def __init__(self, simulation: Simulation | None) -> None:
        self._simulation = simulation
        self._states: list[ObservedRun] = []

    @property
    def runs(self) -> tuple[ObservedRun, ...]:
        """The recorded states, in order."""
        return tuple(self._states)

    def look(self, name: str) -> None:
        """Record the current state under a name."""
        if self._simulation is None:
            return
        self._states.append(self._simulation.observed(name))
        cluster = self._simulation.cluster
        objects = len(cluster.list(Node).items) + len(cluster.list(Pod).items)
        most = min(_MOST, max(_LEAST, _MOST_OBJECTS // max(1, objects)))
        del self._states[:-most]

    def rename_last(self, name: str) -> None:
        """Give another name to the last state, if any."""
        if self._states:
            self._states[-1] = attrs.evolve(self._states[-1], name=name)
