"""The filters of a profile, for preemption and its trial states."""

from collections.abc import Collection
from typing import Final

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.binding.stations import BindingStations
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.filter_runner import LastingFilters
from quaymaster._core.contract.results import FilteredRows
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.nominated import Nominator
from quaymaster._core.memo.lasting import LastingMemory
from quaymaster._core.state.arrays import BoolArray, Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["ProfileFilters"]

_TOO_EARLY: Final = "the profile is still being built: call this in a hook"


class ProfileFilters:
    """Implements ``FilterRunner`` for one profile.

    Args:
        nominator: The nominations of all pods.
    """

    def __init__(self, nominator: Nominator) -> None:
        self._nominator = nominator
        self._algorithm: Algorithm | None = None
        self._memory: LastingMemory | None = None
        self._stations: BindingStations | None = None
        self._local: frozenset[str] = frozenset()

    def attach(self, algorithm: Algorithm) -> None:
        """Set the algorithm, once all plugins of the profile have been built."""
        self._algorithm = algorithm

    def reserve_by(self, stations: BindingStations, local: Collection[str]) -> None:
        """Set the stations of Reserve, once all plugins have been built.

        Args:
            stations: The stations.
            local: The plugins whose verdict on a node depends on that node alone.
        """
        self._stations = stations
        self._local = frozenset(local)

    @property
    def stations(self) -> BindingStations:
        """The stations of Reserve."""
        if self._stations is None:
            raise RuntimeError(_TOO_EARLY)
        return self._stations

    def remember(self, memory: LastingMemory) -> None:
        """Set the memo of the filters in the profile's attempts."""
        self._memory = memory

    def run(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return self._attached().filter.run(state, pod, node)

    def run_with_nominated_pods(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status | None:
        nominated = self._nominator.pods_on(node.name)
        return self._attached().filter.run_with_nominated_pods(
            state, pod, node, nominated
        )

    def run_on_rows(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        pod_use: PodUse | None = None,
        among: Collection[str] | None = None,
    ) -> FilteredRows | Status:
        attempt = Attempt.begin(state, pod, nodes)
        passed = self._attached().filter.run_on_rows(attempt, rows, pod_use, among)
        if isinstance(passed, Status):
            return passed
        return FilteredRows(passed, attempt.diagnosis)

    def imagine_nominated_pods(self, pod: Pod) -> tuple[NodeTable, BoolArray] | None:
        algorithm = self._attached()
        imagined = algorithm.nominated.imagined(pod)
        if imagined is not None or self._nominator.nodes():
            return imagined
        table = algorithm.nodes.imagined()
        return table, np.zeros(table.capacity, dtype=np.bool_)

    def pod_use(self, state: CycleState) -> PodUse:
        return self._attached().filter.pod_use(state)

    def is_local(self, state: CycleState) -> bool:
        plugins = self._attached().filter.local_plugins(state)
        if plugins is None or self.stations.reserves(state):
            return False
        return self._local.issuperset(plugins)

    def lasting(self, state: CycleState, pod: Pod) -> LastingFilters | None:
        return None if self._memory is None else self._memory.find(state, pod)

    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> Status | None:
        return self._attached().pre_filter.add_pod(state, pod, pod_to_add, node)

    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> Status | None:
        return self._attached().pre_filter.remove_pod(state, pod, pod_to_remove, node)

    def _attached(self) -> Algorithm:
        if self._algorithm is None:
            raise RuntimeError(_TOO_EARLY)
        return self._algorithm
