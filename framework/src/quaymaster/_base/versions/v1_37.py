"""The scheduler of Kubernetes 1.37: feature gates and changes.

Mirrors the feature gates that ``pkg/scheduler`` reads (Kubernetes v1.37.2,
``pkg/features/kube_features.go``).
"""

from quaymaster._base.versions.release import Change, Release

__all__ = ["PLUGIN_ORDER", "V1_37"]

PLUGIN_ORDER = "plugin-order"

_ON = (
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAPartitionableDevices",
    "DRASchedulerFilterTimeout",
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
    "DRAPrioritizedList",
    "DynamicResourceAllocation",
    "DRAExtendedResource",
    "DRAResourceClaimDeviceStatus",
    "InPlacePodVerticalScaling",
    "NodeDeclaredFeatures",
    "NodeInclusionPolicyInPodTopologySpread",
    "VolumeAttributesClass",
)

_OF_CLUSTER = (
    "HPAScaleToZero",
    "MaxUnavailableStatefulSet",
    "PodLevelResourcesFixDefaulting",
    "PodLevelResourcesFixKubeletQOSClass",
)

_OFF_OF_CLUSTER = ("WorkloadWithJob",)

_CHANGES = (
    Change(
        name="storage-capacity-scoring",
        title="nodes are scored by how full their storage would be",
        gate="StorageCapacityScoring",
    ),
    Change(
        name="volume-limit-scaling",
        title="a volume may reject nodes that lack its CSI driver",
        gate="VolumeLimitScaling",
    ),
    Change(
        name="device-taint-rules",
        title="DeviceTaintRules keep pods off devices",
        gate="DRADeviceTaintRules",
    ),
    Change(
        name="image-volume-count",
        title="images of image volumes count in ImageLocality's scores",
    ),
    Change(
        name="namespace-selector-resolved",
        title="a negative namespaceSelector selects the namespaces that match it",
    ),
    Change(
        name="resize-totals",
        title="a pod that is being resized counts with the largest of its totals",
    ),
    Change(
        name="budget-walk",
        title="a victim's disruption budgets count up to the first violated one",
    ),
    Change(
        name=PLUGIN_ORDER,
        title="the default profile runs NodeName before NodeUnschedulable",
    ),
    Change(
        name="device-allocator",
        title="devices are allocated by the newer allocator",
    ),
    Change(
        name="selector-types",
        title="attributes of devices are dynamic in selectors, and may be lists",
    ),
    Change(
        name="preemption-messages",
        title="PostFilter messages report success, and no longer missing claims",
    ),
    Change(
        name="stateful-set-max-unavailable",
        title="a StatefulSet replaces as many pods at once as maxUnavailable allows",
        gate="MaxUnavailableStatefulSet",
        is_of_cluster=True,
    ),
    Change(
        name="on-delete-completed",
        title="an update with OnDelete is complete when all pods are new and ready",
        is_of_cluster=True,
    ),
    Change(
        name="pod-level-defaults",
        title="LimitRanges come before the defaults of a whole pod's resources",
        gate="PodLevelResourcesFixDefaulting",
        is_of_cluster=True,
    ),
)

V1_37 = Release(
    version="1.37",
    patch="1.37.2",
    default_profile="default",
    feature_gates=dict.fromkeys((*_ON, *_LOCKED_ON, *_OF_CLUSTER), True)
    | dict.fromkeys((*_OFF, *_OFF_OF_CLUSTER), False),
    locked=frozenset(_LOCKED_ON),
    gated_plugins={
        "DeferredPodScheduling": "InPlacePodVerticalScalingSchedulerPreemption",
        "GangScheduling": "GenericWorkload",
        "TopologyPlacementGenerator": "TopologyAwareWorkloadScheduling",
        "PodGroupPodsCount": "TopologyAwareWorkloadScheduling",
    },
    changes=_CHANGES,
)
