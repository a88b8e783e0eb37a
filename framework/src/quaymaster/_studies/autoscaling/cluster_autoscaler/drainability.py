"""Which pods of a node would have to move, and which of them forbid its removal.

Mirrors ``simulator/drain.go`` and ``simulator/drainability/rules``, in their order: the
first rule with a verdict decides.
"""

import enum
from collections.abc import Iterable
from typing import Final

import attrs

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Job,
    Pod,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.ages import age_of
from quaymaster._studies.autoscaling.cluster_autoscaler.budgets import RemainingBudgets
from quaymaster._studies.autoscaling.cluster_autoscaler.lookups import FindFn
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import (
    is_daemon_pod,
    is_long_terminating,
    is_mirror_pod,
)

__all__ = ["BlockingPod", "BlockingReason", "Drain", "Drainability"]

_SAFE: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_SAFE_VOLUMES: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
_REPLICATED: Final = ("ReplicationController", "Job", "ReplicaSet", "StatefulSet")
_CONTROLLERS: Final[dict[str, type[ApiObject]]] = {
    "ReplicationController": ReplicationController,
    "DaemonSet": DaemonSet,
    "Job": Job,
    "ReplicaSet": ReplicaSet,
    "StatefulSet": StatefulSet,
}
_WITH_REPLICAS: Final = (ReplicationController, ReplicaSet)


class BlockingReason(enum.Enum):
    """Why a pod forbids the removal of its node; upstream's names."""

    CONTROLLER_NOT_FOUND = "ControllerNotFound"
    MIN_REPLICAS_REACHED = "MinReplicasReached"
    NOT_REPLICATED = "NotReplicated"
    LOCAL_STORAGE_REQUESTED = "LocalStorageRequested"
    NOT_SAFE_TO_EVICT_ANNOTATION = "NotSafeToEvictAnnotation"
    UNMOVABLE_KUBE_SYSTEM_POD = "UnmovableKubeSystemPod"
    NOT_ENOUGH_PDB = "NotEnoughPdb"


class _Verdict(enum.Enum):
    MOVES = enum.auto()
    IGNORED = enum.auto()
    COMPLETES = enum.auto()


@attrs.frozen(eq=False)
class BlockingPod:
    """A pod that forbids the removal of its node.

    Attributes:
        pod: The pod.
        reason: Why.
    """

    pod: Pod
    reason: BlockingReason


@attrs.define(eq=False)
class Drain:
    """The pods of a node that is removed.

    Attributes:
        moving: The pods that need a place elsewhere.
        daemons: The pods of DaemonSets, which end with the node.
        completing: The pods whose end the removal waits for.
        blocking: The first pod that forbids the removal, or None.
    """

    moving: list[Pod] = attrs.field(factory=list)
    daemons: list[Pod] = attrs.field(factory=list)
    completing: list[Pod] = attrs.field(factory=list)
    blocking: BlockingPod | None = None


