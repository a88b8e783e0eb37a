"""Prefer the placements on which more pods of a group fit."""

from quaymaster_pod_group_pods_count.pod_group_pods_count import PodGroupPodsCount

__all__ = ["PodGroupPodsCount"]
