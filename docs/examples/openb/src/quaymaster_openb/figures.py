"""The figures that the paper draws: allocation and fragmentation over arrivals.

Mirrors ``ClusterGpuFragReport`` (``pkg/simulator/analysis.go``), and the scripts that
make the published tables of its log (``experiments/analysis``).
"""

import attrs
import numpy as np
from quaymaster import Int64Array, NodeInfo
from quaymaster.columns import Float64Array
from quaymaster.experiments import Curve, Measured, Metric
from quaymaster.simulation import Run, Step, StepOutcome

from quaymaster_openb.fragmentation import Fragmentation, fragmentation_by
from quaymaster_openb.gpu_share import GpuShare
from quaymaster_openb.gpus import COUNT, FULL, MODEL, Gpus
from quaymaster_openb.typical_pods import TypicalPods
from quaymaster_openb.wishes import Wish

__all__ = ["Figures"]


@attrs.define(kw_only=True, eq=False)
class Figures(Metric):
    """Allocation and fragmentation, by what has arrived in percent of all GPUs.

    Curves: ``alloc``, GPUs in use; ``frag_amount``, GPUs that are free and fragmented,
    both in percent of all; ``frag``, what is fragmented in percent of what is free. A
    point is the mean over the arrivals between half a percent before and behind it.
    Columns: their last points, and ``failed``, how many pods found no node.

    The profile has `GpuShare`, or a plugin that is one: it knows what GPUs have left.
    """

    _gpus: Gpus = attrs.field(init=False)
    _fragmentation: Fragmentation = attrs.field(
        init=False, default=fragmentation_by(())
    )
    _fragmented: dict[str, float] = attrs.field(init=False, factory=dict)
    _capacity: int = attrs.field(init=False, default=0)
    _arrived: int = attrs.field(init=False, default=0)
    _used: int = attrs.field(init=False, default=0)
    _failed: int = attrs.field(init=False, default=0)
    _amount: float = attrs.field(init=False, default=0.0)
    _points: list[tuple[float, float, float, float]] = attrs.field(
        init=False, factory=list
    )

    def begin(self, run: Run) -> None:
        """Look at the empty cluster."""
        targets = run.cluster.list(TypicalPods).items
        typical = tuple(pod for target in targets for pod in target.pods)
        self._fragmentation = fragmentation_by(typical)
        self._gpus = run.plugin(GpuShare).gpus  # the column that the policies ask
        for node in run.snapshot.nodes:
            self._capacity += FULL * int(node.labels.get(COUNT, "0"))
            self._measure(node)
        self._amount = sum(self._fragmented.values())

    def step(self, run: Run, step: Step) -> None:
        """Note what an arrival has changed."""
        if step.outcome is StepOutcome.ERROR:
            raise RuntimeError(f"{step.pod.key}: {step.message}")
        total = Wish.of(step.pod).total
        self._arrived += total
        if step.outcome is StepOutcome.BOUND:
            node = run.snapshot.get(step.node)
            assert node is not None, "the pod is on it"
            self._used += total
            self._amount -= self._fragmented[step.node]
            self._amount += self._measure(node)
        else:
            self._failed += 1
        percent, idle = self._capacity / 100, self._capacity - self._used
        amount = round(self._amount, 2)
        ratio = round(100 * self._amount / idle, 2) if idle else 0.0
        self._points.append(
            (
                self._arrived / percent,
                _rounded(self._used / percent),
                amount / percent,
                ratio,
            )
        )

    def end(self, _run: Run) -> Measured:
        """Return the curves."""
        found = np.array(self._points).reshape(-1, 4)
        if not len(found):
            return Measured(values={"failed": 0})
        bins = np.round(found[:, 0]).astype(np.int64)
        x = range(int(bins.max()) + 1)
        means = np.array([_mean(found[:, 1:], bins, place) for place in x])
        alloc, amount = np.round(means[:, 0], 2), np.round(means[:, 1], 2)
        y = {"alloc": alloc, "frag_amount": amount, "frag": means[:, 2]}
        curves = [
            Curve(name=name, x=x, y=values.tolist()) for name, values in y.items()
        ]
        last = {name: float(values[-1]) for name, values in y.items()}
        return Measured(values={**last, "failed": self._failed}, curves=curves)

    def _measure(self, node: NodeInfo) -> float:
        cpu = node.allocatable.milli_cpu - node.requested.milli_cpu
        model, left = node.labels.get(MODEL, ""), self._gpus.on(node)
        amount = self._fragmentation.of(cpu, model, left)
        self._fragmented[node.name] = amount
        return amount


def _rounded(number: float) -> float:
    """Round to two decimals as NumPy does, which takes thirty times as long for one."""
    return round(number * 100) / 100


def _mean(found: Float64Array, bins: Int64Array, place: int) -> Float64Array:
    """The mean of a bin; an empty one takes those beside it."""
    for width in range(len(found) + 1):
        chosen = found[np.abs(bins - place) <= width]
        if len(chosen):
            mean: Float64Array = chosen.mean(axis=0)
            return mean
    raise AssertionError("there are points")
