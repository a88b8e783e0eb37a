"""A whole cluster in memory: API server, controllers and kubelets, in virtual time.

`MemoryCluster` is the cluster that simulations and tests run on. `make_nodes` makes
nodes from a line of text, and `find_stray_pods` finds pods on nodes that are not there.
`place_of` is the name that an `AdmissionError` has for an object.
"""

from quaymaster._memory.admission import AdmissionError, place_of
from quaymaster._memory.cluster import MemoryCluster
from quaymaster._memory.durations import RUN_SECONDS_ANNOTATION
from quaymaster._memory.limits import MAX_PODS
from quaymaster._memory.loading import find_stray_pods
from quaymaster._memory.nodes_spec import MAX_NODES, NodesSpecError, make_nodes

__all__ = [
    "MAX_NODES",
    "MAX_PODS",
    "RUN_SECONDS_ANNOTATION",
    "AdmissionError",
    "MemoryCluster",
    "NodesSpecError",
    "find_stray_pods",
    "make_nodes",
    "place_of",
]
