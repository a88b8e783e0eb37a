"""Whether a pod's volumes are there, or can be made, for a node.

The answer depends on the node's labels only, apart from two exceptions: a node that was
selected before, and volumes of in-tree plugins on nodes whose CSI drivers have taken
over. So nodes with equal labels are judged once.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from quaymaster.objects import PersistentVolume, PersistentVolumeClaim
from quaymaster.volumes import NO_PROVISIONER, Reach, allows_topology, storage_of
from quaymaster_volume_binding.lookup import Lookup, as_handled, has_room
from quaymaster_volume_binding.plans import NOTHING_TO_DO, StaticBinding, VolumePlan
from quaymaster_volume_binding.pod_claims import DelayedClaim, PodClaims

__all__ = ["Finder", "Reasons"]

Reasons = tuple[str, ...]

_NODE_CONFLICT: Final = "node(s) didn't match PersistentVolume's node affinity"
_BIND_CONFLICT: Final = "node(s) didn't find available persistent volumes to bind"
_NOT_ENOUGH_SPACE: Final = "node(s) did not have enough free storage"
_VOLUME_MISSING: Final = (
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
)


class Finder:
    """Makes the plans for one pod's volumes, node by node.

    Args:
        lookup: The cluster's objects.
        claims: The pod's claims.

    Attributes:
        needs_migration: Whether it matters what has moved to CSI drivers on a node.
        selected_nodes: The nodes that were selected for claims before.
    """

    def __init__(self, lookup: Lookup, claims: PodClaims) -> None:
        self._lookup = lookup
        self._claims = claims
        self._reaches: dict[tuple[str, str], Reach] = {}
        self.needs_migration = any(claim.is_in_tree for claim in claims.bound)
        self.selected_nodes = {
            claim.selected_node
            for claim in claims.selected
            if claim.selected_node is not None
        }

    def label_keys(self, migrated: Sequence[str]) -> frozenset[str]:
        """The node labels that the answer depends on.

        Args:
            migrated: What has moved to CSI drivers on the nodes in question.
        """
        keys: set[str] = set()
        for bound in self._claims.bound:
            if bound.volume is not None:
                for listed in migrated or ("",):
                    keys |= self._reach(bound.volume, listed).label_keys
        for claim in (*self._claims.selected, *self._claims.open):
            keys |= _label_keys(claim)
        return frozenset(keys)

    def migrated_on(self, node_name: str) -> str:
        """What has moved to CSI drivers on a node; empty if it does not matter."""
        return self._lookup.migrated_on(node_name) if self.needs_migration else ""

    def find(
        self, node_name: str, labels: Mapping[str, str], migrated: str
    ) -> VolumePlan | Reasons:
        """Make a plan for one node.

        Args:
            node_name: The node's name.
            labels: Its labels.
            migrated: What has moved to CSI drivers there.

        Returns:
            The plan, or why there can be none.

        Raises:
            TranslationError: A CSI driver could not be told of a volume.
        """
        conflict, missing = self._check_bound(labels, migrated)
        plan = self._plan(node_name, labels)
        reasons = [_NODE_CONFLICT] if conflict else []
        if isinstance(plan, str):
            reasons.append(plan)
        if missing:
            reasons.append(_VOLUME_MISSING)
        if reasons or isinstance(plan, str):
            return tuple(reasons)
        return plan

    def _check_bound(
        self, labels: Mapping[str, str], migrated: str
    ) -> tuple[bool, bool]:
        """Whether a volume cannot be reached, or does not exist: the first problem."""
        for bound in self._claims.bound:
            if bound.volume is None:
                return False, True
            listed = migrated if bound.is_in_tree else ""
            if not self._reach(bound.volume, listed).includes(labels):
                return True, False
        return False, False

    def _reach(self, volume: PersistentVolume, migrated: str) -> Reach:
        key = volume.metadata.name, migrated
        known = self._reaches.get(key)
        if known is None:
            known = self._reaches[key] = Reach(as_handled(volume, migrated))
        return known

    def _plan(self, node_name: str, labels: Mapping[str, str]) -> VolumePlan | str:
        claims = self._claims
        if not claims.selected and not claims.open:
            return NOTHING_TO_DO
        if self.selected_nodes - {node_name}:
            return _BIND_CONFLICT
        static: list[StaticBinding] = []
        unmatched: list[DelayedClaim] = list(claims.selected)
        taken: set[str] = set()
        for claim in claims.open:
            volume = claim.candidates.best(labels, taken)
            if volume is None:
                unmatched.append(claim)
            else:
                taken.add(volume.metadata.name)
                static.append(StaticBinding(claim.claim, volume))
        provision: list[PersistentVolumeClaim] = []
        for claim in unmatched:
            problem = _why_not_provisioned(claim, labels)
            if problem:
                return problem
            provision.append(claim.claim)
        return VolumePlan(static, provision)


def _why_not_provisioned(claim: DelayedClaim, labels: Mapping[str, str]) -> str:
    """Why no volume can be made for a claim, or nothing."""
    storage_class = claim.storage_class
    if storage_class.provisioner in ("", NO_PROVISIONER):
        return _BIND_CONFLICT
    if not allows_topology(storage_class.allowed_topologies, labels):
        return _BIND_CONFLICT
    if claim.capacities is not None:
        size = storage_of(claim.claim.spec.resources).value
        if not any(has_room(one, size, labels) for one in claim.capacities):
            return _NOT_ENOUGH_SPACE
    return ""


def _label_keys(claim: DelayedClaim) -> set[str]:
    keys = set(claim.candidates.label_keys)
    for term in claim.storage_class.allowed_topologies:
        keys |= {expression.key for expression in term.match_label_expressions}
    for capacity in claim.capacities or ():
        if capacity.node_topology is not None:
            keys |= capacity.node_topology.match_labels.keys()
            keys |= {one.key for one in capacity.node_topology.match_expressions}
    return keys
