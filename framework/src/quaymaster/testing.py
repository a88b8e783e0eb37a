"""Tools for tests of plugins: harnesses, makers of objects, faults.

- `PluginContract`, or `check_plugin`: what every plugin must satisfy, on generated
  clusters. `clusters`, `nodes` and `pods` generate them with your labels.
- `PluginHarness`: single hooks of one plugin, on a cluster that does not change.
- `SchedulerHarness`: whole attempts with a profile, in virtual time. `profile_config`
  makes its configuration.
- ``make_pod``, ``make_node`` and so on: one object in one call. All arguments are
  keywords, and each has a default.
- `Fault`: failures of the API server, for plugins that write to it.
"""

from typing import TYPE_CHECKING

from quaymaster._base.lazy_names import lazy_names

if TYPE_CHECKING:
    from quaymaster._authors.testing.contract.effects import VacuousContractWarning
    from quaymaster._authors.testing.contract.small_cluster import SmallCluster
    from quaymaster._authors.testing.contract.suite import (
        MissingHypothesisError,
        PluginContract,
        check_plugin,
        clusters,
        nodes,
        pods,
    )
    from quaymaster._authors.testing.contract_error import ContractError, Violation
    from quaymaster._authors.testing.faults import Fault, FaultyCluster
    from quaymaster._authors.testing.harness import PluginHarness, PluginStatusError
    from quaymaster._authors.testing.makers.autoscalers import (
        make_horizontal_pod_autoscaler,
    )
    from quaymaster._authors.testing.makers.classes import (
        make_priority_class,
        make_runtime_class,
    )
    from quaymaster._authors.testing.makers.devices import (
        make_device,
        make_device_class,
        make_device_request,
        make_device_taint_rule,
        make_resource_claim,
        make_resource_claim_template,
        make_resource_slice,
    )
    from quaymaster._authors.testing.makers.groups import (
        make_composite_pod_group,
        make_pod_group,
        make_workload,
    )
    from quaymaster._authors.testing.makers.metadata import make_metadata, make_uid
    from quaymaster._authors.testing.makers.namespaces import (
        make_limit_range,
        make_namespace,
        make_resource_quota,
    )
    from quaymaster._authors.testing.makers.nodes import make_node
    from quaymaster._authors.testing.makers.pods import (
        make_affinity_term,
        make_container,
        make_pod,
        make_spread_constraint,
    )
    from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
    from quaymaster._authors.testing.makers.storage import (
        make_csi_driver,
        make_csi_node,
        make_csi_storage_capacity,
        make_persistent_volume,
        make_persistent_volume_claim,
        make_storage_class,
        make_volume_attachment,
    )
    from quaymaster._authors.testing.makers.workloads import (
        make_cron_job,
        make_daemon_set,
        make_deployment,
        make_job,
        make_pod_disruption_budget,
        make_replica_set,
        make_replication_controller,
        make_service,
        make_stateful_set,
    )
    from quaymaster._authors.testing.profile_config import profile_config
    from quaymaster._authors.testing.recorded.case import RecordedCaseError
    from quaymaster._authors.testing.recorded.check import (
        RecordedCalls,
        check_recorded,
    )
    from quaymaster._authors.testing.scheduler_harness import SchedulerHarness
    from quaymaster._authors.testing.verdicts import ScheduleError, UnexpectedHookErrors
    from quaymaster._core.engine.instances import PluginNotFoundError
    from quaymaster._studies.reproducing.calls import (
        MadeTest,
        UnreproducibleError,
        make_test,
    )

