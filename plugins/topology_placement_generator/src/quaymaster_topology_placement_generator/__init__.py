"""Place the pods of a group into one topology domain, such as a rack."""

from quaymaster_topology_placement_generator.topology_placement_generator import (
    TopologyPlacementGenerator,
)

__all__ = ["TopologyPlacementGenerator"]
