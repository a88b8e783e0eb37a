"""What tests of plugins need: harnesses, makers of objects, faults."""

from quaymaster._testing.contract.small_cluster import SmallCluster
from quaymaster._testing.contract.suite import (
    MissingHypothesisError,
    PluginContract,
    check_plugin,
    clusters,
    nodes,
    pods,
)
from quaymaster._testing.contract_error import ContractError, Violation
from quaymaster._testing.faults import Fault, FaultyCluster
from quaymaster._testing.further_makers import (
    make_csi_driver,
    make_csi_storage_capacity,
    make_device_class,
    make_replication_controller,
    make_runtime_class,
    make_stateful_set,
    make_volume_attachment,
)
from quaymaster._testing.harness import PluginHarness, PluginStatusError
from quaymaster._testing.makers import (
    make_affinity_term,
    make_container,
    make_metadata,
    make_namespace,
    make_node,
    make_pod,
    make_pod_disruption_budget,
    make_priority_class,
    make_replica_set,
    make_service,
    make_spread_constraint,
    make_uid,
)
from quaymaster._testing.profile_config import profile_config
from quaymaster._testing.queued_pods import make_queued_pod
from quaymaster._testing.scheduler_harness import PluginNotFoundError, SchedulerHarness
from quaymaster._testing.storage_makers import (
    make_csi_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_storage_class,
)
from quaymaster._testing.verdicts import ScheduleError, UnexpectedHookErrors

__all__ = [
    "ContractError",
    "Fault",
    "FaultyCluster",
    "MissingHypothesisError",
    "PluginContract",
    "PluginHarness",
    "PluginNotFoundError",
    "PluginStatusError",
    "ScheduleError",
    "SchedulerHarness",
    "SmallCluster",
    "UnexpectedHookErrors",
    "Violation",
    "check_plugin",
    "clusters",
    "make_affinity_term",
    "make_container",
    "make_csi_driver",
    "make_csi_node",
    "make_csi_storage_capacity",
    "make_device_class",
    "make_metadata",
    "make_namespace",
    "make_node",
    "make_persistent_volume",
    "make_persistent_volume_claim",
    "make_pod",
    "make_pod_disruption_budget",
    "make_priority_class",
    "make_queued_pod",
    "make_replica_set",
    "make_replication_controller",
    "make_runtime_class",
    "make_service",
    "make_spread_constraint",
    "make_stateful_set",
    "make_storage_class",
    "make_uid",
    "make_volume_attachment",
    "nodes",
    "pods",
    "profile_config",
]
