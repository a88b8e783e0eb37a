"""Workloads that cannot be played, and the reasons."""

from collections.abc import Iterator

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._studies.perf.gates import gate_problems
from quaymaster._studies.perf.load import Workload

__all__ = ["why_left_out"]


def why_left_out(workload: Workload, kubernetes: Kubernetes) -> str:
    """Return why a workload cannot be played, or empty if it can be.

    Args:
        workload: The workload.
        kubernetes: The Kubernetes whose decisions are made.
    """
    return "; ".join(_reasons(workload, kubernetes))


def _reasons(workload: Workload, kubernetes: Kubernetes) -> Iterator[str]:
    for name in workload.missing_parameters:
        yield f"no parameter {name!r}, which an operation names"
    yield from gate_problems(workload.feature_gates, kubernetes)
