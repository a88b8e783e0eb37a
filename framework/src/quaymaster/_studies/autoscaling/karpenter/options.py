"""The options of Karpenter, with its defaults.

Mirrors ``pkg/operator/options/options.go`` (sigs.k8s.io/karpenter v1.15).
"""

import attrs

from quaymaster._api.objects import TopologySpreadConstraint
from quaymaster._studies.autoscaling.karpenter.labels import (
    RESERVATION_ID,
    RESTRICTED_DOMAINS,
    WELL_KNOWN_LABELS,
)

__all__ = ["KarpenterOptions"]


# With a cached hash: facts about a state are kept by options.
@attrs.frozen(kw_only=True, cache_hash=True)
class KarpenterOptions:
    """The options of Karpenter, and what its cloud provider adds. Times in seconds.

    Attributes:
        batch_idle_duration: How long no pod must come until a round begins.
        batch_max_duration: How long a round waits at most.
        ignore_preferences: Whether preferences of pods do not count
            (``--preference-policy=Ignore``).
        best_effort_min_values: Whether types may have fewer values than a pool says
            (``--min-values-policy=BestEffort``).
        reserved_capacity: The gate ReservedCapacity.
        spot_to_spot_consolidation: The gate SpotToSpotConsolidation.
        node_overlay: The gate NodeOverlay.
        static_capacity: The gate StaticCapacity: pools with a number of replicas.
        default_constraints: The spread constraints of pods without their own, as in the
            configuration of the scheduler (``--scheduler-config``).
        max_instance_types: How many types a claim lists at most.
        well_known_labels: Labels that each new node may have.
        restricted_domains: Domains of labels that pods may not require.
        reservation_label: The label of capacity reservations.
        node_classes: The groups and kinds of node classes that the provider serves;
            None for all.
        seed: Draws where upstream leaves the choice to the order of a map; None takes
            the first by name.
    """

    batch_idle_duration: float = 1.0
    batch_max_duration: float = 10.0
    ignore_preferences: bool = False
    best_effort_min_values: bool = False
    reserved_capacity: bool = True
    spot_to_spot_consolidation: bool = False
    node_overlay: bool = False
    static_capacity: bool = False
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    max_instance_types: int = 600
    well_known_labels: frozenset[str] = WELL_KNOWN_LABELS
    restricted_domains: frozenset[str] = RESTRICTED_DOMAINS
    reservation_label: str = RESERVATION_ID
    node_classes: frozenset[tuple[str, str]] | None = None
    seed: int | None = None
