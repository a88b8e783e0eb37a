"""The in-memory cluster: API server, controllers and kubelets of a simulation."""

from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.durations import (
    RUN_SECONDS_ANNOTATION,
    STARTUP_SECONDS_ANNOTATION,
    TERMINATION_SECONDS_ANNOTATION,
)
from quaymaster._clusters.inmemory.loading import find_stray_pods
from quaymaster._clusters.inmemory.node_health import HealthObserver
from quaymaster._clusters.inmemory.nodes_spec import NodesSpecError, make_nodes
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES, PodTimes
from quaymaster._clusters.inmemory.run_times import RunTimes

__all__ = [
    "DEFAULT_POD_TIMES",
    "RUN_SECONDS_ANNOTATION",
    "STARTUP_SECONDS_ANNOTATION",
    "TERMINATION_SECONDS_ANNOTATION",
    "AdmissionError",
    "HealthObserver",
    "InMemoryCluster",
    "NodesSpecError",
    "PodTimes",
    "RunTimes",
    "find_stray_pods",
    "make_nodes",
]
