"""The effect of each gate of ``changed_gates.json`` on the product."""

from collections.abc import Mapping
from typing import Final

import attrs

__all__ = ["APPLIES", "DOES_NOT_APPLY", "Rule"]


@attrs.frozen
class Rule:
    """A gate with an effect.

    Attributes:
        text: Its effect.
        implemented: The file that reads the gate, or has the rule.
        tested: The file and the test of the effect, with ``::`` between them.
    """

    text: str
    implemented: str
    tested: str


_INMEMORY: Final = "framework/src/quaymaster/_clusters/inmemory/"
_DEVICES: Final = "framework/src/quaymaster/_kits/devices/"
_VERSIONS: Final = "framework/src/quaymaster/_base/versions/kubernetes.py"
_INMEMORY_TESTS: Final = "framework/tests/clusters/inmemory/"
_DEVICE_TESTS: Final = "framework/tests/kits/devices/"
_VERSION_TESTS: Final = "framework/tests/core/config/test_kubernetes_versions.py"

APPLIES: Final[Mapping[str, Rule]] = {
    "DRADeviceCompatibilityGroups": Rule(
        "off in 1.37; its slices are left out while it is off",
        f"{_DEVICES}rules.py",
        f"{_DEVICE_TESTS}test_device_gates.py::"
        "test_pools_with_groups_give_no_devices_while_their_gate_is_off",
    ),
    "DRADeviceTaintRules": Rule(
        "DeviceTaintRules keep pods off devices, and evict them",
        _VERSIONS,
        f"{_DEVICE_TESTS}test_device_taint_rules.py::"
        "test_taints_have_no_effect_while_their_gate_is_off",
    ),
    "DRAFractionalCapacityRange": Rule(
        "off in a stock 1.37, on with --min-compatibility-version 1.37; played with "
        "both values",
        f"{_DEVICES}rules.py",
        f"{_DEVICE_TESTS}test_device_gates.py::"
        "test_ranges_are_counted_in_thousandths_while_the_gate_is_on",
    ),
    "DRAOptionalNodeOperations": Rule(
        "off in 1.37; played with both values",
        f"{_DEVICES}rules.py",
        f"{_DEVICE_TESTS}test_device_gates.py::"
        "test_operations_are_skipped_on_nodes_that_declare_it",
    ),
    "InterPodAffinityHostnameFastPath": Rule(
        "off in 1.37; how fast upstream filters, with the same answers",
        _VERSIONS,
        f"{_VERSION_TESTS}::test_gate_that_changes_nothing_is_accepted",
    ),
    "HPAScaleToZero": Rule(
        "HorizontalPodAutoscalers may have minReplicas 0",
        f"{_INMEMORY}admission/autoscaler_checks.py",
        f"{_INMEMORY_TESTS}controllers/test_autoscalers.py::"
        "test_autoscalers_scale_to_zero_if_the_gate_is_on",
    ),
    "MaxUnavailableStatefulSet": Rule(
        "StatefulSets replace several pods at once",
        f"{_INMEMORY}controllers/stateful_set_updates.py",
        f"{_INMEMORY_TESTS}controllers/test_stateful_set_updates.py::"
        "test_template_that_fits_nowhere_leaves_max_unavailable_pods_pending",
    ),
    "NodeControllerLeaseCircuitBreaker": Rule(
        "a node is lost only if its lease really is; nothing here looks at a stale "
        "copy",
        f"{_INMEMORY}node_health.py",
        f"{_INMEMORY_TESTS}test_node_health.py::"
        "test_a_node_that_renews_its_lease_in_time_is_never_lost",
    ),
    "PodLevelResourcesFixDefaulting": Rule(
        "LimitRanges come before the defaults of pod-level resources",
        f"{_INMEMORY}admission/pod_level.py",
        f"{_INMEMORY_TESTS}admission/test_pod_level.py::"
        "test_limit_range_counts_before_the_pods_own_limit_since_1_37",
    ),
    "PodLevelResourcesFixKubeletQOSClass": Rule(
        "empty resources of a whole pod leave its containers to decide its class of "
        "service, which quotas have scopes for",
        f"{_INMEMORY}quotas/scopes.py",
        f"{_INMEMORY_TESTS}test_quotas.py::"
        "test_empty_resources_of_a_pod_leave_its_class_to_containers_since_1_37",
    ),
    "SchedulerPreQueueingHints": Rule(
        "off in 1.37; how fast upstream finds pods that an event may help",
        _VERSIONS,
        f"{_VERSION_TESTS}::test_gate_that_changes_nothing_is_accepted",
    ),
    "StorageCapacityScoring": Rule(
        "VolumeBinding scores storage",
        "plugins/volume_binding/src/quaymaster_volume_binding/args.py",
        "plugins/volume_binding/tests/test_volume_binding_scores.py::"
        "test_by_default_free_storage_is_best",
    ),
    "VolumeLimitScaling": Rule(
        "NodeVolumeLimits rejects nodes without a driver",
        "plugins/node_volume_limits/src/quaymaster_node_volume_limits/node_volume_limits.py"
        "",
        "plugins/node_volume_limits/tests/test_missing_drivers.py::"
        "test_nobody_asks_while_the_gate_is_off",
    ),
}
"""The gates with an effect."""