__all__ = [
    "ContractError",
    "Fault",
    "FaultyCluster",
    "MadeTest",
    "MissingHypothesisError",
    "PluginContract",
    "PluginHarness",
    "PluginNotFoundError",
    "PluginStatusError",
    "RecordedCalls",
    "RecordedCaseError",
    "ScheduleError",
    "SchedulerHarness",
    "SmallCluster",
    "UnexpectedHookErrors",
    "UnreproducibleError",
    "VacuousContractWarning",
    "Violation",
    "check_plugin",
    "check_recorded",
    "clusters",
    "make_affinity_term",
    "make_composite_pod_group",
    "make_container",
    "make_cron_job",
    "make_csi_driver",
    "make_csi_node",
    "make_csi_storage_capacity",
    "make_daemon_set",
    "make_deployment",
    "make_device",
    "make_device_class",
    "make_device_request",
    "make_device_taint_rule",
    "make_horizontal_pod_autoscaler",
    "make_job",
    "make_limit_range",
    "make_metadata",
    "make_namespace",
    "make_node",
    "make_persistent_volume",
    "make_persistent_volume_claim",
    "make_pod",
    "make_pod_disruption_budget",
    "make_pod_group",
    "make_priority_class",
    "make_queued_pod",
    "make_replica_set",
    "make_replication_controller",
    "make_resource_claim",
    "make_resource_claim_template",
    "make_resource_quota",
    "make_resource_slice",
    "make_runtime_class",
    "make_service",
    "make_spread_constraint",
    "make_stateful_set",
    "make_storage_class",
    "make_test",
    "make_uid",
    "make_volume_attachment",
    "make_workload",
    "nodes",
    "pods",
    "profile_config",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "quaymaster._authors.testing.contract.effects": ("VacuousContractWarning",),
            "quaymaster._authors.testing.contract.small_cluster": ("SmallCluster",),
            "quaymaster._authors.testing.contract.suite": (
                "MissingHypothesisError",
                "PluginContract",
                "check_plugin",
                "clusters",
                "nodes",
                "pods",
            ),
            "quaymaster._authors.testing.contract_error": (
                "ContractError",
                "Violation",
            ),
            "quaymaster._authors.testing.faults": (
                "Fault",
                "FaultyCluster",
            ),
            "quaymaster._authors.testing.harness": (
                "PluginHarness",
                "PluginStatusError",
            ),
            "quaymaster._authors.testing.makers.autoscalers": (
                "make_horizontal_pod_autoscaler",
            ),
            "quaymaster._authors.testing.makers.classes": (
                "make_priority_class",
                "make_runtime_class",
            ),
            "quaymaster._authors.testing.makers.devices": (
                "make_device",
                "make_device_class",
                "make_device_request",
                "make_device_taint_rule",
                "make_resource_claim",
                "make_resource_claim_template",
                "make_resource_slice",
            ),
            "quaymaster._authors.testing.makers.groups": (
                "make_composite_pod_group",
                "make_pod_group",
                "make_workload",
            ),
            "quaymaster._authors.testing.makers.metadata": (
                "make_metadata",
                "make_uid",
            ),
            "quaymaster._authors.testing.makers.namespaces": (
                "make_limit_range",
                "make_namespace",
                "make_resource_quota",
            ),
            "quaymaster._authors.testing.makers.nodes": ("make_node",),
            "quaymaster._authors.testing.makers.pods": (
                "make_affinity_term",
                "make_container",
                "make_pod",
                "make_spread_constraint",
            ),
            "quaymaster._authors.testing.makers.queued_pods": ("make_queued_pod",),
            "quaymaster._authors.testing.makers.storage": (
                "make_csi_driver",
                "make_csi_node",
                "make_csi_storage_capacity",
                "make_persistent_volume",
                "make_persistent_volume_claim",
                "make_storage_class",
                "make_volume_attachment",
            ),
            "quaymaster._authors.testing.makers.workloads": (
                "make_cron_job",
                "make_daemon_set",
                "make_deployment",
                "make_job",
                "make_pod_disruption_budget",
                "make_replica_set",
                "make_replication_controller",
                "make_service",
                "make_stateful_set",
            ),
            "quaymaster._authors.testing.profile_config": ("profile_config",),
            "quaymaster._authors.testing.recorded.case": ("RecordedCaseError",),
            "quaymaster._authors.testing.recorded.check": (
                "RecordedCalls",
                "check_recorded",
            ),
            "quaymaster._authors.testing.scheduler_harness": ("SchedulerHarness",),
            "quaymaster._authors.testing.verdicts": (
                "ScheduleError",
                "UnexpectedHookErrors",
            ),
            "quaymaster._core.engine.instances": ("PluginNotFoundError",),
            "quaymaster._studies.reproducing.calls": (
                "MadeTest",
                "UnreproducibleError",
                "make_test",
            ),
        },
    )
