"""What tests see of ``quaymaster._kubernetes``."""

from quaymaster._kubernetes.access import Access
from quaymaster._kubernetes.aliases import Aliases
from quaymaster._kubernetes.anonymising import anonymised
from quaymaster._kubernetes.authorities import ClusterAuthorities
from quaymaster._kubernetes.client import ApiClient
from quaymaster._kubernetes.connection import Answer
from quaymaster._kubernetes.errors import ApiError, CredentialsError
from quaymaster._kubernetes.in_cluster import in_cluster_access
from quaymaster._kubernetes.issuing import Issuer
from quaymaster._kubernetes.kubeconfig import Kubeconfig, merged, read_kubeconfig
from quaymaster._kubernetes.listing import list_objects, list_pages
from quaymaster._kubernetes.resolving import find_access
from quaymaster._kubernetes.resource_versions import compare_versions, is_at_least
from quaymaster._kubernetes.resources import Resource, resources_of
from quaymaster._kubernetes.streams import blocks_of

__all__ = [
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
    "anonymised",
    "blocks_of",
    "compare_versions",
    "find_access",
    "in_cluster_access",
    "is_at_least",
    "list_objects",
    "list_pages",
    "merged",
    "read_kubeconfig",
    "resources_of",
]
