"""Plan a pod's volumes on a node: existing ones, or ones to provision."""

import enum
from collections.abc import Mapping
from typing import Final

from quaymaster import NodeTable
from quaymaster.columns import CodedColumn
from quaymaster.objects import PersistentVolume, PersistentVolumeClaim
from quaymaster.volumes import NO_PROVISIONER, VolumeTopology, allows_topology
from quaymaster_volume_binding.lookup import Lookup, as_handled
from quaymaster_volume_binding.plans import NOTHING_TO_DO, StaticBinding, VolumePlan
from quaymaster_volume_binding.pod_claims import DelayedClaim, PodClaims

__all__ = ["Finder", "Problem", "Reasons", "reasons_of", "why_not_provisioned"]

Reasons = tuple[str, ...]

_NODE_CONFLICT: Final = "node(s) didn't match PersistentVolume's node affinity"
_VOLUME_MISSING: Final = (
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
)


class Problem(enum.IntEnum):
    """A problem with claims that are bound after the pod has a node."""

    NONE = 0
    BIND_CONFLICT = 1
    NOT_ENOUGH_SPACE = 2


_PROBLEMS: Final = {
    Problem.BIND_CONFLICT: "node(s) didn't find available persistent volumes to bind",
    Problem.NOT_ENOUGH_SPACE: "node(s) did not have enough free storage",
}


class Finder:
    """Plans one pod's volumes, node by node.

    Args:
        lookup: The cluster's objects.
        claims: The pod's claims.

    Attributes:
        claims: The same.
        selected_nodes: The nodes that were selected for claims earlier.
    """

    def __init__(self, lookup: Lookup, claims: PodClaims) -> None:
        self._lookup = lookup
        self._topologies: dict[tuple[str, str], VolumeTopology] = {}
        self._needs_migration = any(claim.is_in_tree for claim in claims.bound)
        self.claims = claims
        self.selected_nodes = {
            claim.selected_node
            for claim in claims.selected
            if claim.selected_node is not None
        }

    @property
    def has_waiting(self) -> bool:
        """Whether some claims are bound after the pod has a node."""
        return bool(self.claims.selected or self.claims.open)

    def migrated_on(self, node_name: str) -> str:
        """Return the in-tree plugins that are migrated on a node, if relevant."""
        return self._lookup.migrated_on(node_name) if self._needs_migration else ""

    def migrated_by_row(self, nodes: NodeTable) -> CodedColumn[str]:
        """Return the same for all nodes; nodes that list none have no value."""
        return self._lookup.migrated.of(nodes)

    def find(self, node_name: str, labels: Mapping[str, str]) -> VolumePlan | Reasons:
        """Make a plan for one node.

        Args:
            node_name: The node's name.
            labels: Its labels.

        Returns:
            The plan, or the reasons why there is none.

        Raises:
            TranslationError: An in-tree volume cannot be translated to CSI.
        """
        conflict, missing = self._check_bound(labels, self.migrated_on(node_name))
        # Also if a bound volume does not fit: upstream reports the reasons of both
        # kinds of claims together.
        plan = self._plan(node_name, labels)
        problem = plan if isinstance(plan, Problem) else Problem.NONE
        reasons = reasons_of(conflict=conflict, problem=problem, missing=missing)
        return plan if isinstance(plan, VolumePlan) and not reasons else reasons

    def problem(self, node_name: str, labels: Mapping[str, str]) -> Problem:
        """Return the problem with delayed claims on a node."""
        plan = self._plan(node_name, labels)
        return Problem.NONE if isinstance(plan, VolumePlan) else plan

    def _check_bound(
        self, labels: Mapping[str, str], migrated: str
    ) -> tuple[bool, bool]:
        """Return whether a bound volume is unreachable, or missing (the first one)."""
        for bound in self.claims.bound:
            # The first problem of the bound claims decides between the two reasons
            # (``checkBoundClaims``), so the order of the pod's volumes is visible in
            # its message.
            if bound.volume is None:
                return False, True
            listed = migrated if bound.is_in_tree else ""
            if not self.topology(bound.volume, listed).includes(labels):
                return True, False
        return False, False

    def topology(self, volume: PersistentVolume, migrated: str) -> VolumeTopology:
        """Return a matcher for the nodes that can reach a volume.

        Args:
            volume: The volume.
            migrated: The in-tree plugins that CSI drivers replace on these nodes.

        Raises:
            TranslationError: The volume cannot be translated to CSI.
        """
        key = volume.metadata.name, migrated
        topology = self._topologies.get(key)
        if topology is None:
            topology = self._topologies[key] = VolumeTopology(
                as_handled(volume, migrated)
            )
        return topology

    def _plan(self, node_name: str, labels: Mapping[str, str]) -> VolumePlan | Problem:
        if not self.has_waiting:
            return NOTHING_TO_DO
        # A provisioner works on a volume for another node. Until it gives up and
        # removes the annotation, the pod can only go there.
        if self.selected_nodes - {node_name}:
            return Problem.BIND_CONFLICT
        static, unmatched = self.match(labels)
        provision: list[PersistentVolumeClaim] = []
        for claim in unmatched:
            problem = why_not_provisioned(claim, labels)
            if problem:
                return problem
            provision.append(claim.claim)
        return VolumePlan(static, provision)

    def match(
        self, labels: Mapping[str, str]
    ) -> tuple[list[StaticBinding], list[DelayedClaim]]:
        """Return the claims that get existing volumes on a node, and the others.

        Args:
            labels: The node's labels.
        """
        static: list[StaticBinding] = []
        # Claims with a selected node take no existing volume: their provisioner may be
        # making one already.
        unmatched: list[DelayedClaim] = list(self.claims.selected)
        taken: set[str] = set()
        for claim in self.claims.open:
            volume = claim.candidates.best(labels, taken)
            if volume is None:
                unmatched.append(claim)
            else:
                taken.add(volume.metadata.name)
                static.append(StaticBinding(claim.claim, volume))
        return static, unmatched


def reasons_of(*, conflict: bool, problem: Problem, missing: bool) -> Reasons:
    """Return the reasons against a node with upstream's texts and order, if any.

    Args:
        conflict: Whether the node cannot reach a bound volume.
        problem: The problem with delayed claims.
        missing: Whether a bound volume does not exist.
    """
    reasons = [_NODE_CONFLICT] if conflict else []
    if problem:
        reasons.append(_PROBLEMS[problem])
    if missing:
        reasons.append(_VOLUME_MISSING)
    return tuple(reasons)


def why_not_provisioned(claim: DelayedClaim, labels: Mapping[str, str]) -> Problem:
    """Return why no volume can be provisioned for a claim on a node with labels."""
    storage_class = claim.storage_class
    if storage_class.provisioner in ("", NO_PROVISIONER):
        return Problem.BIND_CONFLICT
    if not allows_topology(storage_class.allowed_topologies, labels):
        return Problem.BIND_CONFLICT
    if claim.room is not None and not claim.room.includes(labels):
        return Problem.NOT_ENOUGH_SPACE
    return Problem.NONE
