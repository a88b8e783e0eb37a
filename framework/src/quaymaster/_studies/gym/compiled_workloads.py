"""Workloads as arrays: when each pod arrives, its kind, and what agents observe."""

import math
from collections.abc import Callable, Sequence

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.durations import run_seconds
from quaymaster._core.state.arrays import Float64Array, Int64Array
from quaymaster._studies.experiments.inputs import Arrival, Disruption, Workload
from quaymaster._studies.gym.initial_clusters import InitialCluster, InitialClusters
from quaymaster._studies.gym.pod_kinds import PodKind
from quaymaster._studies.gym.unsupported import UnsupportedWorkloadError

__all__ = ["CompiledWorkload", "RunTimeEstimate", "compile_workload", "run_time"]

RunTimeEstimate = Callable[[Arrival], float | None]
"""Returns how long a pod will run, as far as an agent may know it; None if unknown."""


@attrs.frozen(kw_only=True, eq=False)
class CompiledWorkload:
    """The pods of a workload, in the order of their arrival.

    Attributes:
        cluster: The cluster at the beginning.
        arrivals: The arrivals, the pods that wait at the beginning first.
        at: When each pod arrives, on the cluster's clock; ascending.
        seconds: How long each runs; infinity if it never ends.
        weights: 1 / its running time, which is at least 10 s: the slowdown that each
            second of waiting adds.
        kinds: The kind of each.
        leaves: Whether each leaves if no node is feasible.
        numbers: Shape ``(A,)``: the numbers of `kinds`.
        features: Shape ``(A, 1 + R)``: the expected seconds, 0 if unknown; and the
            requests, as shares of the largest node.
    """

    cluster: InitialCluster
    arrivals: Sequence[Arrival]
    at: Sequence[float]
    seconds: Sequence[float]
    weights: Sequence[float]
    kinds: Sequence[PodKind]
    leaves: Sequence[bool]
    numbers: Int64Array
    features: Float64Array


def run_time(arrival: Arrival) -> float | None:
    """Return how long the pod of an arrival runs; None if it never ends."""
    if arrival.stays is not None:
        # As the annotation has it.
        return round(arrival.stays, 9)
    return run_seconds(arrival.obj.metadata.annotations)


def compile_workload(
    workload: Workload,
    clusters: InitialClusters,
    resources: Sequence[str],
    estimate: RunTimeEstimate,
    shortest: float,
) -> CompiledWorkload:
    """Compile a workload.

    Args:
        workload: The workload.
        clusters: Makes the initial cluster.
        resources: The observed resources.
        estimate: Returns the expected running time of each pod.
        shortest: The shortest running time in slowdowns, in seconds.

    Raises:
        AdmissionError: Some objects are invalid.
        UnsupportedWorkloadError: Something cannot be simulated.
    """
    cluster = clusters.of(workload.objects)
    waiting = [Arrival(obj=pod) for pod in cluster.pending]
    arrivals = [*waiting, *map(_arrival, workload.arrivals)]
    _refuse_names(arrivals)
    kinds = [cluster.kinds.of(_pod(arrival)) for arrival in arrivals]
    cluster.kinds.check()
    seconds = [math.inf if time is None else time for time in map(run_time, arrivals)]
    is_new = [False] * len(waiting) + [True] * (len(arrivals) - len(waiting))
    return CompiledWorkload(
        cluster=cluster,
        arrivals=arrivals,
        at=_times(arrivals, cluster.started),
        seconds=seconds,
        weights=[1.0 / max(time, shortest) for time in seconds],
        kinds=kinds,
        leaves=[workload.turn_away and new for new in is_new],
        numbers=np.array([kind.number for kind in kinds], dtype=np.int64),
        features=_features(arrivals, kinds, cluster, resources, estimate),
    )


def _arrival(event: Arrival | Disruption) -> Arrival:
    if isinstance(event, Disruption):
        name = type(event.change).__name__
        raise UnsupportedWorkloadError(f"disruption {name}", "only pods may arrive")
    return event


def _pod(arrival: Arrival) -> Pod:
    pod = arrival.obj
    if not isinstance(pod, Pod):
        name = f"{pod.kind} '{pod.key}'"
        raise UnsupportedWorkloadError(name, "only pods may arrive")
    return pod


def _refuse_names(arrivals: Sequence[Arrival]) -> None:
    keys: set[str] = set()
    for arrival in arrivals:
        key = arrival.obj.key
        if key in keys:
            raise UnsupportedWorkloadError(f"pod '{key}'", "it arrives twice")
        keys.add(key)


def _times(arrivals: Sequence[Arrival], started: float) -> Sequence[float]:
    times, last = [], 0.0
    for arrival in arrivals:
        # As in runs, none comes before the one ahead of it.
        last = max(last, arrival.at)
        times.append(started + last)
    return times


def _features(
    arrivals: Sequence[Arrival],
    kinds: Sequence[PodKind],
    cluster: InitialCluster,
    resources: Sequence[str],
    estimate: RunTimeEstimate,
) -> Float64Array:
    features: Float64Array = np.zeros((len(arrivals), 1 + len(resources)))
    expected = map(estimate, arrivals)
    features[:, 0] = [0.0 if time is None else time for time in expected]
    for column, resource in enumerate(resources, start=1):
        largest = max(info.allocatable.get(resource) for info in cluster.infos)
        amounts = {
            kind.number: kind.usage.requests.get(resource) / max(largest, 1)
            for kind in kinds
        }
        features[:, column] = [amounts[kind.number] for kind in kinds]
    return features
