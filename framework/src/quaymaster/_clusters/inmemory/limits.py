"""The limit of pods: larger workloads are rejected before any pod is created."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Deployment,
    HorizontalPodAutoscaler,
    Job,
    Node,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.keda import ScaledJob, ScaledObject
from quaymaster._base.errors import Problem, counted
from quaymaster._clusters.inmemory.admission.problems import place_of
from quaymaster._clusters.inmemory.controllers.autoscalers import (
    replicas_within,
    target_id,
)
from quaymaster._clusters.inmemory.controllers.scaled_jobs import job_of
from quaymaster._clusters.inmemory.controllers.scaled_object_sizes import (
    autoscaler_limits,
    is_paused,
    least_jobs,
    scaled_size,
    target_id_of,
)
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION

__all__ = ["MAX_PODS", "find_too_many"]

MAX_PODS: Final = 500_000
"""More than three times what Kubernetes supports in one cluster."""

_REPLICATED: Final = (Deployment, ReplicaSet, ReplicationController, StatefulSet)


def find_too_many(
    objects: Iterable[ApiObject], limit: int, *, nodes: int = 0
) -> list[Problem]:
    """Find the workloads that request more pods than the limit.

    A workload that belongs to another one, such as a ReplicaSet of a Deployment, is
    only checked alone.

    Args:
        objects: Workloads, and other objects.
        limit: How many pods all of them may request.
        nodes: How many nodes exist besides.
    """
    everything = list(objects)
    sizes = _sizes(everything)
    # A child is counted by its owner, unless that is not among the objects.
    uids = {obj.uid for obj in everything if obj.uid}
    nodes += sum(isinstance(obj, Node) for obj in everything)
    total, largest = 0, 0
    where, path = "", ""
    problems = []
    for obj in everything:
        count, field = _demand(obj, nodes)
        size_of = sizes.get((type(obj), obj.key))
        # An autoscaler may raise the number that the manifest has.
        if size_of is not None and (size := size_of(count)) > count:
            count, field = size, "spec.replicas"
        if count > limit:
            message = f"asks for {counted(count, 'pod')}, {_more_than(limit)}"
            problems.append(Problem(where=place_of(obj), path=field, message=message))
        owner = obj.metadata.controller
        if owner is None or owner.uid not in uids:
            total += count
        if count > largest:
            largest, where, path = count, place_of(obj), field
    # One workload that is too large alone explains the total.
    if total > limit and not problems:
        message = (
            f"asks for {counted(largest, 'pod')}, and all workloads together for "
            f"{total}, "
            f"{_more_than(limit)}"
        )
        problems.append(Problem(where=where, path=path, message=message))
    return problems


def _sizes(
    objects: Iterable[ApiObject],
) -> dict[tuple[type[ApiObject], str], Callable[[int], int]]:
    """Return how autoscalers size each workload that has one."""
    sizes: dict[tuple[type[ApiObject], str], Callable[[int], int]] = {}
    for obj in objects:
        if isinstance(obj, HorizontalPodAutoscaler) and (target := target_id(obj)):
            sizes.setdefault(target, partial(replicas_within, obj))
        elif isinstance(obj, ScaledObject) and (target := target_id_of(obj)):
            # Its autoscaler may be among the objects, too.
            sizes[target] = partial(_size_within, obj)
    return sizes


def _size_within(scaled: ScaledObject, replicas: int) -> int:
    """Return the size that KEDA and its autoscaler give to a workload."""
    size = scaled_size(scaled, replicas)
    if not size or is_paused(scaled):
        return size
    least, most = autoscaler_limits(scaled)
    return min(max(size, least), most)


def _more_than(limit: int) -> str:
    return f"more than the limit of {limit} (--max-pods raises it)"


def _demand(obj: ApiObject, nodes: int) -> tuple[int, str]:
    """Return the most pods that an object may request, and the field for it."""
    if isinstance(obj, _REPLICATED):
        replicas = obj.spec.replicas
        return 1 if replicas is None else replicas, "spec.replicas"
    if isinstance(obj, DaemonSet):
        # At most one for each node, whatever the selector.
        return nodes, "spec.template"
    if isinstance(obj, Job) and not obj.spec.suspend:
        return _demand_of_job(obj)
    if isinstance(obj, ScaledJob) and obj.spec.job_target_ref and not is_paused(obj):
        count, _ = _demand_of_job(job_of(obj, obj.spec.job_target_ref))
        return count * least_jobs(obj), "spec.minReplicaCount"
    return 0, ""


def _demand_of_job(job: Job) -> tuple[int, str]:
    parallelism = 1 if job.spec.parallelism is None else job.spec.parallelism
    completions = job.spec.completions
    if completions is None:
        return parallelism, "spec.parallelism"
    # Ended pods make room for others.
    ends = RUN_SECONDS_ANNOTATION in job.spec.template.metadata.annotations
    if ends and parallelism:
        return completions, "spec.completions"
    return min(parallelism, completions), "spec.parallelism"
