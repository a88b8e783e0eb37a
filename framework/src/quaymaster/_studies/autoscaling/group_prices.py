"""The prices of groups of nodes by a catalogue of instance types."""

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from quaymaster._studies.autoscaling.karpenter.catalogue import TypeSpec
from quaymaster._studies.autoscaling.scaled_groups import ScaledGroup

__all__ = ["priced_by"]

_INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
_ZONE: Final = "topology.kubernetes.io/zone"
_ON_DEMAND: Final = "on-demand"
_SPOT: Final = "spot"
_SPOT_LABELS: Final = frozenset(
    {
        ("karpenter.sh/capacity-type", "spot"),
        ("eks.amazonaws.com/capacityType", "SPOT"),
        ("cloud.google.com/gke-spot", "true"),
        ("cloud.google.com/gke-preemptible", "true"),
        ("kubernetes.azure.com/scalesetpriority", "spot"),
    }
)


def priced_by(catalogue: Iterable[TypeSpec], group: ScaledGroup) -> ScaledGroup:
    """Return a group with the price of its instance type, unless it has a price.

    Nodes with a label of a cloud for spot capacity have the price of it. If a type has
    another price in the zone of the nodes, it is that one.

    Args:
        catalogue: The instance types.
        group: The group.
    """
    labels = group.template.labels
    name = labels.get(_INSTANCE_TYPE)
    spec = next((each for each in catalogue if each.name == name), None)
    if group.price_per_hour is not None or spec is None:
        return group
    kind = _SPOT if _is_spot(labels) else _ON_DEMAND
    prices = [each for each in spec.offerings if each.capacity_type == kind]
    # Spot prices differ by zone. A price from another zone is closer than none.
    in_zone = [each for each in prices if each.zone == labels.get(_ZONE)] or prices
    if not in_zone:
        return group
    return attrs.evolve(group, price_per_hour=in_zone[0].price)


def _is_spot(labels: Mapping[str, str]) -> bool:
    return not _SPOT_LABELS.isdisjoint(labels.items())
