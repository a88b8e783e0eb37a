"""The families of recorded decisions."""

from typing import Final

__all__ = ["DEVICE_FAMILIES", "FAMILIES"]

DEVICE_FAMILIES: Final = (
    "dra_admin_access",
    "dra_basic",
    "dra_binding_conditions",
    "dra_constraints",
    "dra_consumable_capacity",
    "dra_extended_resource",
    "dra_mixed",
    "dra_partitionable",
    "dra_prioritized_list",
    "dra_scope",
    "dra_selectors",
    "dra_taints",
)
"""Families that were recorded with 1.36 only."""

FAMILIES: Final = (
    "balanced_allocation",
    "image_locality",
    "inter_pod_affinity",
    "mixed",
    "node_affinity",
    "node_declared_features",
    "node_ports",
    "node_resources_fit",
    "node_unschedulable_name",
    "nominated",
    "pod_topology_spread",
    "preemption",
    "profiles",
    "scheduling_gates",
    "taint_toleration",
    "volume_binding",
    "volume_limits",
    "volume_restrictions",
    "volume_zone",
)
