"""The cluster autoscaler: looks at the cluster again and again, and resizes groups.

Mirrors ``core/static_autoscaler.go``.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import timedelta
from random import Random
from typing import Final

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Node,
    Pod,
    PodDisruptionBudget,
)
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.duration import format_duration
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.budgets import RemainingBudgets
from quaymaster._studies.autoscaling.cluster_autoscaler.buffers import Buffers
from quaymaster._studies.autoscaling.cluster_autoscaler.capacity import CapacityReader
from quaymaster._studies.autoscaling.cluster_autoscaler.deletion import (
    Deletions,
    EvictFn,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import (
    Drainability,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.events import (
    NORMAL,
    PRIORITIES,
    STATUS,
    WARNING,
    AutoscalerEvent,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.expander_reasons import (
    ExpanderReasons,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.expanders import (
    expanders_of,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.expected_nodes import (
    ExpectedNodes,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.group_states import (
    GroupStates,
    TimedOut,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.growth import Growth
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    UNLIMITED_CACHE_SECONDS,
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import is_expendable
from quaymaster._studies.autoscaling.cluster_autoscaler.price_expander import (
    PodPrices,
    PriceExpander,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.requests import Requests
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_down import (
    ScaleDownPlanner,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_up import (
    ScaleUpPlanner,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_up_log import (
    ScaleUpLog,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import (
    SeenCluster,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.soft_taints import SoftTaints
from quaymaster._studies.autoscaling.cluster_autoscaler.standing_trial import (
    StandingTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import (
    Templates,
)

__all__ = ["ClusterAutoscaler"]

_LONG_AGO: Final = float("-inf")
_QUIET_SECONDS: Final = 60.0
_NOT_READY_SECONDS: Final = 600.0
"""For how long after the start it is normal that no node is ready."""


class ClusterAutoscaler:
    """Resizes the groups of a cloud as the cluster autoscaler does.

    Args:
        cluster: The cluster, in virtual time.
        cloud: The groups.
        config: The profiles whose filters decide where pods fit.
        registry: Finds plugins by name.
        options: The options.
        priorities: Priority -> regular expressions of group names, for the expander
            ``priority``; None without that ConfigMap.
        pod_prices: The prices of what pods request, for the expander ``price``.
        seed: Decides what upstream leaves to chance.
        evict: Evicts pods; by default through the cluster's eviction API.
        explains: Whether the decisions about pods are kept.

    Attributes:
        events: All events so far.
        down: The nodes that are not needed, and why the others are.
        trial: The nodes and pods, as the last loop has seen them.
        drainability: Judges the pods of nodes.
        log: Keeps the decisions about pods, if they are explained.
        buffers: The CapacityBuffers.
        requests: The ProvisioningRequests.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        cloud: Cloud,
        config: SchedulerConfig,
        registry: PluginRegistry,
        options: ClusterAutoscalerOptions,
        *,
        priorities: Mapping[int, Sequence[str]] | None = None,
        pod_prices: PodPrices | None = None,
        seed: int = 0,
        evict: EvictFn | None = None,
        explains: bool = False,
    ) -> None:
        self._cluster = cluster
        self._start = cluster.clock.now()
        self._cloud = cloud
        self._options = options
        self._seen = SeenCluster(cluster, cloud, options)
        self.trial = StandingTrial(cluster, config, registry, counts=self._counts)
        self._capacity = CapacityReader(self.trial)
        self._expected = ExpectedNodes(self.trial, cloud.groups)
        self._templates = Templates(cloud, self.trial, options)
        self._states = GroupStates(cloud, options)
        prices = {name: each.price_per_hour for name, each in cloud.groups.items()}
        price = PriceExpander(prices, pod_prices or PodPrices(), self._cluster_size)
        self.log: ScaleUpLog | None = None
        if explains:
            # Explanations ask the expanders again, so these report nothing.
            silent = expanders_of(options.expander, priorities, price)
            why = ExpanderReasons(silent)
            self.log = ScaleUpLog(cloud, self._states, self.trial, why, self._start)
        drainability = self.drainability = Drainability(options, self._find)
        self.down = ScaleDownPlanner(
            self._seen, self.trial, self._capacity, cloud, drainability, options
        )
        self._soft_taints = SoftTaints(cluster, cloud, options)
        self._deletions = Deletions(
            cluster,
            self._seen,
            cloud,
            drainability,
            options,
            self._report,
            evict or self._evict,
        )
        self.events: list[AutoscalerEvent] = []
        self.buffers = Buffers(cluster, options, self._find, self._report)
        self.requests = Requests(cluster, self.trial, options, self._find, self._report)
        expanders = expanders_of(
            options.expander, priorities, price, self._warn_of_priorities
        )
        planner = ScaleUpPlanner(
            self.trial,
            cloud,
            self._states,
            options,
            [*expanders.values()],
            Random(seed),
        )
        self._growth = Growth(
            cluster=cluster,
            seen=self._seen,
            cloud=cloud,
            trial=self.trial,
            capacity=self._capacity,
            states=self._states,
            options=options,
            planner=planner,
            buffers=self.buffers,
            requests=self.requests,
            log=self.log,
            report=self._report,
            draining=self._deletions.draining,
        )
        self._last_deletion = _LONG_AGO

    def close(self) -> None:
        """Close the plugins."""
        self._seen.close()
        self.trial.close()

    @property
    def unhelped(self) -> Mapping[str, Mapping[str, str]]:
        """Why no group grows for pending pods: key -> group -> reason."""
        return self._growth.unhelped

    @property
    def is_idle(self) -> bool:
        """Whether no node is being added or removed."""
        return not self._deletions.names() and not self._states.requests

    def next_change(self) -> float:
        """Return when the next loop may end in another way; call it after a loop.

        Until then, loops would change nothing, unless the cluster changes. What depends
        on the age of pods and nodes is looked at every minute.
        """
        now = self._cluster.clock.now()
        if self._growth.has_pods or not self.is_idle or self.requests.are_open:
            return now
        # Each loop notes that the templates are not old yet.
        if self._options.node_info_cache_expire_time < UNLIMITED_CACHE_SECONDS:
            return now
        later = [end for _group, end in self._rests() if end > now]
        return min(now + _QUIET_SECONDS, self.down.next_change(), *later)

    def plans(self) -> object:
        """Return a value that changes whenever the plans for nodes change."""
        return (
            [*self.down.unneeded],
            self._deletions.names(),
            [*self._states.requests],
            self.requests.states(),
        )

    def pods_without_node(self) -> int:
        """Return how many pods have no node now."""
        self._seen.catch_up()
        return self._seen.without_node

    def run_once(self) -> None:
        """Look at the cluster once, and act."""
        now = self._cluster.clock.now()
        self.trial.catch_up_beneath()
        self._seen.catch_up()
        ready = len(self._seen.nodes) - len(self._seen.not_ready)
        if not ready and not self._options.scale_up_from_zero:
            self._wait_for_nodes(now)
            return
        self.requests.refresh(now)
        deletions = self._deletions.per_group()
        in_deletion = self._deletions.names()
        templates = self._templates.of_groups(
            self._seen, self._cluster.list(DaemonSet).items, now
        )
        for late in self._states.update(self._seen, now):
            self._report_late(late)
        self._delete_old_machines()
        if not self._states.is_healthy:
            self.down.clear()
            self._growth.note_idle("too many nodes of the cluster are not ready", now)
            self._report(WARNING, "ClusterUnhealthy", "Cluster is unhealthy", None)
            return
        if self._states.fix_sizes(now):
            return
        starting = self._expected.stand(self._states.upcoming(now), templates)
        is_enforced = self._options.enforce_node_group_min_size
        capacity = self._capacity.read() if is_enforced else None
        with self.trial.fork_on_standing():
            left = self._growth.place_pods(now)
            # Only what has been placed so far may stand.
            with self.trial.fork():
                is_quiet = self._growth.help_pods(left, ready, templates, now)
                if self._options.scale_down_enabled:
                    going = {*in_deletion}
                    self._scale_down(
                        starting, going, deletions, now, may_delete=is_quiet
                    )
                if capacity is not None:
                    self._growth.to_min_sizes(capacity, templates, now)

    def _wait_for_nodes(self, now: float) -> None:
        """Do nothing without ready nodes.

        Mirrors ``processors/actionablecluster``.
        """
        self.down.clear()
        self._growth.note_idle(
            "no node is ready, and --scale-up-from-zero is false", now
        )
        if not self._seen.nodes:
            text = "Cluster has no nodes."
            self._report(WARNING, "ClusterUnhealthy", text, None)
        elif now > self._start + _NOT_READY_SECONDS:
            text = "Cluster has no ready nodes."
            self._report(WARNING, "ClusterUnhealthy", text, None)

    def _cluster_size(self) -> int:
        return len(self._cluster.list(Node).items)

    def _report_late(self, late: TimedOut) -> None:
        length = format_duration(timedelta(seconds=late.age))
        text = f"Nodes added to group {late.group} failed to register within {length}"
        self._report(WARNING, "ScaleUpTimedOut", text, None)
        if late.refusal:
            text = (
                f"Failed to decrease target size for group {late.group} "
                f"after scale-up timeout: {late.refusal}"
            )
            self._report(WARNING, "FailedToRevertScaleUp", text, None)

    def _delete_old_machines(self) -> None:
        """Delete machines that should have been nodes long ago."""
        for group, names in self._states.old_unregistered().items():
            size, least = self._cloud.sizes[group], self._cloud.groups[group].min_size
            # The end of a scale-up may have cancelled some of them in this loop.
            late = [name for name in names if self._cloud.group_of(name) is not None]
            if not self._options.force_delete_unregistered_nodes:
                late = late[: max(0, size - least)]
            if late and self._cloud.groups[group].zero_or_max:
                # All nodes of such a group or none: a part of it is of no use.
                late = [
                    each.name for each in self._cloud.instances() if each.group == group
                ]
            for name in late:
                self._cloud.delete([name], "it did not register in time")
                text = f"Removed unregistered node {name}"
                self._report(NORMAL, "DeleteUnregistered", text, None)

    def _scale_down(
        self,
        starting: Set[str],
        going: Set[str],
        deletions: Mapping[str, int],
        now: float,
        *,
        may_delete: bool,
    ) -> None:
        """Find the nodes that are not needed, and start to remove some."""
        budgets = RemainingBudgets(self._cluster.list(PodDisruptionBudget).items)
        resting = {group for group, end in self._rests() if end > now}
        has_candidates = self.down.update(starting, going, resting, budgets, now)
        if has_candidates and may_delete and "" not in resting:
            empty, with_pods = self.down.removable_now(deletions, now)
            if self._deletions.start(empty, with_pods, self.down.utilization.get):
                self._last_deletion = now
                self._states.read_sizes()
        self._soft_taints.update(self._seen, starting, self.down.unneeded.keys(), now)

    def _rests(self) -> Iterator[tuple[str, float]]:
        """Yield when groups may shrink again after changes, or all, without a name."""
        options = self._options
        grown, shrunk = {"": self._growth.last}, {"": self._last_deletion}
        if options.scale_down_delay_type_local:
            grown, shrunk = self._growth.grown, self._deletions.shrunk
        for group, time in grown.items():
            yield group, time + options.scale_down_delay_after_add
        for group, time in shrunk.items():
            yield group, time + options.scale_down_delay_after_delete

    def _report(
        self, kind: str, reason: str, message: str, obj: ApiObject | None
    ) -> None:
        regarding = STATUS if obj is None else f"{obj.kind}/{obj.name}"
        now = self._cluster.clock.now()
        self.events.append(AutoscalerEvent(now, regarding, kind, reason, message, obj))

    def _warn_of_priorities(self, reason: str, message: str) -> None:
        now = self._cluster.clock.now()
        self.events.append(AutoscalerEvent(now, PRIORITIES, WARNING, reason, message))

    def _counts(self, pod: Pod) -> bool:
        return not is_expendable(pod, self._options.expendable_pods_priority_cutoff)

    def _find(self, kind: type[ApiObject], key: str) -> ApiObject | None:
        try:
            return self._cluster.get(kind, key)
        except NotFoundError:
            return None

    def _evict(self, pod: Pod, grace_seconds: float) -> None:
        self._cluster.evict(pod.key, grace_period_seconds=grace_seconds)
