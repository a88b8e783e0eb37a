"""Spread pods evenly over zones, hosts and other topology domains.

Mirrors ``PodTopologySpread`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/podtopologyspread``).
"""

from quaymaster_pod_topology_spread.args import DefaultingType, PodTopologySpreadArgs
from quaymaster_pod_topology_spread.pod_topology_spread import PodTopologySpread

__all__ = ["DefaultingType", "PodTopologySpread", "PodTopologySpreadArgs"]
