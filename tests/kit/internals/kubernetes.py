"""What tests see of ``quaymaster._clusters.kubernetes``."""

from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.aliases import Aliases
from quaymaster._clusters.kubernetes.anonymising import anonymised
from quaymaster._clusters.kubernetes.authorities import ClusterAuthorities
from quaymaster._clusters.kubernetes.client import ApiClient
from quaymaster._clusters.kubernetes.connection import Answer
from quaymaster._clusters.kubernetes.errors import ApiError, CredentialsError
from quaymaster._clusters.kubernetes.in_cluster import in_cluster_access
from quaymaster._clusters.kubernetes.issuing import Issuer
from quaymaster._clusters.kubernetes.kubeconfig import (
    Kubeconfig,
    merged,
    read_kubeconfig,
)
from quaymaster._clusters.kubernetes.lean import lean_objects
from quaymaster._clusters.kubernetes.listing import list_objects, list_pages
from quaymaster._clusters.kubernetes.own_keys import READ_ANNOTATIONS, is_own_key
from quaymaster._clusters.kubernetes.resolving import find_access
from quaymaster._clusters.kubernetes.resource_versions import (
    compare_versions,
    is_at_least,
)
from quaymaster._clusters.kubernetes.resources import (
    Resource,
    operator_resources,
    resources_of,
)
from quaymaster._clusters.kubernetes.streams import blocks_of
from quaymaster._clusters.kubernetes.time_shift import TimeShift

__all__ = [
    "READ_ANNOTATIONS",
    "Access",
    "Aliases",
    "Answer",
    "ApiClient",
    "ApiError",
    "ClusterAuthorities",
    "CredentialsError",
    "Issuer",
    "Kubeconfig",
    "Resource",
    "TimeShift",
    "anonymised",
    "blocks_of",
    "compare_versions",
    "find_access",
    "in_cluster_access",
    "is_at_least",
    "is_own_key",
    "lean_objects",
    "list_objects",
    "list_pages",
    "merged",
    "operator_resources",
    "read_kubeconfig",
    "resources_of",
]
