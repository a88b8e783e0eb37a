"""Groups of equal nodes that an autoscaler may resize."""

import attrs

from quaymaster._api.objects import Node

__all__ = ["ScaledGroup"]


@attrs.frozen(kw_only=True)
class ScaledGroup:
    """A group of equal nodes with limits, such as an AWS Auto Scaling group.

    Upstream's name is ``NodeGroup`` (cluster autoscaler, ``cloudprovider``).

    Attributes:
        name: The name.
        min_size: The fewest nodes.
        max_size: The most nodes.
        template: What a new node looks like; its name does not matter.
        registration_seconds: How long a new node needs until it is in the cluster.
        readiness_seconds: How long it needs from then on until it is ready.
        price_per_hour: What a node costs; None if it is unknown.
        zero_or_max: Whether all nodes come at once, and go at once.
    """

    name: str
    min_size: int = 0
    max_size: int
    template: Node
    registration_seconds: float = 0.0
    readiness_seconds: float = 0.0
    price_per_hour: float | None = None
    zero_or_max: bool = False