_LOCKED: Final = "on and locked in 1.36, and in 1.37 always on: nothing changes"

DOES_NOT_APPLY: Final[Mapping[str, str]] = {
    "APIServerTracing": _LOCKED,
    "APIServerWebhookAuthenticationToken": (
        "off in 1.37; how the API server signs in at webhooks"
    ),
    "AllowUnsafeMalformedObjectDeletion": (
        "deletes objects that etcd cannot decode, which no store here has"
    ),
    "AnonymousAuthConfigurableEndpoints": _LOCKED,
    "AnyVolumeDataSource": _LOCKED,
    "AtomicWriteVolumeUserFields": (
        "off in 1.37; who owns the files of a volume on the node"
    ),
    "AuthorizeNodeWithSelectors": _LOCKED,
    "AuthorizeWithSelectors": _LOCKED,
    "BtreeWatchCache": _LOCKED,
    "ClusterTrustBundle": (
        "serves certificates; no decision and no controller here reads them"
    ),
    "ClusterTrustBundleProjection": (
        "mounts certificates on the node; volumes of that kind cost nothing when a pod"
        " is placed"
    ),
    "CompositePodGroup": (
        "off in 1.37; scheduling in groups is not played "
        "(docs/reference/kubernetes-versions.md)"
    ),
    "ConcurrentWatchObjectDecode": (
        "how the API server works inside; its answers are the same"
    ),
    "ConsistentListFromCache": _LOCKED,
    "ConsistentListFromCacheSkipTimeoutFallback": (
        "off in 1.37; how the API server works inside; its answers are the same"
    ),
    "DRADerivedAttributes": (
        "off in 1.37, and not played: expressions that compute attributes need their "
        "own compiler environment and costs"
    ),
    "DRAPartitionableDevicesType": (
        "off in 1.37; a column of ResourcePoolStatusRequest, which the scheduler does "
        "not read"
    ),
    "DefaultPodSysctls": "off in 1.37; kernel parameters that kubelets set",
    "EmptyDirVolumeMode": "off in 1.37; permissions of files on the node",
    "EtcdRangeStream": "how the API server works inside; its answers are the same",
    "EvictionRequestAPI": (
        "off in 1.37; its API is alpha, and no controller here evicts by it"
    ),
    "ExcludeAdmissionWebhookVirtualResources": (
        "webhooks are not asked about access reviews; no webhook is simulated"
    ),
    "GRPCContainerProbeTLS": "off in 1.37; probes are not simulated",
    "GangScheduling": (
        "off in 1.36, and part of GenericWorkload in 1.37, which is off and not played"
    ),
    "H2CContainerProbe": "off in 1.37; probes are not simulated",
    "HPAGeneration": (
        "counts generations of HorizontalPodAutoscalers, which are skipped with a "
        "notice"
    ),
    "HPAOptimizedSelectorStore": (
        "how the controller of HorizontalPodAutoscalers finds them; they are skipped "
        "with a notice"
    ),
    "HugepageAwareEviction": "kubelets here evict no pods for memory",
    "InPlacePodVerticalScalingMemoryBackedVolumes": (
        "off in 1.37; kubelets resize volumes in memory"
    ),
    "InPlacePodVerticalScalingSchedulerPreemption": (
        "off in 1.37, and not played: it queues bound pods "
        "(docs/reference/kubernetes-versions.md)"
    ),
    "JobBackoffLimitPerIndex": _LOCKED,
    "JobPodReplacementPolicy": _LOCKED,
    "JobSuccessPolicy": _LOCKED,
    "KubeProxyIPVS": "how kube-proxy forwards; no network is simulated",
    "KubeProxyNFTablesLocalhostNodePorts": "off in 1.37; no network is simulated",
    "KubeletAllocatedPodsEndpoint": "off in 1.37; an endpoint of kubelets",
    "KubeletInUserNamespace": "how kubelets run on their nodes",
    "LogarithmicScaleDown": _LOCKED,
    "ManifestBasedAdmissionControlConfig": (
        "admission webhooks from files; no webhook is simulated"
    ),
    "MemoryQoS": "how kubelets limit memory on the node",
    "NFTablesNetlink": "how kube-proxy talks to the kernel; no network is simulated",
    "NativeHistograms": "the form of metrics; ours are those of both versions",
    "NodeLifecycleConditions": "off in 1.37; conditions that no decision reads",
    "OrderedNamespaceDeletion": _LOCKED,
    "PersistentVolumeClaimUnusedSinceTime": (
        "a condition in the status of claims, which no decision reads"
    ),
    "PodCertificateRequest": "certificates for pods; no decision reads them",
    "PodGroupPreemptionPolicy": (
        "off in 1.37; scheduling in groups is not played "
        "(docs/reference/kubernetes-versions.md)"
    ),
    "PodLifecycleSleepAction": _LOCKED,
    "PodLifecycleSleepActionAllowZero": _LOCKED,
    "PodsAPI": "an endpoint of kubelets",
    "PreventStaticPodAPIReferences": (
        "on in 1.36, and always on in 1.37; kubelets refuse such static pods, which no"
        " simulation has"
    ),
    "RelaxedDNSSearchValidation": _LOCKED,
    "ResilientWatchCacheInitialization": _LOCKED,
    "RetryGenerateName": _LOCKED,
    "SELinuxMount": (
        "how kubelets label volumes; its plugin of kube-controller-manager only warns"
    ),
    "SchedulerQueueingHints": _LOCKED,
    "SidecarContainers": _LOCKED,
    "StaleControllerConsistencyHPA": (
        "what the controller of HorizontalPodAutoscalers has cached; they are skipped "
        "with a notice"
    ),
    "StatefulSetRecreateStrategy": (
        "off in 1.37; a strategy that the API server refuses"
    ),
    "StorageVersionMigrator": (
        "rewrites stored objects; there is one version of each here"
    ),
    "StreamingCollectionEncodingToJSON": _LOCKED,
    "StreamingCollectionEncodingToProtobuf": _LOCKED,
    "StructuredAuthenticationConfiguration": _LOCKED,
    "VolumeBindMountOptions": "off in 1.37; mount options that kubelets apply",
    "WatchListCompression": "compresses what a watch begins with; all of it is read",
    "WebhookRoundTripLoadBalancing": "how the API server connects to webhooks",
    "WorkloadAwarePreemption": (
        "off in 1.36, and part of GenericWorkload in 1.37, which is off and not played"
    ),
}
"""The gates without an effect, and why they have none."""
