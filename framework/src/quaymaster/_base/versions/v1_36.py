"""The scheduler of Kubernetes 1.36: feature gates and changes.

Mirrors the feature gates that ``pkg/scheduler`` reads (Kubernetes v1.36.2,
``pkg/features/kube_features.go``).
"""

from quaymaster._base.versions.release import Release

__all__ = ["V1_36"]

_ON = (
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRAResourceClaimDeviceStatus",
    "DRASchedulerFilterTimeout",
    "InPlacePodLevelResourcesVerticalScaling",
    "MatchLabelKeysInPodTopologySpread",
    "NodeDeclaredFeatures",
    "NominatedNodeNameForExpectation",
    "OpportunisticBatching",
    "PodLevelResources",
    "SchedulerAsyncPreemption",
    "SchedulerPopFromBackoffQ",
)

_OFF = (
    "DRADeviceTaintRules",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAWorkloadResourceClaims",
    "GangScheduling",
    "GenericWorkload",
    "HPAScaleToZero",
    "SchedulerAsyncAPICalls",
    "StorageCapacityScoring",
    "TaintTolerationComparisonOperators",
    "TopologyAwareWorkloadScheduling",
    "VolumeLimitScaling",
    "WorkloadAwarePreemption",
)

_LOCKED_ON = (
    "DRAAdminAccess",
    "DynamicResourceAllocation",
    "InPlacePodVerticalScaling",
    "NodeInclusionPolicyInPodTopologySpread",
    "SchedulerQueueingHints",
    "SidecarContainers",
    "VolumeAttributesClass",
)

_OF_CLUSTER = ("MaxUnavailableStatefulSet",)

V1_36 = Release(
    version="1.36",
    patch="1.36.2",
    default_profile="default-1.36",
    feature_gates=dict.fromkeys((*_ON, *_LOCKED_ON), True)
    | dict.fromkeys((*_OFF, *_OF_CLUSTER), False),
    locked=frozenset(_LOCKED_ON),
    gated_plugins={
        "GangScheduling": "GangScheduling",
        "PodGroupPodsCount": "TopologyAwareWorkloadScheduling",
        "TopologyPlacementGenerator": "TopologyAwareWorkloadScheduling",
    },
)