class Drainability:
    """Judges the pods of nodes.

    Args:
        options: The options of the autoscaler.
        find: Returns an object by kind and key, or None.
    """

    def __init__(
        self,
        options: ClusterAutoscalerOptions,
        find: FindFn,
    ) -> None:
        self._options = options
        self._find = find

    def drain_of(
        self,
        pods: Iterable[Pod],
        budgets: RemainingBudgets,
        now: float,
        *,
        knows_controllers: bool = True,
    ) -> Drain:
        """Return which pods of a node move, up to the first that forbids it.

        Args:
            pods: The pods of the node.
            budgets: What the disruption budgets still allow.
            now: The time, in seconds since the epoch.
            knows_controllers: Whether controllers are looked up.
        """
        drain = Drain()
        for pod in pods:
            verdict = self._judge(pod, budgets, now, knows_controllers)
            if isinstance(verdict, BlockingReason):
                drain.blocking = BlockingPod(pod, verdict)
                return drain
            if verdict is _Verdict.COMPLETES:
                drain.completing.append(pod)
            elif verdict is _Verdict.MOVES:
                pods_of = drain.daemons if is_daemon_pod(pod) else drain.moving
                pods_of.append(pod)
        return drain

    def has_moving(
        self, pods: Iterable[Pod], budgets: RemainingBudgets, now: float
    ) -> bool | None:
        """Return whether a pod moves or blocks; None if the end of one is waited for.

        Controllers are not looked up. It is quicker than `drain_of`: mostly the first
        pod decides.
        """
        waits: bool | None = False
        for pod in pods:
            verdict = self._judge(pod, budgets, now, False)
            if isinstance(verdict, BlockingReason):
                return True
            if verdict is _Verdict.COMPLETES:
                waits = None
            elif verdict is _Verdict.MOVES and not is_daemon_pod(pod):
                return True
        return waits

    def _judge(
        self,
        pod: Pod,
        budgets: RemainingBudgets,
        now: float,
        knows_controllers: bool,
    ) -> _Verdict | BlockingReason:
        if is_mirror_pod(pod) or is_long_terminating(pod, now):
            return _Verdict.IGNORED
        if (
            knows_controllers
            and self._options.skip_nodes_with_custom_controller_pods
            and (reason := self._why_not_replaced(pod))
        ):
            return reason
        safety = pod.metadata.annotations.get(_SAFE, "")
        if is_daemon_pod(pod) or safety == "true" or _has_ended(pod):
            return _Verdict.MOVES
        if safety == "on-completion":
            return _Verdict.COMPLETES
        return self._why_blocking(pod, budgets, now, safety) or _Verdict.MOVES

    def _why_not_replaced(self, pod: Pod) -> BlockingReason | None:
        """Return why nothing would replace a pod; None if something would."""
        controller = pod.metadata.controller
        kind = _CONTROLLERS.get(controller.kind) if controller is not None else None
        if controller is None or kind is None:
            return None
        group = controller.api_version.partition("/")[0]
        if kind in (DaemonSet, StatefulSet) and group != "apps":
            return None
        owner = self._find(kind, f"{pod.namespace}/{controller.name}")
        if owner is None:
            return BlockingReason.CONTROLLER_NOT_FOUND
        if isinstance(owner, _WITH_REPLICAS):
            replicas = owner.spec.replicas
            if replicas is not None and replicas < self._options.min_replica_count:
                return BlockingReason.MIN_REPLICAS_REACHED
        return None

    def _why_blocking(
        self, pod: Pod, budgets: RemainingBudgets, now: float, safety: str
    ) -> BlockingReason | None:
        options = self._options
        if not self._is_replicated(pod):
            return BlockingReason.NOT_REPLICATED
        if (
            options.skip_nodes_with_system_pods
            and pod.namespace == "kube-system"
            and not any(True for _ in budgets.matching(pod))
        ):
            age = age_of(pod.metadata.creation_timestamp, now)
            if age > options.blocking_system_pod_disruption_timeout:
                return None
            return BlockingReason.UNMOVABLE_KUBE_SYSTEM_POD
        if safety == "false":
            return BlockingReason.NOT_SAFE_TO_EVICT_ANNOTATION
        if options.skip_nodes_with_local_storage and _has_local_storage(pod):
            return BlockingReason.LOCAL_STORAGE_REQUESTED
        if any(allowed < 1 for allowed in budgets.matching(pod)):
            return BlockingReason.NOT_ENOUGH_PDB
        return None

    def _is_replicated(self, pod: Pod) -> bool:
        controller = pod.metadata.controller
        if controller is None:
            return False
        if not self._options.skip_nodes_with_custom_controller_pods:
            return True
        return controller.kind in _REPLICATED


def _has_ended(pod: Pod) -> bool:
    phase, policy = pod.status.phase, pod.spec.restart_policy
    return phase == "Failed" or (
        phase == "Succeeded" and policy in ("Never", "OnFailure")
    )


def _has_local_storage(pod: Pod) -> bool:
    safe = pod.metadata.annotations.get(_SAFE_VOLUMES, "").split(",")
    return any(
        volume.host_path is not None
        or (volume.empty_dir is not None and volume.empty_dir.get("medium") != "Memory")
        for volume in pod.spec.volumes
        if volume.name not in safe
    )
