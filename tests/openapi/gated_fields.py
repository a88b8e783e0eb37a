"""The fields that an API server drops while a feature gate is off.

Curated from Kubernetes v1.36.2 and v1.37.2, for the kinds of objects that simulations
read. A gate is listed if it is off by default in one of these versions, or if the
scheduler reads it and it may be switched off. Rules that change a value instead of
removing a field (``procMount``, restart policies of containers) belong to gates that
are on and not read by the scheduler, so none is missing here.

Conditions of the status that only updates of the status can write are left out.
"""

from collections.abc import Mapping
from typing import Final

__all__ = ["GATED_FIELDS", "Fields"]

Fields = Mapping[str, tuple[str, ...]]

_POD: Final[Mapping[str, Fields]] = {
    "AtomicWriteVolumeUserFields": {
        "core.v1.ClusterTrustBundleProjection": ("user",),
        "core.v1.ConfigMapVolumeSource": ("defaultUser",),
        "core.v1.DownwardAPIVolumeFile": ("user",),
        "core.v1.DownwardAPIVolumeSource": ("defaultUser",),
        "core.v1.KeyToPath": ("user",),
        "core.v1.PodCertificateProjection": ("user",),
        "core.v1.ProjectedVolumeSource": ("defaultUser",),
        "core.v1.SecretVolumeSource": ("defaultUser",),
        "core.v1.ServiceAccountTokenProjection": ("user",),
    },
    "CSIVolumeHealth": {"core.v1.PodStatus": ("volumeHealth",)},
    "ClusterTrustBundleProjection": {
        "core.v1.VolumeProjection": ("clusterTrustBundle",)
    },
    "ContainerStopSignals": {"core.v1.Lifecycle": ("stopSignal",)},
    "DRAExtendedResource": {"core.v1.PodStatus": ("extendedResourceClaimStatus",)},
    "DRANodeAllocatableResources": {
        "core.v1.PodStatus": ("nodeAllocatableResourceClaimStatuses",)
    },
    "EmptyDirVolumeMode": {"core.v1.EmptyDirVolumeSource": ("mode",)},
    "EvictionRequestAPI": {"core.v1.PodSpec": ("evictionResponders",)},
    "GRPCContainerProbeTLS": {"core.v1.GRPCAction": ("mode",)},
    "GenericWorkload": {"core.v1.PodSpec": ("schedulingGroup",)},
    "H2CContainerProbe": {"core.v1.HTTPGetAction": ("protocol",)},
    "ImageVolumeWithDigest": {"core.v1.VolumeMountStatus": ("volumeStatus",)},
    "InPlacePodLevelResourcesVerticalScaling": {
        "core.v1.PodStatus": ("allocatedResources", "resources")
    },
    "MatchLabelKeysInPodTopologySpread": {
        "core.v1.TopologySpreadConstraint": ("matchLabelKeys",)
    },
    "PodCertificateRequest": {"core.v1.VolumeProjection": ("podCertificate",)},
    "PodLevelResources": {"core.v1.PodSpec": ("resources",)},
    "VolumeBindMountOptions": {"core.v1.VolumeMount": ("bindMountOptions",)},
}

_CLAIM_SPEC: Final[Mapping[str, Fields]] = {
    "DRAConsumableCapacity": {
        "resource.v1.DeviceConstraint": ("distinctAttribute",),
        "resource.v1.DeviceSubRequest": ("capacity",),
        "resource.v1.ExactDeviceRequest": ("capacity",),
    },
    "DRADerivedAttributes": {
        "resource.v1.DeviceSubRequest": ("derivedAttributes",),
        "resource.v1.ExactDeviceRequest": ("derivedAttributes",),
    },
    "DRADeviceTaints": {
        "resource.v1.DeviceSubRequest": ("tolerations",),
        "resource.v1.ExactDeviceRequest": ("tolerations",),
    },
    "DRAPrioritizedList": {"resource.v1.DeviceRequest": ("firstAvailable",)},
}

_CLAIM_STATUS: Final[Mapping[str, Fields]] = {
    "DRAConsumableCapacity": {
        "resource.v1.AllocatedDeviceStatus": ("shareID",),
        "resource.v1.DeviceRequestAllocationResult": ("consumedCapacity", "shareID"),
    },
    "DRADeviceBindingConditions": {
        "resource.v1.DeviceRequestAllocationResult": (
            "bindingConditions",
            "bindingFailureConditions",
        )
    },
    "DRAOptionalNodeOperations": {
        "resource.v1.DeviceRequestAllocationResult": ("skipNodeOperations",)
    },
    "DRAResourceClaimDeviceStatus": {"resource.v1.ResourceClaimStatus": ("devices",)},
}

