"""The node labels that a new volume requires, as its provisioner chooses them.

Mirrors ``pkg/controller/topology.go`` of kubernetes-csi/external-provisioner for CSI
drivers. Other provisioners have no common rule; `known_provisioners` lists them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import (
    CSINode,
    Node,
    PersistentVolumeClaim,
    StorageClass,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.known_provisioners import (
    hostname_key,
    known_provisioner,
    reach_of,
    zones_of,
)
from quaymaster._clusters.inmemory.controllers.provisioner_facts import (
    HOSTNAME,
    ZONE,
    KnownProvisioner,
    Reach,
)
from quaymaster._clusters.inmemory.controllers.storage_capacities import (
    StorageCapacities,
)
from quaymaster._kits.volumes.csi import csi_driver_of
from quaymaster._kits.volumes.topologies import allows_topology

__all__ = ["AccessibleTopology", "driver_keys", "is_assumed"]

_FNV_OFFSET: Final = 0x811C9DC5
_FNV_PRIME: Final = 0x01000193
_UINT32: Final = 0xFFFFFFFF


class AccessibleTopology:
    """Chooses the labels that the nodes of new volumes must have.

    Args:
        cluster: The cluster.
        capacities: The published storage capacities.
    """

    def __init__(self, cluster: ClusterAccess, capacities: StorageCapacities) -> None:
        self._cluster = cluster
        self._capacities = capacities
        self._segments: dict[tuple[str, ...], Sequence[Mapping[str, str]]] = {}

    def nodes_changed(self) -> None:
        """Drop the cached segments: nodes have come, gone, or got other labels."""
        self._segments.clear()

    def at_node(
        self, storage_class: StorageClass, node: Node
    ) -> Sequence[Mapping[str, str]]:
        """Return the labels of a volume for a selected node, one of which suffices.

        No labels at all mean that every node can reach the volume.
        """
        labels = node.labels
        keys = self._keys(storage_class, node)
        provisioner = known_provisioner(_driver_name(storage_class))
        topology = {key: labels[key] for key in keys if key in labels}
        for key in keys:
            # local-path and OpenEBS write the node's name if the label is missing.
            if key == HOSTNAME or (provisioner is not None and provisioner.needs_node):
                topology.setdefault(key, node.name)
        if not topology:
            return ()
        zones = 1 if provisioner is None else zones_of(provisioner, storage_class)
        if zones == 1:
            return (topology,)
        # The node's own segment comes first, so one of the copies is where the pod runs
        # (regional disks have two zones).
        segments = list(self._allowed_segments(storage_class, tuple(topology)))
        return _rotated(segments, segments.index(topology))[:zones]

    def at_once(
        self, storage_class: StorageClass, claim: PersistentVolumeClaim
    ) -> Sequence[Mapping[str, str]]:
        """Return the labels of a volume that is provisioned without a selected node.

        The segments of the cluster take turns, from one that the claim's name decides,
        so the replicas of a StatefulSet are spread.
        """
        segments = self._possible_segments(storage_class)
        # No segments mean no restriction, as in `at_node`: not that no node can reach
        # the volume.
        if not segments:
            return ()
        provisioner = known_provisioner(_driver_name(storage_class))
        zones = 1 if provisioner is None else zones_of(provisioner, storage_class)
        return _rotated(segments, _offset(claim.name) % len(segments))[:zones]

    def _keys(self, storage_class: StorageClass, node: Node) -> Sequence[str]:
        provisioner = known_provisioner(_driver_name(storage_class))
        reach = None if provisioner is None else reach_of(provisioner, storage_class)
        if reach is Reach.EVERYWHERE:
            # Some of these drivers list topology keys, but none writes them to volumes.
            return ()
        csi_node = self._cluster.objects(CSINode).get(node.name)
        own_keys = driver_keys(storage_class, csi_node)
        # An installed driver without topology keys has volumes for all nodes, unless
        # its provisioner is listed: then the list decides.
        if own_keys or (own_keys is not None and provisioner is None):
            return _written_keys(own_keys, provisioner, node.labels)
        published = self._capacities.keys_at(storage_class.name, node.labels)
        if published:
            return published
        if provisioner is not None and reach is Reach.NODE:
            return _usual_keys(provisioner, storage_class, node.labels)
        allowed = _allowed_keys(storage_class, node)
        if allowed:
            return allowed
        if provisioner is None:
            # The most common case of clouds, and the only guess here: `is_assumed` lets
            # callers report it.
            return (ZONE,)
        return _usual_keys(provisioner, storage_class, node.labels)

    def _possible_segments(
        self, storage_class: StorageClass
    ) -> Sequence[Mapping[str, str]]:
        provisioner = known_provisioner(_driver_name(storage_class))
        if provisioner is not None and (
            reach_of(provisioner, storage_class) is Reach.EVERYWHERE
        ):
            return ()
        keys = self._keys_without_node(storage_class, provisioner)
        if keys:
            return self._allowed_segments(storage_class, keys)
        return [
            # Without any node to derive segments from, the first label of the first
            # term has to do.
            {c.key: value}
            for term in storage_class.allowed_topologies[:1]
            for c in term.match_label_expressions[:1]
            for value in sorted(c.values)
        ]

    def _keys_without_node(
        self, storage_class: StorageClass, provisioner: KnownProvisioner | None
    ) -> Sequence[str]:
        nodes = self._cluster.objects(Node)
        for csi_node in self._cluster.objects(CSINode).values():
            keys = driver_keys(storage_class, csi_node)
            node = nodes.get(csi_node.name)
            if keys and node is not None:
                return _written_keys(keys, provisioner, node.labels)
            # As above: installed without keys means everywhere.
            if keys is not None and provisioner is None:
                return ()
        if provisioner is None:
            return ()
        # The labels of the first node are representative: one cloud labels all of its
        # nodes alike.
        return next(
            (_usual_keys(provisioner, storage_class, n.labels) for n in nodes.values()),
            (),
        )

    def _allowed_segments(
        self, storage_class: StorageClass, keys: Sequence[str]
    ) -> Sequence[Mapping[str, str]]:
        segments, allowed = self._segments_of(keys), storage_class.allowed_topologies
        # If the allowed topologies match no node, the class is ignored rather than
        # leaving the claim without a volume.
        return [s for s in segments if allows_topology(allowed, s)] or segments

    def _segments_of(self, keys: Sequence[str]) -> Sequence[Mapping[str, str]]:
        """Return the different values of some labels on all nodes, sorted."""
        cached = self._segments.get(tuple(keys))
        if cached is None:
            # Sorted as in ``topology.go``, so that equal clusters choose equal
            # segments.
            ordered = sorted(keys)
            values = {
                tuple(node.labels[key] for key in ordered)
                for node in self._cluster.objects(Node).values()
                if all(key in node.labels for key in ordered)
            }
            cached = [dict(zip(ordered, row, strict=True)) for row in sorted(values)]
            self._segments[tuple(keys)] = cached
        return cached


def driver_keys(
    storage_class: StorageClass, csi_node: CSINode | None
) -> Sequence[str] | None:
    """Return the topology keys of a driver on a node, or None if it is absent."""
    name = _driver_name(storage_class)
    for driver in () if csi_node is None else csi_node.spec.drivers:
        if driver.name == name:
            return driver.topology_keys
    return None


def is_assumed(storage_class: StorageClass, csi_nodes: Iterable[CSINode]) -> bool:
    """Return whether nothing states which nodes can reach a class's volumes."""
    if known_provisioner(_driver_name(storage_class)) is not None:
        return False
    if storage_class.allowed_topologies:
        return False
    # A driver that is installed on any node states its keys, and nothing is assumed.
    return all(driver_keys(storage_class, node) is None for node in csi_nodes)


