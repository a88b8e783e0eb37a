"""Nodes and their claims as Karpenter sees them.

Mirrors ``pkg/controllers/state/statenode.go`` and ``cluster.go``
(sigs.k8s.io/karpenter v1.15): a node and its claim are one state node, known by the ID
that the cloud gave to the machine.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod, Taint
from quaymaster._api.objects.meta import ApiObject
from quaymaster._studies.autoscaling.karpenter.amounts import (
    NODES,
    ONE_NODE,
    Amounts,
    amounts_of,
    requests_of,
    subtracted,
)
from quaymaster._studies.autoscaling.karpenter.disruption.costs import (
    eviction_cost,
    reschedule_cost,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    HOSTNAME,
    INITIALIZED,
    NODE_POOL,
    REGISTERED,
)
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClaim,
    NodePool,
    condition,
    is_true,
)
from quaymaster._studies.autoscaling.karpenter.pods import (
    has_required_anti_affinity,
    is_daemon_pod,
    is_reschedulable,
)
from quaymaster._studies.autoscaling.karpenter.taints import lasting_taints

__all__ = ["StateNode"]

_TRUE: Final = "true"


@attrs.frozen(kw_only=True, eq=False)
class StateNode:
    """A machine: its claim, its node, or both.

    Attributes:
        node: The node; None until the machine has registered.
        claim: The claim; None for nodes that Karpenter does not manage.
        pods: The pods that are bound to the node and have not ended.
        finished_pods: Those that have ended and are not yet deleted.
        marked: Whether a disruption is about to delete it.
        nominated_until: Until when pending pods are expected on it.
        place: A number that orders machines as the API server does.
    """

    node: Node | None = None
    claim: NodeClaim | None = None
    pods: Sequence[Pod] = ()
    finished_pods: Sequence[Pod] = ()
    marked: bool = False
    nominated_until: float = 0.0
    place: int = 0

    @property
    def is_managed(self) -> bool:
        """Whether Karpenter has made it."""
        return self.claim is not None

    @functools.cached_property
    def is_registered(self) -> bool:
        """Whether the node has joined the cluster."""
        return self._has_label(REGISTERED)

    @functools.cached_property
    def is_initialized(self) -> bool:
        """Whether the node is ready for pods."""
        return self._has_label(INITIALIZED)

    def _has_label(self, key: str) -> bool:
        if self.claim is None:
            return True
        return self.node is not None and self.node.labels.get(key) == _TRUE

    @property
    def _named(self) -> ApiObject:
        """The object that names and labels it: the claim until it is registered."""
        if self.node is not None and (self.claim is None or self.is_registered):
            return self.node
        assert self.claim is not None  # a state node has one of them
        return self.claim

    @functools.cached_property
    def name(self) -> str:
        """Its name."""
        return self._named.name

    @functools.cached_property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        return self._named.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its annotations."""
        return self._named.annotations

    @property
    def provider_id(self) -> str:
        """The ID of the machine."""
        if self.node is not None:
            # Nodes that Karpenter has not made may have no ID. Their names serve then
            # (``UpdateNode``, cluster.go).
            return self.node.spec.provider_id or self.node.name
        assert self.claim is not None  # a state node has one of them
        return self.claim.status.provider_id

    @functools.cached_property
    def host_name(self) -> str:
        """The value of its label for the host name, or its name."""
        return self.labels.get(HOSTNAME) or self.name

    @functools.cached_property
    def pool(self) -> str:
        """The name of its pool, or empty."""
        return self.labels.get(NODE_POOL, "")

    @functools.cached_property
    def taints(self) -> Sequence[Taint]:
        """Its taints, without those that vanish while it starts."""
        claim, node = self.claim, self.node
        if node is None or (claim is not None and not self.is_registered):
            assert claim is not None  # a state node has one of them
            taints = claim.spec.taints
        else:
            taints = node.spec.taints
        # The pods that wait for this node would otherwise seem not to tolerate it, and
        # get another one.
        if claim is not None and (not self.is_initialized or self.is_rebooting):
            return lasting_taints(taints, claim.spec.startup_taints)
        return taints

    @functools.cached_property
    def is_rebooting(self) -> bool:
        """Whether the machine is being restarted."""
        return self.claim is not None and is_true(
            self.claim.status.conditions, "Rebooting"
        )

    @functools.cached_property
    def capacity(self) -> Amounts:
        """What it has, and one node."""
        return {**self._amounts("capacity"), NODES: ONE_NODE}

    @functools.cached_property
    def allocatable(self) -> Amounts:
        """What pods can use."""
        return self._amounts("allocatable")

    def _amounts(self, field: str) -> Amounts:
        """Return amounts of the node; until it is ready, missing ones of the claim."""
        node, claim = self.node, self.claim
        # A kubelet reports devices as 0 until their drivers run. Counted so, the node
        # would not have room for the pods that it was made for, and they would get
        # another one.
        own = amounts_of(getattr(node.status, field)) if node is not None else {}
        if claim is None or self.is_initialized:
            return own
        promised = amounts_of(getattr(claim.status, field))
        return own | {k: v for k, v in promised.items() if not own.get(k)}

    @functools.cached_property
    def pod_requests(self) -> Amounts:
        """The sum of the requests of its pods."""
        return requests_of(*self.pods) if self.pods else {}

    @functools.cached_property
    def daemon_requests(self) -> Amounts:
        """The sum of the requests of its pods of DaemonSets."""
        pods = [pod for pod in self.pods if is_daemon_pod(pod)]
        return requests_of(*pods) if pods else {}

    @functools.cached_property
    def reschedulable_pods(self) -> Sequence[Pod]:
        """Its pods that need another place when it goes."""
        return [pod for pod in self.pods if is_reschedulable(pod)]

    @functools.cached_property
    def reschedule_cost(self) -> float:
        """What moving these costs."""
        return reschedule_cost(self.reschedulable_pods)

    @functools.cached_property
    def eviction_cost(self) -> float:
        """What the eviction of all its pods costs, also of those that have ended.

        As upstream, which reads every pod that is bound (``GetPods``,
        ``pkg/utils/node/node.go``).
        """
        return sum(map(eviction_cost, (*self.pods, *self.finished_pods)))

    @functools.cached_property
    def available(self) -> Amounts:
        """What its pods leave."""
        return subtracted(self.allocatable, self.pod_requests)

    @functools.cached_property
    def is_deleted(self) -> bool:
        """Whether it has been deleted."""
        if self.claim is not None:
            return self.claim.metadata.deletion_timestamp is not None or is_true(
                self.claim.status.conditions, "InstanceTerminating"
            )
        node = self.node
        return node is not None and node.metadata.deletion_timestamp is not None

    @functools.cached_property
    def anti_affinity_pods(self) -> Sequence[Pod]:
        """Its pods that must be away from others."""
        return [pod for pod in self.pods if has_required_anti_affinity(pod)]

    @functools.cached_property
    def marked_for_deletion(self) -> bool:
        """Whether it will soon be gone."""
        return self.marked or self.is_deleted

    @functools.cached_property
    def counted_as(self) -> tuple[str, bool] | None:
        """The pool for whose budgets it counts, and whether it is being disrupted.

        None until it has started. A node that restarts is not initialised, but counts.
        """
        claim = self.claim
        if claim is None or not (self.is_initialized or self.is_rebooting):
            return None
        if is_true(claim.status.conditions, "InstanceTerminating"):
            return None
        is_leaving = self.marked_for_deletion or self.is_rebooting
        return self.pool, is_leaving or not self._is_ready

    @property
    def _is_ready(self) -> bool:
        return self.node is not None and any(
            condition.type == "Ready" and condition.status == "True"
            for condition in self.node.status.conditions
        )

    def has_same_objects(self, other: "StateNode") -> bool:
        """Return whether another machine differs at most in its marks."""
        # Identity: an object of the cluster that has changed is another object, and a
        # list of pods is the same until they change.
        are_same = self.node is other.node and self.claim is other.claim
        have_same = self.pods is other.pods  # Identity: as above
        return are_same and have_same and self.finished_pods is other.finished_pods

    def is_nominated(self, now: float) -> bool:
        """Return whether pending pods are expected on it."""
        return self.nominated_until > now

    def is_under_consolidate_after(self, pool: NodePool | None, now: float) -> bool:
        """Return whether its pods have changed too recently for a consolidation."""
        rest = self._rest_after_change(pool)
        return rest is not None and now - rest[0] < rest[1]

    def consolidate_after_end(self, pool: NodePool | None) -> float | None:
        """Return until when it is not consolidated after its pods changed, or None."""
        rest = self._rest_after_change(pool)
        return None if rest is None else sum(rest)

    def _rest_after_change(self, pool: NodePool | None) -> tuple[float, float] | None:
        """Return when its pods changed, and for how many seconds it then stays."""
        if pool is None or self.claim is None:
            return None
        seconds = pool.spec.disruption.consolidate_after_seconds
        initialized = condition(self.claim.status.conditions, "Initialized")
        if not seconds or initialized is None or initialized.status != "True":
            return None
        last = self.claim.status.last_pod_event_time
        since = last if last is not None else initialized.last_transition_time
        return since or 0.0, seconds
