"""The power of nodes, and the metric of it.

Mirrors ``GetEnergyConsumptionNode`` (``pkg/type/resource.go``) and the numbers of
``pkg/type/open-gpu-share/utils/const.go`` in the simulator of "Power- and
Fragmentation-aware Online Scheduling for GPU Datacenters" (CCGrid 2025).
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import attrs
from quaymaster import NodeInfo
from quaymaster.experiments import Column, Curve, Measured, Metric
from quaymaster.simulation import AttemptOutcome, Run, Step

from quaymaster_openb.gpu_share import GpuShare
from quaymaster_openb.gpus import FULL, MODEL, Gpus

__all__ = ["CPU_GROWTH", "GPU_WATTS", "Power", "active_cpus", "gpu_growth"]

GPU_WATTS: Final[Mapping[str, tuple[int, int]]] = {
    "T4": (10, 70),
    "A10": (30, 150),
    "P100": (25, 250),
    "V100M16": (30, 300),
    "V100M32": (30, 300),
    "A100": (50, 400),
    # The authors take these for A10 and A100.
    "G2": (30, 150),
    "G3": (50, 400),
}
"""Model -> watts of an idle GPU, and of one that has any pod; others count as 0."""

# The lists have no models of CPUs, so all nodes have the simulator's default.
_CPU_IDLE: Final = 15
_CPU_FULL: Final = 120
_CORES: Final = 16
CPU_GROWTH: Final = _CPU_FULL - _CPU_IDLE
"""How many watts a CPU takes more as soon as one of its cores is in use."""

# Two virtual cores are one core.
_MILLI_OF_CORE: Final = 2 * 1000


def active_cpus(capacity: int, left: int) -> int:
    """Return how many CPUs of a node are in use.

    Args:
        capacity: The CPU of the node, in thousandths of virtual cores.
        left: What is left of it.
    """
    return -(-_working_cores(capacity, left) // _CORES)


def gpu_growth(model: str | None) -> int:
    """Return how many watts a GPU takes more when it gets its first pod."""
    idle, full = GPU_WATTS.get(model or "", (0, 0))
    return full - idle


def _working_cores(capacity: int, left: int) -> int:
    return -(-capacity // _MILLI_OF_CORE) - left // _MILLI_OF_CORE


def _watts(node: NodeInfo, left: Sequence[int]) -> tuple[int, int]:
    """Return the watts of the CPUs and of the GPUs of a node."""
    capacity = node.allocatable.milli_cpu
    cpus = -(-_working_cores(capacity, 0) // _CORES)
    active = active_cpus(capacity, capacity - node.requested.milli_cpu)
    idle, full = GPU_WATTS.get(node.labels.get(MODEL, ""), (0, 0))
    free = left.count(FULL)
    return (
        _CPU_IDLE * (cpus - active) + _CPU_FULL * active,
        idle * free + full * (len(left) - free),
    )


@attrs.define(kw_only=True, eq=False)
class Power(Metric):
    """The power of the cluster in watts, after each arrival and at the end.

    The profile has `GpuShare`, or a plugin that is one.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(name="", unit="W", formula="power of all CPUs and GPUs, at the end"),
        Column(name="cpu", unit="W", formula="power of all CPUs, at the end"),
        Column(name="gpu", unit="W", formula="power of all GPUs, at the end"),
        Column(name="used_nodes", unit="nodes", formula="nodes with pods, at the end"),
    )
    curves_over: ClassVar[str] = "arrivals (pods)"
    _gpus: Gpus = attrs.field(init=False)
    _of_node: dict[str, tuple[int, int]] = attrs.field(init=False, factory=dict)
    _cpu: int = attrs.field(init=False, default=0)
    _gpu: int = attrs.field(init=False, default=0)
    _used: set[str] = attrs.field(init=False, factory=set)
    _points: list[tuple[int, int]] = attrs.field(init=False, factory=list)

    def begin(self, run: Run) -> None:
        """Measure the empty cluster."""
        self._gpus = run.plugin(GpuShare).gpus
        for node in run.snapshot.nodes:
            self._measure(node)

    def step(self, run: Run, step: Step) -> None:
        """Measure the node of a placed pod."""
        if step.outcome is AttemptOutcome.SCHEDULED:
            node = run.snapshot.get(step.node)
            assert node is not None, "the pod is on it"
            self._used.add(step.node)
            self._measure(node)
        self._points.append((self._cpu, self._gpu))

    def end(self, _run: Run) -> Measured:
        """Return the power."""
        x = range(1, len(self._points) + 1)
        cpu, gpu = [point[0] for point in self._points], [p[1] for p in self._points]
        curves = [Curve(name="cpu", x=x, y=cpu), Curve(name="gpu", x=x, y=gpu)]
        values = {
            "": self._cpu + self._gpu,
            "cpu": self._cpu,
            "gpu": self._gpu,
            "used_nodes": len(self._used),
        }
        return Measured(values=values, curves=curves)

    def _measure(self, node: NodeInfo) -> None:
        cpu, gpu = _watts(node, self._gpus.on(node))
        before = self._of_node.get(node.name, (0, 0))
        self._cpu += cpu - before[0]
        self._gpu += gpu - before[1]
        self._of_node[node.name] = cpu, gpu