_SLICE: Final[Mapping[str, Fields]] = {
    "DRAConsumableCapacity": {
        "resource.v1.Device": ("allowMultipleAllocations",),
        "resource.v1.DeviceCapacity": ("requestPolicy",),
    },
    "DRADeviceBindingConditions": {
        "resource.v1.Device": (
            "bindingConditions",
            "bindingFailureConditions",
            "bindsToNode",
        )
    },
    "DRADeviceCompatibilityGroups": {
        "resource.v1.DeviceCounterConsumption": ("compatibilityGroups",)
    },
    "DRADeviceTaints": {"resource.v1.Device": ("taints",)},
    "DRAListTypeAttributes": {
        "resource.v1.DeviceAttribute": ("bools", "ints", "strings", "versions")
    },
    "DRANodeAllocatableResources": {
        "resource.v1.Device": (
            "nodeAllocatableResourceMappings",
            "nodeAllocatableResources",
        )
    },
    "DRAOptionalNodeOperations": {
        "resource.v1.ResourceSliceSpec": ("skipNodeOperations",)
    },
    "DRAPartitionableDevices": {
        "resource.v1.Device": (
            "allNodes",
            "consumesCounters",
            "nodeName",
            "nodeSelector",
        ),
        "resource.v1.ResourceSliceSpec": ("perDeviceNodeSelection", "sharedCounters"),
    },
    "DRAPartitionableDevicesType": {
        "resource.v1.ResourceSliceSpec": ("partitionTypeAttribute",)
    },
}

_VOLUME_CLAIM: Final[Mapping[str, Fields]] = {
    "CSIVolumeHealth": {"core.v1.PersistentVolumeClaimStatus": ("healthStatus",)},
    # With a namespace the server drops the whole reference: `DROPS_WHOLE_REFERENCE`.
    "CrossNamespaceVolumeDataSource": {"core.v1.TypedObjectReference": ("namespace",)},
}

_GROUP_VERSIONS: Final = ("v1alpha3", "v1beta1")


def _of_groups(**structures: tuple[str, ...]) -> Fields:
    """Return fields of structures that both versions of groups have."""
    return {
        f"scheduling.{version}.{structure}": fields
        for version in _GROUP_VERSIONS
        for structure, fields in structures.items()
    }


_POD_GROUP: Final[Mapping[str, Fields]] = {
    "CompositePodGroup": _of_groups(PodGroupSpec=("parentCompositePodGroupName",)),
    "DRAWorkloadResourceClaims": _of_groups(
        PodGroupSpec=("resourceClaims",), PodGroupStatus=("resourceClaimStatuses",)
    ),
    "PodGroupPreemptionPolicy": _of_groups(PodGroupSpec=("preemptionPolicy",)),
    "TopologyAwareWorkloadScheduling": _of_groups(
        PodGroupSpec=("schedulingConstraints",)
    ),
}

_WORKLOAD: Final[Mapping[str, Fields]] = {
    "CompositePodGroup": _of_groups(
        CompositePodGroupTemplate=("compositePodGroupTemplates",),
        WorkloadSpec=("compositePodGroupTemplates",),
    ),
    "DRAWorkloadResourceClaims": _of_groups(PodGroupTemplate=("resourceClaims",)),
    "PodGroupPreemptionPolicy": _of_groups(
        CompositePodGroupTemplate=("preemptionPolicy",),
        PodGroupTemplate=("preemptionPolicy",),
    ),
    "TopologyAwareWorkloadScheduling": _of_groups(
        PodGroupTemplate=("schedulingConstraints",)
    ),
}

GATED_FIELDS: Final[Mapping[str, Mapping[str, Fields]]] = {
    "pkg/api/pod/util.go": _POD,
    "pkg/api/job/util.go": {"WorkloadWithJob": {"batch.v1.JobSpec": ("scheduling",)}},
    "pkg/api/persistentvolumeclaim/util.go": _VOLUME_CLAIM,
    "pkg/api/resourceclaimspec/util.go": _CLAIM_SPEC,
    "pkg/registry/apps/statefulset/strategy.go": {
        "MaxUnavailableStatefulSet": {
            "apps.v1.RollingUpdateStatefulSetStrategy": ("maxUnavailable",)
        }
    },
    "pkg/registry/core/node/strategy.go": {
        "InPlacePodVerticalScalingSchedulerPreemption": {
            "core.v1.NodeSpec": ("podPreemptionPolicy",)
        },
        "KubeletInUserNamespace": {
            "core.v1.NodeSystemInfo": ("runningInUserNamespace",)
        },
        "NodeDeclaredFeatures": {"core.v1.NodeStatus": ("declaredFeatures",)},
    },
    "pkg/registry/resource/deviceclass/strategy.go": {
        "DRAExtendedResource": {
            "resource.v1.DeviceClassSpec": ("extendedResourceName",)
        }
    },
    "pkg/registry/resource/resourceclaim/strategy.go": _CLAIM_STATUS,
    "pkg/registry/resource/resourceslice/strategy.go": _SLICE,
    "pkg/registry/scheduling/compositepodgroup/strategy.go": {
        "PodGroupPreemptionPolicy": {
            "scheduling.v1alpha3.CompositePodGroupSpec": ("preemptionPolicy",)
        }
    },
    "pkg/registry/scheduling/podgroup/strategy.go": _POD_GROUP,
    "pkg/registry/scheduling/workload/strategy.go": _WORKLOAD,
    "pkg/registry/storage/csidriver/strategy.go": {
        "VolumeLimitScaling": {
            "storage.v1.CSIDriverSpec": ("preventPodSchedulingIfMissing",)
        }
    },
    "pkg/registry/storage/csinode/strategy.go": {
        "CSIVolumeHealth": {"storage.v1.CSINodeStatus": ("storageHealth",)}
    },
}
"""File -> gate -> structure (without ``io.k8s.api.``) -> fields."""
