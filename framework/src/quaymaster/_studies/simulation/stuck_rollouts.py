"""Finds rollouts that are not complete and make no progress."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._api.objects import (
    DaemonSet,
    Deployment,
    Pod,
    PodTemplateSpec,
    ReplicaSet,
    StatefulSet,
)
from quaymaster._clusters.inmemory.controllers.deployments import find_set
from quaymaster._clusters.inmemory.controllers.revisions import Revisions
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.simulation.history import History, PodLife
from quaymaster._studies.simulation.rollout_pods import RolloutPods, RolloutWorkload
from quaymaster._studies.simulation.run import Simulation

__all__ = ["RolloutTracker", "StuckRollout"]

_NO_DEADLINE: Final = 2**31 - 1
"""As in ``HasProgressDeadline`` (``pkg/controller/deployment/util``)."""

_DEFAULT_DEADLINE: Final = 600


@attrs.frozen(kw_only=True)
class StuckRollout:
    """A rollout that is not complete, and whose pods make no progress.

    Attributes:
        namespace: The namespace of the workload.
        workload: The workload, as ``deployment/nginx``.
        seconds: How long ago the last progress was made: a new pod was created or
            became available, or an old one was deleted.
        pending: How many new pods have no node.
        message: What keeps the rollout from completing.
        exceeded_deadline: Whether a Deployment's ``progressDeadlineSeconds`` is over.
    """

    namespace: str
    workload: str
    seconds: float
    pending: int
    message: str
    exceeded_deadline: bool = False


class RolloutTracker:
    """Follows the rollouts of Deployments, StatefulSets and DaemonSets.

    A rollout begins when its workload is created or gets another template, and ends
    when all required pods are available. Paused Deployments and workloads with the
    update strategy ``OnDelete`` have none. A loaded workload is assumed to be complete
    if none of its pods has an older template and one of them has a node.

    Args:
        simulation: The simulation, at its beginning.
        history: The history of its pods.
    """

    def __init__(self, simulation: Simulation, history: History) -> None:
        self._simulation = simulation
        self._history = history
        self._revisions = Revisions()
        self._rollouts: dict[str, _Rollout] = {}
        self._lives: defaultdict[str, list[PodLife]] = defaultdict(list)
        self._read = 0
        self._looked_at = 0.0
        self._read_lives()
        sets = self._sets()
        for owner in self._workloads():
            rollout = self._rollout_of(owner)
            pods = self._pods_of(owner, sets)
            rollout.is_complete = not pods.old and any(
                pod.node_name for pod in pods.new
            )

    def take(self, *, is_settled: bool) -> tuple[StuckRollout, ...]:
        """End a step, and return the rollouts that are stuck, by kind and key.

        Args:
            is_settled: Whether the cluster has settled. Otherwise a rollout is not
                stuck while its pods are about to start or to end, or if it made
                progress at this moment.
        """
        self._history.catch_up()
        self._read_lives()
        stuck = []
        sets: dict[str, list[ReplicaSet]] | None = None
        for owner in self._workloads():
            rollout = self._rollout_of(owner)
            if rollout.is_complete or not _rolls_out(owner):
                continue
            # ReplicaSets are listed at most once for each step, and only if a rollout
            # is under way.
            sets = self._sets() if sets is None else sets
            pods = self._pods_of(owner, sets)
            rollout.is_complete = pods.is_complete or pods.was_complete
            if rollout.is_complete or (not is_settled and pods.is_moving):
                continue
            result = self._stuck(owner, rollout, pods)
            if is_settled or result.seconds > 0:
                stuck.append(result)
        self._looked_at = self._simulation.now
        return tuple(stuck)

    def _workloads(self) -> list[RolloutWorkload]:
        cluster = self._simulation.cluster
        workloads: list[RolloutWorkload] = []
        workloads += sorted(cluster.list(Deployment).items, key=_key)
        workloads += sorted(cluster.list(StatefulSet).items, key=_key)
        workloads += sorted(cluster.list(DaemonSet).items, key=_key)
        return workloads

    def _rollout_of(self, owner: RolloutWorkload) -> "_Rollout":
        template = owner.spec.template
        rollout = self._rollouts.get(owner.uid)
        # Identity: usually the same object; comparing two templates is slow.
        if rollout is None or (
            rollout.template is not template and rollout.template != template
        ):
            self._revisions.note(owner.uid, template)
            rollout = _Rollout(template, self._looked_at)
            self._rollouts[owner.uid] = rollout
        return rollout

    def _read_lives(self) -> None:
        lives = self._history.pods
        # Only lives that are new since the last step.
        for life in lives[self._read :]:
            controller = life.pod.metadata.controller
            if controller is not None:
                self._lives[controller.uid].append(life)
        self._read = len(lives)

    def _sets(self) -> dict[str, list[ReplicaSet]]:
        """Return the ReplicaSets of each Deployment, by its uid."""
        sets: dict[str, list[ReplicaSet]] = {}
        for replica_set in self._simulation.cluster.list(ReplicaSet).items:
            controller = replica_set.metadata.controller
            if controller is not None:
                sets.setdefault(controller.uid, []).append(replica_set)
        return sets

    def _pods_of(
        self, owner: RolloutWorkload, sets: dict[str, list[ReplicaSet]]
    ) -> RolloutPods:
        new: Sequence[PodLife]
        old: Sequence[PodLife]
        if isinstance(owner, Deployment):
            own_sets = sets.get(owner.uid, [])
            current = find_set(owner, own_sets)
            new = [] if current is None else self._lives[current.uid]
            old = [
                life
                for replica_set in own_sets
                if current is None or replica_set.uid != current.uid
                for life in self._lives[replica_set.uid]
            ]
        else:
            history = self._revisions.note(owner.uid, owner.spec.template)
            new, old = [], []
            for life in self._lives[owner.uid]:
                is_new = history.of(life.pod.labels) == history.newest
                (new if is_new else old).append(life)
        return RolloutPods(
            simulation=self._simulation,
            owner=owner,
            new_lives=new,
            old_lives=old,
            new=self._existing(new),
            old=self._existing(old),
        )

    def _existing(self, lives: Sequence[PodLife]) -> list[Pod]:
        """Return the pods that exist and have not ended."""
        pods = []
        for life in lives:
            if life.gone is None and life.ended is None:
                try:
                    pods.append(self._simulation.cluster.get(Pod, life.pod.key))
                except NotFoundError:
                    continue
        return pods

    def _stuck(
        self, owner: RolloutWorkload, rollout: "_Rollout", pods: RolloutPods
    ) -> StuckRollout:
        now = self._simulation.now
        last = max((rollout.since, *pods.progress()))
        seconds = round(max(0.0, now - last), 6)
        return StuckRollout(
            namespace=owner.namespace,
            workload=f"{owner.kind.lower()}/{owner.name}",
            seconds=seconds,
            pending=len(pods.pending),
            message=pods.message(),
            exceeded_deadline=_exceeds_deadline(owner, seconds),
        )


@attrs.define
class _Rollout:
    """The rollout of one template.

    Attributes:
        template: The template.
        since: When the rollout began, in seconds since the beginning.
        is_complete: Whether all required pods have been available.
    """

    template: PodTemplateSpec
    since: float
    is_complete: bool = False


def _key(owner: RolloutWorkload) -> str:
    return owner.key


def _rolls_out(owner: RolloutWorkload) -> bool:
    if owner.metadata.deletion_timestamp is not None:
        return False
    if isinstance(owner, Deployment):
        return not owner.spec.paused
    return owner.spec.update_strategy.type != "OnDelete"


def _exceeds_deadline(owner: RolloutWorkload, seconds: float) -> bool:
    """Return whether a Deployment has timed out, as ``DeploymentTimedOut`` does."""
    if not isinstance(owner, Deployment):
        return False
    deadline = owner.spec.progress_deadline_seconds
    deadline = _DEFAULT_DEADLINE if deadline is None else deadline
    return deadline != _NO_DEADLINE and seconds > deadline
