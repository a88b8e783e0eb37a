"""The ReplicaSets of each Deployment."""

from collections import defaultdict

from msgspec.structs import replace

from quaymaster._api.objects import Deployment, ReplicaSet
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.ownership import Ownership, selector_of
from quaymaster._clusters.inmemory.controllers.pods import owner_reference

__all__ = ["SetIndex"]


class SetIndex:
    """The ReplicaSets by the uid of their controller, oldest first.

    Args:
        cluster: The cluster.
        ownership: Finds the controllers.
    """

    def __init__(self, cluster: ClusterAccess, ownership: Ownership) -> None:
        self._cluster = cluster
        self._ownership = ownership
        self._sets = cluster.objects(ReplicaSet)
        self._by_owner: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._loose: dict[str, None] = {}

    def of(self, uid: str) -> list[ReplicaSet]:
        """Return the ReplicaSets of an owner."""
        return [self._sets[key] for key in self._by_owner.get(uid, ())]

    def update(self, old: ReplicaSet | None, new: ReplicaSet | None) -> None:
        """Apply the change of a ReplicaSet."""
        if old is not None:
            self._loose.pop(old.key, None)
        before = None if old is None else old.metadata.controller
        after = None if new is None else new.metadata.controller
        if old is not None and before is not None and before != after:
            self._by_owner[before.uid].pop(old.key, None)
        if new is None:
            return
        if after is not None:
            self._by_owner[after.uid][new.key] = None
        # A controller that does not exist yet may come later, so the set stays a
        # candidate.
        if after is None or self._ownership.get(after.uid) is None:
            self._loose[new.key] = None

    def claim(self, deployment: Deployment) -> None:
        """Let a Deployment adopt its ReplicaSets.

        It adopts the ReplicaSets that name it, if either side was loaded without a uid,
        and those without a controller that it selects.
        """
        if not self._loose:
            return
        # A list, since each adoption changes the mapping.
        for replica_set in [self._sets[key] for key in self._loose]:
            if self._belongs(replica_set, deployment):
                metadata = replace(
                    replica_set.metadata,
                    owner_references=(owner_reference(deployment),),
                )
                self._cluster.change(
                    replica_set, replace(replica_set, metadata=metadata)
                )

    def _belongs(self, replica_set: ReplicaSet, deployment: Deployment) -> bool:
        if replica_set.namespace != deployment.namespace:
            return False
        reference = replica_set.metadata.controller
        if reference is None:
            return selector_of(deployment).matches(replica_set.labels)
        return (
            reference.kind == deployment.kind
            and reference.name == deployment.name
            and (not reference.uid or self._cluster.names.has_made(deployment.uid))
        )
