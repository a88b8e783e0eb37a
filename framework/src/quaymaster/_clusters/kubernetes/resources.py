"""The resources of an API server for the kinds that scheduling reads."""

import functools
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import (
    KINDS,
    ApiObject,
    Binding,
    CronJob,
    DaemonSet,
    Deployment,
    Event,
    Job,
    Lease,
    Pod,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.kinds import GROUP_KINDS, group_of, plural_of
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes

__all__ = [
    "CRON_JOBS",
    "Resource",
    "operator_resources",
    "resource_of",
    "resources_of",
]

_LEFT_OUT: Final = (Binding, CronJob, Event, Lease)
"""Kinds that do not affect scheduling, or cannot be listed; see `CRON_JOBS`."""

_RUN_PODS: Final = frozenset(
    (kind.api_version, kind.kind)
    for kind in (
        DaemonSet,
        Deployment,
        Job,
        Pod,
        ReplicaSet,
        ReplicationController,
        StatefulSet,
    )
)


@attrs.frozen
class Resource:
    """A resource of an API server, which holds all objects of one kind.

    Attributes:
        api_version: The group and version, such as ``apps/v1``.
        kind: The kind.
        plural: Its name in paths.
        namespaced: Whether its objects have a namespace.
        is_optional: Whether it is left out without a notice where a server lacks it.
    """

    api_version: str
    kind: str
    plural: str
    namespaced: bool = True
    is_optional: bool = False

    @property
    def group_path(self) -> str:
        """The path at which a server lists the resources of its group version."""
        root = "apis" if "/" in self.api_version else "api"
        return f"/{root}/{self.api_version}"

    def path(self, namespace: str = "") -> str:
        """Return the path of the objects of one namespace, or of all."""
        inner = f"namespaces/{namespace}/" if namespace and self.namespaced else ""
        return f"{self.group_path}/{inner}{self.plural}"

    @property
    def runs_pods(self) -> bool:
        """Whether its objects are pods, or create pods."""
        return (self.api_version, self.kind) in _RUN_PODS

    @property
    def full_name(self) -> str:
        """The resource with its group, such as ``deployments.apps``."""
        group = group_of(self.api_version)
        return f"{self.plural}.{group}" if group else self.plural


CRON_JOBS: Final = Resource("batch/v1", "CronJob", "cronjobs")
"""CronJobs; only callers that start a Job of each CronJob read them."""


def resources_of(
    declared: Iterable[type[ApiObject]] = (),
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
) -> Sequence[Resource]:
    """Return the resources to read for a simulation.

    Args:
        declared: Kinds that plugins and packages declare.
        kubernetes: The version and feature gates of the simulation; groups are read if
            their gates are on.

    Raises:
        KindError: A declaration is invalid, or a kind is declared twice.
    """
    scheduled = [
        kind
        for kind in KINDS.values()
        if kind not in _LEFT_OUT
        and (kind not in GROUP_KINDS or kubernetes.reads(kind.kind))
    ]
    return [resource_of(kind) for kind in (*scheduled, *KindSet(declared).own)]


def operator_resources(declared: Iterable[type[ApiObject]] = ()) -> Sequence[Resource]:
    """Return the resources of the operators that the in-memory cluster follows.

    Few servers have all of them.

    Args:
        declared: Kinds that plugins and packages declare, which `resources_of` returns.
    """
    kinds = KindSet(declared)
    own = set(kinds.own)
    return [
        attrs.evolve(resource_of(kind), is_optional=True)
        for kind in kinds.custom
        if kind not in own
    ]


@functools.lru_cache(maxsize=64)
def resource_of(kind: type[ApiObject]) -> Resource:
    """Return the resource of a kind."""
    return Resource(kind.api_version, kind.kind, plural_of(kind), kind.namespaced)
