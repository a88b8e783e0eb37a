"""Place the pods of a group into one topology domain, such as a rack.

A PodGroup names a label of nodes in ``spec.schedulingConstraints.topology``. Each value
of this label is a placement: all pods of the group get nodes with the same value.

Mirrors ``TopologyPlacement`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/topologyaware/topology_placement.go``). It is called
only if the feature gate TopologyAwareWorkloadScheduling is on.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from quaymaster import Handle, NodeTable, Pod, Status, hookimpl
from quaymaster.columns import RowArray
from quaymaster.hookspecs import PodGroupInfo, PodGroupPlacement
from quaymaster.objects import PodGroup

__all__ = ["TopologyPlacementGenerator"]


class TopologyPlacementGenerator:
    """Makes a placement of each topology domain.

    Args:
        _args: None; the plugin takes no arguments.
        handle: The framework.
    """

    reads = (PodGroup,)
    writes = ()

    def __init__(self, _args: None, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def placement_generate(
        self, group: PodGroupInfo, nodes: NodeTable, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement] | Status:
        constraints = group.group.spec.scheduling_constraints
        if constraints is None or not constraints.topology:
            return [parent]
        # The API allows one constraint.
        key = constraints.topology[0].key
        domain = _domain_of(self._scheduled(group), nodes, key)
        if isinstance(domain, Status):
            return domain
        rows_of = _rows_by_domain(nodes, parent, key)
        if domain is not None:
            # Pods that run already fix the domain for the rest of their group.
            rows_of = {domain: rows_of[domain]} if domain in rows_of else {}
        # Upstream's order is that of a map: random.
        return [PodGroupPlacement(name, rows_of[name]) for name in sorted(rows_of)]

    def _scheduled(self, group: PodGroupInfo) -> Sequence[Pod]:
        """Return the pods of a group, or of the groups below it, that have a node."""
        groups = self._handle.pod_groups
        leaves = () if groups is None else groups.leaves(group.group)
        return [pod for leaf in leaves for pod in leaf.scheduled()]


def _domain_of(pods: Iterable[Pod], nodes: NodeTable, key: str) -> str | Status | None:
    """Return the domain of some pods; None without pods, an Error if there are two."""
    domain: str | None = None
    for pod in pods:
        node = nodes.get(pod.node_name)
        if node is None:
            problem = f'nodeinfo not found for node name "{pod.node_name}"'
            return _undetermined(f"getting node for pod {pod.key}: {problem}")
        own = node.labels.get(key)
        if own is None:
            return _undetermined(f"no topology domain found for pod {pod.key}")
        # As upstream, an empty domain is followed by any other.
        if domain and domain != own:
            text = f"more than 1 domain found for pod group: {domain}, {own}"
            return _undetermined(text)
        domain = own
    return domain


def _undetermined(problem: str) -> Status:
    text = "cannot determine domain for already scheduled pods"
    return Status.from_error(f"{text}: {problem}")


def _rows_by_domain(
    nodes: NodeTable, parent: PodGroupPlacement, key: str
) -> dict[str, RowArray]:
    """Return the rows of each value of a label; nodes without it are left out."""
    column, rows = nodes.label(key), nodes.row_numbers(parent.rows)
    if not len(rows):
        return {}
    codes = column.codes[rows]
    # Sorted by code, and by row among equal codes: then each value is one stretch.
    order = codes.argsort(kind="stable")
    distinct, starts = np.unique(codes[order], return_index=True)
    stretches = np.split(rows[order], starts[1:])
    return {
        column.values[code]: stretch
        for code, stretch in zip(distinct.tolist(), stretches, strict=True)
        if code >= 0
    }
