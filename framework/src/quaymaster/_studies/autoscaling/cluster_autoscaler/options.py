"""The options of the cluster autoscaler, with its defaults."""

import attrs

__all__ = ["UNLIMITED_CACHE_SECONDS", "ClusterAutoscalerOptions"]

UNLIMITED_CACHE_SECONDS = 87_600 * 3600.0
"""Ten years, for which templates are kept by default."""


@attrs.frozen(kw_only=True)
class ClusterAutoscalerOptions:
    """The options of the cluster autoscaler, named as its flags.

    Mirrors ``config/flags/flags.go``. All times are in seconds.

    Attributes:
        scan_interval: The time between two loops.
        expander: The expanders in order; each keeps the best options of the one before.
        scale_down_enabled: Whether nodes are removed at all.
        scale_down_delay_after_add: How long after a scale-up no node is removed.
        scale_down_delay_after_delete: The same after a removal.
        scale_down_delay_after_failure: The same after a failed removal.
        scale_down_delay_type_local: Whether these delays are of each group alone.
        scale_down_unneeded_time: How long a node must be unneeded.
        scale_down_unready_time: How long an unready node must be unneeded.
        scale_down_unready_enabled: Whether unready nodes may be removed.
        scale_down_utilization_threshold: The highest utilisation of an unneeded node.
        scale_down_gpu_utilization_threshold: The same for nodes with GPUs.
        unremovable_node_recheck_timeout: How long a node that cannot be removed is not
            looked at again.
        max_scale_down_parallelism: The most nodes that are removed at the same time.
        max_drain_parallelism: The most nodes with pods among them.
        max_nodes_total: The most nodes of the cluster; 0 sets no limit.
        max_nodes_per_scaleup: The most nodes that one estimate adds.
        cores_total: The fewest and the most cores of the cluster.
        memory_total: The fewest and the most bytes of memory of the cluster.
        max_node_provision_time: How long a node may need to become ready.
        max_node_startup_time: How long a registered node may need for it.
        ok_total_unready_count: So many unready nodes are always healthy.
        max_total_unready_percentage: The most unready nodes of a healthy cluster.
        scale_up_from_zero: Whether it works in a cluster without ready nodes.
        force_delete_unregistered_nodes: Whether machines that never register are
            deleted below the smallest size of their group, too.
        node_info_cache_expire_time: How long a node that ran well is an example of the
            next one.
        initial_node_group_backoff_duration: The first backoff of a group.
        max_node_group_backoff_duration: The longest backoff.
        node_group_backoff_reset_timeout: When a backoff is forgotten.
        balance_similar_node_groups: Whether similar groups grow together.
        balancing_ignore_labels: Labels in which similar groups may differ.
        balancing_labels: If any: the labels that alone make groups similar.
        memory_difference_ratio: How far the memory of similar groups may differ.
        max_allocatable_difference_ratio: The same for allocatable amounts.
        max_free_difference_ratio: The same for what is free on a new node.
        ignore_daemonsets_utilization: Whether DaemonSets do not count in utilisation.
        ignore_mirror_pods_utilization: Whether mirror pods do not count.
        skip_nodes_with_system_pods: Whether pods of kube-system block a removal.
        skip_nodes_with_local_storage: Whether pods with local storage do.
        skip_nodes_with_custom_controller_pods: Whether pods of other controllers do.
        blocking_system_pod_disruption_timeout: How long pods of kube-system block.
        min_replica_count: Controllers with fewer replicas block.
        expendable_pods_priority_cutoff: Pods below this priority do not count.
        new_pod_scale_up_delay: How old a pod must be.
        force_ds: Whether templates get the pods of all matching DaemonSets.
        enforce_node_group_min_size: Whether groups grow to their smallest size.
        salvo_scale_up: Whether one loop may scale several groups.
        fastpath_binpacking_enabled: Whether the last kind of pods is estimated by
            arithmetic.
        scaleup_simulation_for_skipped_node_groups_enabled: Whether pods that no group
            can help are also tried on groups that may not grow.
        startup_taints: Keys of taints of nodes that are starting.
        status_taints: Keys of taints that come and go.
        cordon_node_before_terminating: Whether a node is cordoned first.
        node_delete_delay_after_taint: How long after the taint a removal begins.
        max_pod_eviction_time: How long evictions are tried.
        max_graceful_termination_sec: The longest wait for the end of a pod.
        daemonset_eviction_for_empty_nodes: Whether the pods of DaemonSets are evicted
            from nodes without other pods.
        daemonset_eviction_for_occupied_nodes: Whether they are from other nodes.
        max_bulk_soft_taint_count: The most soft taints per loop.
        enable_provisioning_requests: Whether ProvisioningRequests are handled.
        provisioning_request_initial_backoff_time: The first wait of a request whose
            capacity was not found.
        provisioning_request_max_backoff_time: The longest such wait.
        check_capacity_batch_processing: Whether one loop checks several requests.
        check_capacity_provisioning_request_max_batch_size: The most requests of a loop.
        check_capacity_processor_instance: The name that requests must have as a
            parameter; empty for requests without one.
        capacity_buffer_controller_enabled: Whether the status of CapacityBuffers is
            computed.
        capacity_buffer_pod_injection_enabled: Whether their virtual pods count.
        capacity_buffer_pod_dry_run_enabled: Whether these are admitted as pods are.
    """

    scan_interval: float = 10
    expander: tuple[str, ...] = ("least-waste",)
    scale_down_enabled: bool = True
    scale_down_delay_after_add: float = 600
    scale_down_delay_after_delete: float = 0
    scale_down_delay_after_failure: float = 180
    scale_down_delay_type_local: bool = False
    scale_down_unneeded_time: float = 600
    scale_down_unready_time: float = 1200
    scale_down_unready_enabled: bool = True
    scale_down_utilization_threshold: float = 0.5
    scale_down_gpu_utilization_threshold: float = 0.5
    unremovable_node_recheck_timeout: float = 300
    max_scale_down_parallelism: int = 10
    max_drain_parallelism: int = 1
    max_nodes_total: int = 0
    max_nodes_per_scaleup: int = 1000
    cores_total: tuple[int, int] = (0, 320_000)
    memory_total: tuple[int, int] = (0, 6_400_000 * 2**30)
    max_node_provision_time: float = 900
    max_node_startup_time: float = 900
    ok_total_unready_count: int = 3
    max_total_unready_percentage: float = 45
    scale_up_from_zero: bool = True
    force_delete_unregistered_nodes: bool = False
    node_info_cache_expire_time: float = UNLIMITED_CACHE_SECONDS
    initial_node_group_backoff_duration: float = 300
    max_node_group_backoff_duration: float = 1800
    node_group_backoff_reset_timeout: float = 10_800
    balance_similar_node_groups: bool = False
    balancing_ignore_labels: tuple[str, ...] = ()
    balancing_labels: tuple[str, ...] = ()
    memory_difference_ratio: float = 0.015
    max_allocatable_difference_ratio: float = 0.05
    max_free_difference_ratio: float = 0.05
    ignore_daemonsets_utilization: bool = False
    ignore_mirror_pods_utilization: bool = False
    skip_nodes_with_system_pods: bool = True
    skip_nodes_with_local_storage: bool = True
    skip_nodes_with_custom_controller_pods: bool = True
    blocking_system_pod_disruption_timeout: float = 3600
    min_replica_count: int = 0
    expendable_pods_priority_cutoff: int = -10
    new_pod_scale_up_delay: float = 0
    force_ds: bool = False
    enforce_node_group_min_size: bool = False
    salvo_scale_up: bool = False
    fastpath_binpacking_enabled: bool = False
    scaleup_simulation_for_skipped_node_groups_enabled: bool = False
    startup_taints: tuple[str, ...] = ()
    status_taints: tuple[str, ...] = ()
    cordon_node_before_terminating: bool = True
    node_delete_delay_after_taint: float = 5
    max_pod_eviction_time: float = 120
    max_graceful_termination_sec: float = 600
    daemonset_eviction_for_empty_nodes: bool = False
    daemonset_eviction_for_occupied_nodes: bool = True
    max_bulk_soft_taint_count: int = 10
    enable_provisioning_requests: bool = False
    provisioning_request_initial_backoff_time: float = 60
    provisioning_request_max_backoff_time: float = 600
    check_capacity_batch_processing: bool = False
    check_capacity_provisioning_request_max_batch_size: int = 10
    check_capacity_processor_instance: str = ""
    capacity_buffer_controller_enabled: bool = False
    capacity_buffer_pod_injection_enabled: bool = False
    capacity_buffer_pod_dry_run_enabled: bool = True
