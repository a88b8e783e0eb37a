"""The workloads that autoscalers size."""

from typing import Final, TypeAlias

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.kinds import group_of
from quaymaster._clusters.inmemory.access import ClusterAccess

__all__ = [
    "Scaled",
    "ScalerIndex",
    "TargetId",
    "replicas_of",
    "scale",
    "scaled_kind",
    "target",
]

Scaled: TypeAlias = Deployment | ReplicaSet | ReplicationController | StatefulSet
TargetId: TypeAlias = tuple[type[Scaled], str]
"""Kind and key of a workload."""

_SCALED: Final = (Deployment, ReplicaSet, ReplicationController, StatefulSet)


class ScalerIndex:
    """The keys of autoscalers by their workloads."""

    def __init__(self) -> None:
        self._keys: dict[TargetId, dict[str, None]] = {}

    def update(self, key: str, old: TargetId | None, new: TargetId | None) -> None:
        """Note that an autoscaler sizes another workload than before."""
        if old is not None:
            self._keys.get(old, {}).pop(key, None)
        if new is not None:
            self._keys.setdefault(new, {})[key] = None

    def of(self, workload: ApiObject) -> tuple[str, ...]:
        """Return the keys of the autoscalers of a workload."""
        if not self._keys or not isinstance(workload, _SCALED):
            return ()
        return tuple(self._keys.get((type(workload), workload.key), ()))


def scaled_kind(api_version: str, kind: str) -> type[Scaled] | None:
    """Return the class of a kind that can be sized; None for custom kinds."""
    for cls in _SCALED:
        # The version is not compared: ``apps/v1beta1`` in an old reference means the
        # same workload.
        if (cls.kind, group_of(cls.api_version)) == (kind, group_of(api_version)):
            return cls
    return None


def target(cluster: ClusterAccess, identity: TargetId | None) -> Scaled | None:
    """Return a workload, or None if it does not exist."""
    return None if identity is None else cluster.objects(identity[0]).get(identity[1])


def replicas_of(workload: Scaled) -> int:
    """Return the number of pods that a workload should have."""
    replicas = workload.spec.replicas
    return 1 if replicas is None else replicas


def scale(cluster: ClusterAccess, workload: Scaled, replicas: int) -> None:
    """Change the number of pods that a workload should have."""
    spec = replace(workload.spec, replicas=replicas)
    cluster.change(workload, replace(workload, spec=spec))
