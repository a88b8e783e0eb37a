"""The kinds that an API server has built in.

From the published OpenAPI of Kubernetes v1.36 (``api/openapi-spec/swagger.json``),
without the types that are only part of a request or a response.
"""

from collections.abc import Mapping
from typing import Final

__all__ = ["BUILTIN_KINDS", "is_builtin_group"]

_KINDS_OF: Final[Mapping[str, str]] = {
    "": """
        ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node
        PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController
        ResourceQuota Secret Service ServiceAccount
    """,
    "admissionregistration.k8s.io": """
        MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
        MutatingWebhookConfiguration ValidatingAdmissionPolicy
        ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
    """,
    "apiextensions.k8s.io": """
        CustomResourceDefinition
    """,
    "apiregistration.k8s.io": """
        APIService
    """,
    "apps": """
        ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
    """,
    "autoscaling": """
        HorizontalPodAutoscaler
    """,
    "batch": """
        CronJob Job
    """,
    "certificates.k8s.io": """
        CertificateSigningRequest ClusterTrustBundle PodCertificateRequest
    """,
    "coordination.k8s.io": """
        Lease LeaseCandidate
    """,
    "discovery.k8s.io": """
        EndpointSlice
    """,
    "events.k8s.io": """
        Event
    """,
    "flowcontrol.apiserver.k8s.io": """
        FlowSchema PriorityLevelConfiguration
    """,
    "internal.apiserver.k8s.io": """
        StorageVersion
    """,
    "networking.k8s.io": """
        IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR
    """,
    "node.k8s.io": """
        RuntimeClass
    """,
    "policy": """
        PodDisruptionBudget
    """,
    "rbac.authorization.k8s.io": """
        ClusterRole ClusterRoleBinding Role RoleBinding
    """,
    "resource.k8s.io": """
        DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate
        ResourcePoolStatusRequest ResourceSlice
    """,
    "scheduling.k8s.io": """
        CompositePodGroup PodGroup PriorityClass Workload
    """,
    "storage.k8s.io": """
        CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment
        VolumeAttributesClass
    """,
    "storagemigration.k8s.io": """
        StorageVersionMigration
    """,
}

BUILTIN_KINDS: Final = {
    kind: group for group, kinds in _KINDS_OF.items() for kind in kinds.split()
}
"""Kind -> its group; the core group is empty."""


def is_builtin_group(group: str) -> bool:
    """Return whether a group is one of Kubernetes itself, or a misspelt one.

    Groups of custom kinds are domains.
    """
    return "." not in group or group in _KINDS_OF
