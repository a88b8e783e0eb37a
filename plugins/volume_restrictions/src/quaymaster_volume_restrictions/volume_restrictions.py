"""Keep a pod off volumes that it must not share with other pods.

Two rules: a claim with the access mode ReadWriteOncePod is for one pod of the whole
cluster, and some kinds of disks are for one pod of a node, unless all mount them
read-only.

Mirrors ``VolumeRestrictions`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go``).
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

import attrs
import numpy as np

from quaymaster import (
    BoolArray,
    Change,
    ClusterEventWithHint,
    CycleState,
    EventsOf,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.objects import PersistentVolumeClaim, Volume
from quaymaster.volumes import claim_key, volumes_fragment, volumes_of
from quaymaster_volume_restrictions.disks import conflict, exclusive_disks
from quaymaster_volume_restrictions.facts import explain_claims, explain_disks
from quaymaster_volume_restrictions.users import DiskUsers

__all__ = ["VolumeRestrictions"]

_DISK_CONFLICT: Final = Status.unschedulable("node(s) had no available disk")
_CLAIM_IN_USE: Final = Status.unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access "
    "mode already in-use by another pod"
)


@attrs.define(eq=False)
class _PodVolumes:
    """The disks and claims of a pod.

    Attributes:
        disks: The pod's volumes that cannot always be shared.
        claims: The names of its ReadWriteOncePod claims.
        users: How often pods on nodes use these claims.
    """

    disks: Sequence[Volume]
    claims: frozenset[str]
    users: int

    def clone(self) -> "_PodVolumes":
        return attrs.evolve(self)


_CLAIM_USERS = StateKey[Sequence[tuple[str, Pod]]]("ClaimUsersVolumeRestrictions")
_POD_VOLUMES = StateKey[_PodVolumes](
    "PreFilterVolumeRestrictions",
    missing='cannot read "PreFilterVolumeRestrictions" from cycleState',
)


class VolumeRestrictions:
    """Rejects nodes where pods use a volume that they must not share with the pod."""

    scope = Scope.NODE
    reads = (PersistentVolumeClaim,)
    contract_opt_outs: ClassVar[Mapping[str, str]] = {
        "terminating pods": "as upstream's, a claim of several pods counts once"
    }

    def __init__(self, _args: None, handle: Handle) -> None:
        self._handle = handle
        self._users = DiskUsers()

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_pod.assigned(Change.DELETE, _after_pod_deleted).indexed(
                _waiting_keys, _keys_of_deleted
            ),
            on_node(Change.ADD),
            EventsOf(PersistentVolumeClaim)(Change.ADD, _after_claim_added).indexed(
                _claim_keys, _keys_of_added
            ),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        return volumes_fragment(pod)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        if not volumes_of(pod):
            return Status.skip()
        claims = self._single_pod_claims(pod)
        if isinstance(claims, Status):
            return claims
        disks = exclusive_disks(pod)
        snapshot = self._handle.snapshot
        users = sum(snapshot.claim_users(claim_key(pod, name)) > 0 for name in claims)
        # Without conflicts anywhere, no node is looked at.
        if not disks and not users:
            return Status.skip()
        state[_POD_VOLUMES] = _PodVolumes(disks, claims, users)
        return None

    @hookimpl
    def add_pod(self, state: CycleState, pod_to_add: Pod) -> None:
        _count(state, pod_to_add, 1)

    @hookimpl
    def remove_pod(self, state: CycleState, pod_to_remove: Pod) -> None:
        _count(state, pod_to_remove, -1)

    @hookimpl
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        pod_volumes = state.get(_POD_VOLUMES)
        disks = exclusive_disks(pod) if pod_volumes is None else pod_volumes.disks
        if disks and _has_conflict(disks, node):
            return _DISK_CONFLICT
        return _CLAIM_IN_USE if state[_POD_VOLUMES].users > 0 else None

    @hookimpl
    def filter_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | Status | None:
        pod_volumes = state.get(_POD_VOLUMES)
        disks = exclusive_disks(pod) if pod_volumes is None else pod_volumes.disks
        taken = self._taken(disks, nodes)[rows] if disks else None
        # Before the count of claims is read, which fails if PreFilter was skipped: a
        # single call of `filter` rejects for the disk first as well.
        if taken is not None and taken.all():
            return NodeVerdicts.reject_where(taken, _DISK_CONFLICT)
        otherwise = _CLAIM_IN_USE if state[_POD_VOLUMES].users > 0 else None
        if taken is None:
            return otherwise
        if otherwise is None:
            return NodeVerdicts.reject_where(taken, _DISK_CONFLICT)
        return NodeVerdicts(
            np.where(taken, 1, 2),
            lambda code: _DISK_CONFLICT if code == 1 else _CLAIM_IN_USE,
        )

    @hookimpl
    def explain_filter(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Sequence[str]:
        pod_volumes = state.get(_POD_VOLUMES)
        disks = exclusive_disks(pod) if pod_volumes is None else pod_volumes.disks
        if disks and _has_conflict(disks, node):
            return explain_disks(disks, node)
        if pod_volumes is None or pod_volumes.users <= 0:
            return ()
        keys = [claim_key(pod, name) for name in pod_volumes.claims]
        return explain_claims(keys, node, self._claim_users(state, keys, node))

    def _claim_users(
        self, state: CycleState, keys: Sequence[str], node: NodeInfo
    ) -> Iterator[tuple[str, Pod]]:
        """Yield the claims of pods, on the node first, with the pods."""
        for other in node.pods.values():
            yield from ((key, other) for key in _claim_keys(other))
        users = state.get(_CLAIM_USERS)
        if users is None:  # equal for all nodes, so they are searched once
            users = state[_CLAIM_USERS] = [
                (key, other)
                for info in self._handle.snapshot
                for other in info.pods.values()
                for key in _claim_keys(other)
                if key in keys
            ]
        yield from (user for user in users if user[1].node_name != node.name)

    def _taken(self, disks: Sequence[Volume], nodes: NodeTable) -> BoolArray:
        """Return the rows where pods mount the disks exclusively."""
        taken: BoolArray = np.zeros(nodes.capacity, dtype=np.bool_)
        for row in self._users.rows(disks, nodes):
            node = nodes.infos[row]
            taken[row] = node is not None and _has_conflict(disks, node)
        return taken

    def _single_pod_claims(self, pod: Pod) -> frozenset[str] | Status:
        """Return the names of the pod's ReadWriteOncePod claims, without ephemeral."""
        names = set()
        for volume in volumes_of(pod):
            if volume.persistent_volume_claim is None:
                continue
            name = volume.persistent_volume_claim.claim_name
            claim = self._handle.informers.get(
                PersistentVolumeClaim, claim_key(pod, name)
            )
            if claim is None:
                return Status.unresolvable(f'persistentvolumeclaim "{name}" not found')
            if "ReadWriteOncePod" in claim.spec.access_modes:
                names.add(name)
        return frozenset(names)


