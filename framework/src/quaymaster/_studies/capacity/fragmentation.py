"""Fragmentation: how much of the free room typical pods cannot use."""

from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.state.arrays import BoolArray, Float64Array, RowArray
from quaymaster._studies.capacity.columns import AmountColumns
from quaymaster._studies.capacity.typical import PodShape, one_more, pod_shapes
from quaymaster._studies.simulation.run import Simulation

__all__ = ["FittingShape", "Fragmentation", "fitting_shapes"]


@attrs.frozen(kw_only=True, eq=False)
class FittingShape:
    """A kind of pods, and the nodes where one more of it fits.

    Attributes:
        shape: The pods.
        fits: Shape ``(N,)``, dtype bool: the nodes where one more fits.
    """

    shape: PodShape
    fits: BoolArray


def fitting_shapes(simulation: Simulation) -> list[FittingShape]:
    """Find the nodes where one more of each typical pod fits.

    It runs PreFilter and Filter of the pod's profile. Nothing changes. Pods of other
    schedulers are left out.
    """
    scheduler = simulation.scheduler
    profiles = scheduler.frameworks
    pods = [
        pod
        for pod in simulation.cluster.list(Pod).items
        if pod.spec.scheduler_name in profiles
    ]
    return [
        FittingShape(shape=shape, fits=_fits(simulation, shape.pod))
        for shape in pod_shapes(pods)
    ]


def _fits(simulation: Simulation, pod: Pod) -> BoolArray:
    scheduler = simulation.scheduler
    nodes = scheduler.snapshot.nodes
    fits: BoolArray = np.zeros(len(nodes), dtype=np.bool_)
    algorithm = scheduler.frameworks[pod.spec.scheduler_name].plain
    attempt = Attempt.begin(CycleState(), one_more(pod), nodes)
    passed = (
        algorithm.judge(attempt, nodes.rows) if len(nodes) else Status.unresolvable()
    )
    if not isinstance(passed, Status):
        # Rows have gaps where nodes were deleted; the columns have none.
        numbers = nodes.row_numbers(nodes.rows)
        fits[np.searchsorted(numbers, nodes.row_numbers(passed))] = True
    return fits


class Fragmentation:
    """Measures fragmentation on nodes.

    Args:
        columns: The nodes' amounts.
        shapes: The typical pods, and the nodes where they fit.
    """

    def __init__(self, columns: AmountColumns, shapes: Sequence[FittingShape]) -> None:
        self._columns = columns
        self._refused: dict[str, Float64Array] = {}
        self._stranded: dict[str, BoolArray] = {}
        for resource in columns.offered:
            asking = [shape for shape in shapes if shape.shape.requests.get(resource)]
            if asking:
                counts = [shape.shape.count for shape in asking]
                unfit = np.stack([~shape.fits for shape in asking])
                self._refused[resource] = np.average(unfit, axis=0, weights=counts)
                self._stranded[resource] = np.logical_and.reduce(unfit, axis=0)

    def mean(self, at: RowArray) -> Mapping[str, float]:
        """Return the part of the free room that the mean pod cannot use, by resource.

        Args:
            at: The indices of the nodes in the columns.
        """
        return self._shares(at, self._refused)

    def stranded(self, at: RowArray) -> Mapping[str, float]:
        """Return the part that none of the typical pods can use; see `mean`."""
        return self._shares(at, self._stranded)

    def _shares(
        self, at: RowArray, lost: Mapping[str, Float64Array | BoolArray]
    ) -> Mapping[str, float]:
        shares = {}
        for resource, part in lost.items():
            free = self._columns.free(resource)[at].astype(np.float64)
            total = free.sum()
            if total:
                shares[resource] = float((free * part[at]).sum() / total)
        return shares
