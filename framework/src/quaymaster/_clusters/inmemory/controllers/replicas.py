"""ReplicaSets and ReplicationControllers: a number of equal pods.

Mirrors ``pkg/controller/replicaset/replica_set.go`` (Kubernetes v1.36), except for pods
that have succeeded because of ``simulation.quaymaster.io/run-seconds``: their work is
done, so they are not replaced.
"""

from collections import Counter
from collections.abc import Mapping

from quaymaster._api.objects import Pod, ReplicaSet, ReplicationController
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.deletion_order import deletion_order
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.pods import (
    add_pods,
    has_run_time,
    pod_of_template,
)
from quaymaster._clusters.inmemory.controllers.set_index import SetIndex

__all__ = ["ReplicaController"]


class ReplicaController:
    """Creates and deletes the pods of ReplicaSets and ReplicationControllers.

    Args:
        cluster: The cluster.
        families: The pods of each owner.
        sets: The ReplicaSets of each Deployment.
    """

    def __init__(
        self, cluster: ClusterAccess, families: Families, sets: SetIndex
    ) -> None:
        self._cluster = cluster
        self._families = families
        self._sets = sets

    def sync(self, owner: ReplicaSet | ReplicationController) -> None:
        """Create the missing pods, or delete the surplus ones."""
        template = owner.spec.template
        if template is None or owner.metadata.deletion_timestamp is not None:
            return
        family = self._families.of(owner.uid)
        replicas = 1 if owner.spec.replicas is None else owner.spec.replicas
        done = len(family.succeeded) if has_run_time(template.metadata) else 0
        missing = replicas - len(family.active) - done
        if missing > 0:
            add_pods(self._cluster, owner, pod_of_template(owner, template), missing)
        elif missing < 0 and family.active:
            pods = self._cluster.objects(Pod)
            active = [pods[key] for key in family.active]
            now, crowds = self._cluster.clock.now(), self._crowds(owner)
            for pod in deletion_order(active, now, crowds)[:-missing]:
                self._cluster.delete(pod)

    def _crowds(self, owner: ReplicaSet | ReplicationController) -> Mapping[str, int]:
        """Count the active pods of all ReplicaSets of the same controller, by node."""
        reference = owner.metadata.controller
        # Only the sets of one Deployment are related (``getIndirectlyRelatedPods``).
        if reference is None or isinstance(owner, ReplicationController):
            return {}
        pods = self._cluster.objects(Pod)
        # Nodes with many pods of all related sets lose one first, so that the rest stay
        # spread.
        return Counter(
            pods[key].node_name
            for related in self._sets.of(reference.uid)
            for key in self._families.of(related.uid).active
        )