def _has_conflict(disks: Sequence[Volume], node: NodeInfo) -> bool:
    return any(conflict(disks, pod) for pod in node.pods.values())


def _count(state: CycleState, other: Pod, sign: int) -> None:
    pod_volumes = state[_POD_VOLUMES]
    # As in ``conflictingPVCRefCountForPod``, claims of other namespaces with the same
    # name count.
    pod_volumes.users += sign * sum(
        name in pod_volumes.claims for name in _claim_names(other)
    )


def _claim_names(pod: Pod) -> Sequence[str]:
    return [
        volume.persistent_volume_claim.claim_name
        for volume in volumes_of(pod)
        if volume.persistent_volume_claim is not None
    ]


def _claim_keys(pod: Pod) -> Sequence[str]:
    return [claim_key(pod, name) for name in _claim_names(pod)]


def _waiting_keys(pod: Pod) -> Sequence[str] | None:
    """Return the claims that a pod waits for, or None if it also waits for disks."""
    return None if exclusive_disks(pod) else _claim_keys(pod)


def _keys_of_deleted(old: Pod, _new: None) -> Sequence[str]:
    return _claim_keys(old)


def _keys_of_added(_old: None, new: PersistentVolumeClaim) -> Sequence[str]:
    return (new.key,)


def _after_pod_deleted(pod: Pod, old: Pod, _new: None) -> QueueingHint:
    """Queue the pod if the deleted pod used one of its disks or claims."""
    if old.namespace != pod.namespace:
        return QueueingHint.SKIP
    shares = conflict(exclusive_disks(pod), old) or not set(
        _claim_names(pod)
    ).isdisjoint(_claim_names(old))
    return QueueingHint.QUEUE if shares else QueueingHint.SKIP


def _after_claim_added(
    pod: Pod, _old: None, new: PersistentVolumeClaim
) -> QueueingHint:
    """Queue the pod if the claim is one of its own."""
    if new.namespace == pod.namespace and new.name in _claim_names(pod):
        return QueueingHint.QUEUE
    return QueueingHint.SKIP
