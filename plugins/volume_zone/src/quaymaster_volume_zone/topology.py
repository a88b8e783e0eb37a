"""Zones and regions in the labels of a volume."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from quaymaster.objects import PersistentVolume

__all__ = ["TOPOLOGY_LABELS", "VolumeTopology", "topologies_of"]

_SUCCESSORS: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}

TOPOLOGY_LABELS: Final = (*_SUCCESSORS, *_SUCCESSORS.values())
"""The labels for zones and regions: the two old ones, then the current ones."""


class VolumeTopology(msgspec.Struct, frozen=True):
    """A requirement of a volume for its node.

    Attributes:
        key: The label.
        values: The allowed values of the node.
    """

    key: str
    values: frozenset[str]

    @property
    def successor(self) -> str:
        """Return the current label for an old one, or the label itself."""
        return _SUCCESSORS.get(self.key, self.key)

    def allows(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels meets the requirement."""
        value = labels.get(self.key)
        if value is None:
            value = labels.get(self.successor)
        return value in self.values


def topologies_of(volume: PersistentVolume) -> Sequence[VolumeTopology]:
    """Return the requirements in the labels of a volume.

    A value may list zones, as in ``a__b``; lists with gaps are ignored.
    """
    topologies = []
    for key in TOPOLOGY_LABELS:
        if key in volume.labels:
            zones = [zone.strip() for zone in volume.labels[key].split("__")]
            # One empty zone among several makes ``LabelZonesToSet`` fail, and the label
            # is ignored as a whole.
            if all(zones):
                topologies.append(VolumeTopology(key, frozenset(zones)))
    return topologies