def _driver_name(storage_class: StorageClass) -> str:
    provisioner = storage_class.provisioner
    return csi_driver_of(provisioner) or provisioner


def _rotated(
    segments: Sequence[Mapping[str, str]], first: int
) -> Sequence[Mapping[str, str]]:
    return [*segments[first:], *segments[:first]]


def _written_keys(
    keys: Sequence[str], provisioner: KnownProvisioner | None, labels: Mapping[str, str]
) -> Sequence[str]:
    """Return the topology keys of a driver that it writes to volumes.

    Nodes may have further ones, such as ``disk-type.gke.io/pd-ssd``.
    """
    if provisioner is not None:
        own = provisioner.topology_key
        if own in keys and own in labels:
            return (own,)
    return keys


def _usual_keys(
    provisioner: KnownProvisioner,
    storage_class: StorageClass,
    labels: Mapping[str, str],
) -> Sequence[str]:
    reach = reach_of(provisioner, storage_class)
    usual = reach.value
    if not usual:
        return ()
    if provisioner.needs_node:
        return (hostname_key(provisioner, storage_class),)
    is_own = reach is Reach.NODE or usual not in labels
    return (
        provisioner.topology_key
        if is_own and provisioner.topology_key in labels
        else usual,
    )


def _allowed_keys(storage_class: StorageClass, node: Node) -> Sequence[str]:
    for term in storage_class.allowed_topologies:
        if allows_topology((term,), node.labels):
            return tuple(c.key for c in term.match_label_expressions)
    return ()


def _offset(claim_name: str) -> int:
    """Return where the turn of a claim begins: ``getPVCNameHashAndIndexOffset``."""
    prefix, dash, ordinal = claim_name.rpartition("-")
    if not dash or not (ordinal.isascii() and ordinal.isdecimal()):
        return _fnv32(claim_name)
    # Only the set's name counts, so that all claims of a replica get the same segment.
    _, first_dash, set_name = prefix.partition("-")
    return _fnv32(set_name if first_dash else prefix) + int(ordinal)


def _fnv32(text: str) -> int:
    """Return the hash of Go's ``fnv.New32``."""
    value = _FNV_OFFSET
    for byte in text.encode():
        # Multiply first, then xor: this is FNV-1, while ``fnv.New32a`` does it the
        # other way round.
        value = (value * _FNV_PRIME & _UINT32) ^ byte
    return value
