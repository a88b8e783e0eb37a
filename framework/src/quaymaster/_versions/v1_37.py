"""What Kubernetes 1.37 says of its scheduler.

Mirrors the feature gates that ``pkg/scheduler`` reads (Kubernetes v1.37.1,
``pkg/features/kube_features.go``).
"""

from quaymaster._versions.release import Release

__all__ = ["V1_37"]

_ON = (
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRASchedulerFilterTimeout",
    "DynamicResourceAllocation",
    "InPlacePodLevelResourcesVerticalScaling",
    "MatchLabelKeysInPodTopologySpread",
    "NominatedNodeNameForExpectation",
    "OpportunisticBatching",
    "PodLevelResources",
    "SchedulerAsyncPreemption",
    "SchedulerPopFromBackoffQ",
    "StorageCapacityScoring",
    "VolumeLimitScaling",
)

_OFF = (
    "CompositePodGroup",
    "DRADerivedAttributes",
    "DRADeviceCompatibilityGroups",
    "DRAFractionalCapacityRange",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "DRAWorkloadResourceClaims",
    "GenericWorkload",
    "InPlacePodVerticalScalingSchedulerPreemption",
    "InterPodAffinityHostnameFastPath",
    "PodGroupPreemptionPolicy",
    "SchedulerAsyncAPICalls",
    "SchedulerPreQueueingHints",
    "TaintTolerationComparisonOperators",
    "TopologyAwareWorkloadScheduling",
)

_LOCKED_ON = (
    "DRAAdminAccess",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAResourceClaimDeviceStatus",
    "InPlacePodVerticalScaling",
    "NodeDeclaredFeatures",
    "NodeInclusionPolicyInPodTopologySpread",
    "VolumeAttributesClass",
)

V1_37 = Release(
    version="1.37",
    default_profile="default-1.37",
    feature_gates=dict.fromkeys((*_ON, *_LOCKED_ON), True) | dict.fromkeys(_OFF, False),
    locked=frozenset(_LOCKED_ON),
)
