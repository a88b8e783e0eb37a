"""Features of the pods and nodes of drawn clusters: arguments of makers.

Each has few values, so that requests of pods often match properties of nodes.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from quaymaster._api.objects import (
    ApiObject,
    AWSElasticBlockStoreVolumeSource,
    GCEPersistentDiskVolumeSource,
    Volume,
)
from quaymaster._authors.testing.makers.classes import make_priority_class
from quaymaster._authors.testing.makers.namespaces import make_namespace
from quaymaster._authors.testing.makers.pods import (
    make_affinity_term,
    make_spread_constraint,
)
from quaymaster._authors.testing.makers.storage import (
    make_csi_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_storage_class,
)
from quaymaster._authors.testing.makers.workloads import make_service

__all__ = ["NODE_FEATURES", "OBJECTS", "POD_FEATURES", "Feature"]

Feature: TypeAlias = Mapping[str, object]
"""Arguments of `make_pod` or `make_node`."""

_ZONE: Final = "topology.kubernetes.io/zone"
_CORDON: Final = "node.kubernetes.io/unschedulable"

_WEB: Final = make_affinity_term(selector={"app": "web"})
_DB: Final = make_affinity_term(selector={"app": "db"}, topology_key=_ZONE)
_FAR: Final = make_affinity_term(
    selector={"app": "web"}, topology_key=_ZONE, namespace_selector={"team": "red"}
)

_IMPORTANT: Final = make_priority_class(
    name="important", value=2000, annotations={"example.com/tolerates": "30s"}
)

NODE_FEATURES: Final[Sequence[Feature]] = (
    {"zone": "a"},
    {"zone": "b"},
    {"labels": {"disk": "ssd"}},
    {"labels": {"disk": "hdd"}},
    {"labels": {"size": "5"}},
    {"taints": ["dedicated=gpu:NoSchedule"]},
    {"taints": ["dedicated=db:PreferNoSchedule"]},
    {"taints": ["slow:PreferNoSchedule"]},
    {"taints": ["gone:NoExecute"]},
    {"unschedulable": True},
    {"capacity": {"cpu": "1"}},
    {"capacity": {"cpu": "8", "memory": "2Gi"}},
    {"capacity": {"pods": "1"}},
    {"capacity": {"example.com/gpu": "2"}},
    {"allocatable": {"cpu": "500m"}},
    {"images": {"registry.example/big:v1": 900 << 20}},
    {"images": {"registry.example/small:v1": 100 << 20}},
    {"ready": False},
    {"declared_features": ["GuaranteedQoSPodCPUResize"]},
    {"annotations": {"note": "new"}},
)

POD_FEATURES: Final[Sequence[Feature]] = (
    {"labels": {"app": "web"}},
    {"labels": {"app": "db"}},
    # Most rules read labels, so labels are twice as frequent as the rest.
    {"labels": {"app": "web"}},
    {"labels": {"app": "db"}},
    {"namespace": "other"},
    {"requests": {"cpu": "500m"}},
    {"requests": {"cpu": "2", "memory": "1Gi"}},
    {"requests": {"example.com/gpu": "1"}},
    {"requests": {"ephemeral-storage": "60Gi"}},
    {"limits": {"cpu": "1", "memory": "1Gi"}},
    {"priority": 1000},
    {"priority_class": _IMPORTANT},
    {"host_ports": [8080]},
    {"host_ports": ["10.0.0.1:8080/UDP"]},
    {"images": ["registry.example/big:v1"]},
    {"images": ["registry.example/small:v1"]},
    {"node_selector": {"disk": "ssd"}},
    {"node_selector": {_ZONE: "a"}},
    {"node_affinity": {_ZONE: ["a", "b"]}},
    {"preferred_node_affinity": [(10, {"disk": "ssd"})]},
    {"preferred_node_affinity": [(80, {_ZONE: "b"})]},
    {"tolerations": ["dedicated=gpu:NoSchedule"]},
    {"tolerations": ["dedicated=db:PreferNoSchedule"]},
    {"tolerations": [_CORDON]},
    {"tolerations": ["*"]},
    {"pod_affinity": [_WEB]},
    {"pod_affinity": [_DB]},
    {"pod_anti_affinity": [_WEB]},
    {"pod_anti_affinity": [_FAR]},
    {"preferred_pod_affinity": [(50, _DB)]},
    {"preferred_pod_anti_affinity": [(100, _WEB)]},
    {"spread": [make_spread_constraint(selector={"app": "web"})]},
    {
        "spread": [
            make_spread_constraint(
                selector={"app": "db"},
                topology_key="kubernetes.io/hostname",
                when_unsatisfiable="ScheduleAnyway",
            )
        ]
    },
    {"scheduling_gates": ["wait"]},
    {"claims": ["data"]},
    {"claims": ["logs"]},
    {
        "volumes": [
            Volume(
                name="disk",
                gce_persistent_disk=GCEPersistentDiskVolumeSource(pd_name="disk"),
            )
        ]
    },
    {
        "volumes": [
            Volume(
                name="block",
                aws_elastic_block_store=AWSElasticBlockStoreVolumeSource(
                    volume_id="block"
                ),
            )
        ]
    },
    {"nominated_node": "n0"},
    {"scheduler_name": "default-scheduler", "overhead": {"cpu": "250m"}},
)

_DATA: Final = make_persistent_volume_claim(name="data", volume="v0")
_LOGS: Final = make_persistent_volume_claim(
    name="logs", volume="v1", access_modes=["ReadWriteOncePod"]
)

OBJECTS: Final[Sequence[ApiObject]] = (
    make_storage_class(),
    make_storage_class(volume_binding_mode="Immediate"),
    _DATA,
    make_persistent_volume_claim(name="data"),
    _LOGS,
    make_persistent_volume_claim(name="logs"),
    make_persistent_volume(name="v0", claim=_DATA),
    make_persistent_volume(
        name="v0", claim=_DATA, labels={_ZONE: "a"}, node_labels={_ZONE: "a"}
    ),
    make_persistent_volume(
        name="v1", claim=_LOGS, labels={_ZONE: "b"}, node_labels={_ZONE: "b"}
    ),
    make_persistent_volume(name="v2", storage="5Gi"),
    make_csi_node(name="n0", limits={"csi.example.com": 1}),
    make_csi_node(name="n0", limits={"csi.example.com": 5}),
    make_csi_node(name="n1", limits={"csi.example.com": 1}),
    make_namespace(name="default", labels={"team": "red"}),
    make_namespace(name="other", labels={"team": "red"}),
    make_service(selector={"app": "web"}),
    _IMPORTANT,
)
