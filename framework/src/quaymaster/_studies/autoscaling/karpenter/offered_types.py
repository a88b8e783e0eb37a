"""What the cloud offers to each pool, as NodeOverlays change it.

Mirrors ``pkg/cloudprovider/overlay`` (sigs.k8s.io/karpenter v1.15), through which all
of Karpenter reads types: also the prices of nodes that run are those of overlays.
"""

import operator
from collections.abc import Mapping, Sequence

import attrs

from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.label_rules import overlay_problems
from quaymaster._studies.autoscaling.karpenter.objects import NodeOverlay
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.overlays import with_overlays

__all__ = ["offered_types"]


@attrs.frozen(eq=False)
class _Offer:
    """The types of each pool, and the objects that they were computed of."""

    sources: Sequence[object]
    types: Mapping[str, Sequence[InstanceType]]


def offered_types(
    state: ClusterState, options: KarpenterOptions
) -> Mapping[str, Sequence[InstanceType]]:
    """Return the types that the cloud offers to each pool.

    Args:
        state: The cluster.
        options: The options of Karpenter.
    """
    if not options.node_overlay:
        return state.instance_types
    pools, overlays = [*state.pools.values()], state.all_of(NodeOverlay)
    sources = [
        *pools,
        *overlays,
        *map(state.instance_types.get, state.pools),
    ]
    key = ("offered types", options)
    latest = state.latest.get(key)
    if not isinstance(latest, _Offer) or not _are_same(latest.sources, sources):
        valid = [each for each in overlays if not any(overlay_problems(each, options))]
        types = with_overlays(
            state.instance_types, pools, valid, options.well_known_labels
        )
        latest = state.latest[key] = _Offer(sources, types)
    return latest.types


def _are_same(before: Sequence[object], now: Sequence[object]) -> bool:
    # Identity: an object of the cluster that has changed is another object.
    return len(before) == len(now) and all(map(operator.is_, before, now))
