"""The in-memory cluster: API server, controllers and kubelets of a simulation."""

from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION
from quaymaster._clusters.inmemory.loading import find_stray_pods
from quaymaster._clusters.inmemory.node_health import HealthObserver
from quaymaster._clusters.inmemory.nodes_spec import NodesSpecError, make_nodes

__all__ = [
    "RUN_SECONDS_ANNOTATION",
    "AdmissionError",
    "HealthObserver",
    "InMemoryCluster",
    "NodesSpecError",
    "find_stray_pods",
    "make_nodes",
]
