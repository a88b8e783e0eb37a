"""The cluster autoscaler: looks at the cluster again and again, and resizes groups.

Mirrors ``core/static_autoscaler.go``.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Node,
    NodeCondition,
    Pod,
    PodDisruptionBudget,
)
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.balancing import Resize
from quaymaster._studies.autoscaling.cluster_autoscaler.budgets import RemainingBudgets
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_pods import is_buffer_pod
from quaymaster._studies.autoscaling.cluster_autoscaler.buffers import Buffers
from quaymaster._studies.autoscaling.cluster_autoscaler.deletion import (
    Deletions,
    EvictFn,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import (
    Drainability,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.equivalence import (
    PodEquivalenceGroup,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.events import (
    NORMAL,
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
from quaymaster._studies.autoscaling.cluster_autoscaler.group_states import GroupStates
from quaymaster._studies.autoscaling.cluster_autoscaler.hints import HintedPlacing
from quaymaster._studies.autoscaling.cluster_autoscaler.node_taints import is_starting
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pending import (
    are_all_new,
    is_unschedulable,
    old_enough,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import (
    is_daemon_pod,
    is_mirror_pod,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.price_expander import (
    PodPrices,
    PriceExpander,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.provisioning import Provisioning
from quaymaster._studies.autoscaling.cluster_autoscaler.readiness import is_ready
from quaymaster._studies.autoscaling.cluster_autoscaler.request_objects import (
    is_request_pod,
    request_name,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.requests import Requests
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_down import (
    ScaleDownPlanner,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_up import (
    ScaleUp,
    ScaleUpOutcome,
    ScaleUpPlanner,
    reasons_of,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_up_log import (
    ScaleUpLog,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.soft_taints import SoftTaints
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import (
    Template,
    Templates,
)
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["ClusterAutoscaler"]

_LONG_AGO: Final = float("-inf")
_QUIET_SECONDS: Final = 60.0


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
        unhelped: Why no group grows for pending pods: key -> group -> reason.
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
        self._cloud = cloud
        self._options = options
        self.trial = TrialCluster(cluster, config, registry, counts=self._counts)
        self._templates = Templates(cloud, self.trial, options)
        self._states = GroupStates(cloud, options)
        self._placing = HintedPlacing(self.trial)
        prices = {name: each.price_per_hour for name, each in cloud.groups.items()}
        price = PriceExpander(prices, pod_prices or PodPrices(), self._cluster_size)
        expanders = expanders_of(options.expander, priorities, price)
        self._up = ScaleUpPlanner(
            self.trial,
            cloud,
            self._states,
            options,
            [*expanders.values()],
            Random(seed),
        )
        self.log: ScaleUpLog | None = None
        if explains:
            why, start = ExpanderReasons(expanders), cluster.clock.now()
            self.log = ScaleUpLog(cloud, self._states, self.trial, why, start)
        drainability = self.drainability = Drainability(options, self._find)
        self.down = ScaleDownPlanner(self.trial, cloud, drainability, options)
        self._soft_taints = SoftTaints(cluster, cloud, options)
        self._deletions = Deletions(
            cluster,
            cloud,
            drainability,
            options,
            self._report,
            evict or self._evict,
        )
        self.events: list[AutoscalerEvent] = []
        self.buffers = Buffers(cluster, options, self._find, self._report)
        self.requests = Requests(cluster, self.trial, options, self._find, self._report)
        self._provisioning = Provisioning(self.trial, self.requests)
        self._is_turn_of_requests = False
        self._last_scale_up = self._last_deletion = _LONG_AGO
        self._has_pods_to_help = False
        self.unhelped: dict[str, Mapping[str, str]] = {}

    def close(self) -> None:
        """Close the plugins."""
        self.trial.close()

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
        if self._has_pods_to_help or not self.is_idle or self.requests.are_open:
            return now
        options = self._options
        rests = (
            self._last_scale_up + options.scale_down_delay_after_add,
            self._last_deletion + options.scale_down_delay_after_delete,
        )
        later = [end for end in rests if end > now]
        return min(now + _QUIET_SECONDS, self.down.next_change(), *later)

    def plans(self) -> object:
        """Return a value that changes whenever the plans for nodes change."""
        return (
            [*self.down.unneeded],
            self._deletions.names(),
            [*self._states.requests],
            self.requests.states(),
        )

    def run_once(self) -> None:
        """Look at the cluster once, and act."""
        now = self._cluster.clock.now()
        self.requests.refresh(now)
        self.trial.catch_up()
        nodes = [self._as_seen(node) for node in self._cluster.list(Node).items]
        ready = [node for node in nodes if is_ready(node)]
        deletions = self._deletions.per_group()
        in_deletion = self._deletions.names()
        templates = self._templates.of_groups(
            nodes, self._cluster.list(DaemonSet).items, now
        )
        for group, age in self._states.update(nodes, now):
            text = f"Nodes added to group {group} failed to register within {age:g}s"
            self._report(WARNING, "ScaleUpTimedOut", text, None)
        self._delete_old_machines()
        if not self._states.is_healthy:
            self.down.clear()
            self._report(WARNING, "ClusterUnhealthy", "Cluster is unhealthy", None)
            return
        if self._states.fix_sizes(now):
            return
        with self.trial.fork():
            starting = self._add_expected_nodes(templates, now)
            nodes = [node for node in nodes if node.name not in starting]
            every = self.trial.nodes()
            is_quiet = self._scale_up(ready, every, templates, now)
            if self._options.scale_down_enabled:
                self._scale_down(
                    nodes, in_deletion, deletions, now, may_delete=is_quiet
                )
            if self._options.enforce_node_group_min_size:
                self._grow_to_min_sizes(every, templates, now)

    def _cluster_size(self) -> int:
        return len(self._cluster.list(Node).items)

    def _as_seen(self, node: Node) -> Node:
        """Return a node as upstream sees it: with a startup taint it is not ready."""
        if not is_ready(node) or not is_starting(node, self._options):
            return node
        created = node.metadata.creation_timestamp
        not_ready = NodeCondition(
            type="Ready", status="False", last_transition_time=created
        )
        others = (each for each in node.status.conditions if each.type != "Ready")
        status = replace(node.status, conditions=(not_ready, *others))
        return replace(node, status=status)

    def _delete_old_machines(self) -> None:
        """Delete machines that should have been nodes long ago."""
        for group, names in self._states.old_unregistered().items():
            size, least = self._cloud.sizes[group], self._cloud.groups[group].min_size
            for name in [*names][: max(0, size - least)]:
                self._cloud.delete([name], "it did not register in time")
                text = f"Removed unregistered node {name}"
                self._report(NORMAL, "DeleteUnregistered", text, None)

    def _add_expected_nodes(
        self, templates: Mapping[str, Template], now: float
    ) -> set[str]:
        """Replace nodes that are expected by ready ones; return their names."""
        starting: set[str] = set()
        for group, (count, names) in self._states.upcoming(now).items():
            for number in range(count):
                template = templates[group].named(f"upcoming-{number}")
                self.trial.add_node(template.node, template.pods)
            for name in names:
                self.trial.remove_node(name)
            starting.update(names)
        return starting

    def _scale_up(
        self,
        ready: Sequence[Node],
        nodes: Sequence[Node],
        templates: Mapping[str, Template],
        now: float,
    ) -> bool:
        """Scale up if pods need it; return whether nodes may be deleted now."""
        unhelped = self._pods_to_help(now)
        self._has_pods_to_help = bool(unhelped)
        self.unhelped = {}
        pods = old_enough(unhelped, now, self._options)
        if not pods:
            return True
        limit = self._options.max_nodes_total
        # Mirrors ``processors/provreq/scaleup_enforcer.go``.
        is_forced = self.requests.is_enabled and any(
            request_name(pod) is not None for pod in pods
        )
        is_full = limit > 0 and len(ready) >= limit
        if is_full:
            text = f"Max total nodes in cluster reached: {limit}"
            self._report(WARNING, "MaxNodesTotalReached", text, None)
        if is_full and not is_forced:
            text = "max total nodes in cluster reached"
            self._report_unhelped([(pod, text) for pod in pods])
            if self.log is not None:
                text = f"the cluster has its largest size, {counted(limit, 'node')}"
                self.log.note_remark(pods, text, now)
            return True
        is_early = not is_full and are_all_new(pods, now)
        if is_early and not is_forced:
            return False
        if self._options.salvo_scale_up:
            self._salvo(pods, nodes, templates, now)
        else:
            self._help(pods, nodes, templates, now)
        return not is_early

    def _pods_to_help(self, now: float) -> list[Pod]:
        """Return the pending pods that fit on no node that exists or is expected.

        The virtual pods of buffers are among them.
        """
        pods = [
            pod
            for pod in self._cluster.list(Pod).items
            if is_unschedulable(pod)
            and not pod.status.nominated_node_name
            and self._counts(pod)
        ]
        pods += filter(self._counts, self.buffers.pods(now))
        pods += self._drained_pods()
        pods.sort(key=lambda pod: -pod.priority)
        placed = self._placing.place(pods, lambda _name: True)
        self._placing.forget_old()
        if self.log is not None:
            self.log.note_left_out(self._cluster, placed, self._options)
        left = [pod for pod in pods if pod.uid not in placed and not is_daemon_pod(pod)]
        return self._with_requests(left, now) if self.requests.is_enabled else left

    def _with_requests(self, pods: Sequence[Pod], now: float) -> list[Pod]:
        """Leave out pods that use the capacity of requests; add virtual ones."""
        consumers, others = self.requests.consumers(pods)
        if self.log is not None:
            self.log.note_consumers(consumers, self.requests, now)
        others += self.requests.next_pods(now)
        self.requests.book(now)
        return others

    def _drained_pods(self) -> list[Pod]:
        """Return the pods of nodes that are being drained, without their nodes."""
        return [
            replace(pod, node_name="")
            for name in self._deletions.draining()
            if (info := self.trial.get(name))
            for pod in info.pods.values()
            if not (pod.is_terminating or is_daemon_pod(pod) or is_mirror_pod(pod))
        ]

    def _help(
        self,
        pods: Sequence[Pod],
        nodes: Sequence[Node],
        templates: Mapping[str, Template],
        now: float,
    ) -> ScaleUp:
        """Scale up once: for a request or for all other pods, in turns.

        Mirrors ``provisioningrequest/orchestrator/wrapper_orchestrator.go``.
        """
        if not self.requests.is_enabled:
            return self._grow(pods, nodes, templates, now)
        own = [pod for pod in pods if is_request_pod(pod)]
        others = [pod for pod in pods if not is_request_pod(pod)]
        is_turn = bool(own) and (self._is_turn_of_requests or not others)
        self._is_turn_of_requests = not is_turn
        if not is_turn:
            return self._grow(others, nodes, templates, now)
        plan = self._provisioning.provision(
            own,
            now,
            lambda left: self._grow(left, nodes, templates, now, all_or_nothing=True),
        )
        if plan.outcome is ScaleUpOutcome.SUCCESSFUL:
            self._last_scale_up = now
        return plan

    def _grow(
        self,
        pods: Sequence[Pod],
        nodes: Sequence[Node],
        templates: Mapping[str, Template],
        now: float,
        *,
        all_or_nothing: bool = False,
    ) -> ScaleUp:
        """Scale up once."""
        plan = self._up.plan(pods, nodes, templates, now, all_or_nothing=all_or_nothing)
        if self.log is not None:
            self.log.note_plan(plan, templates, now)
        if plan.outcome is ScaleUpOutcome.SUCCESSFUL:
            reason = _reason_of(plan.helped)
            for resize in plan.resizes:
                self._resize(resize, reason, now)
            self._last_scale_up = now
            text = " ".join(map(str, plan.resizes))
            helped = plan.helped if plan.resizes else ()
            self.buffers.report_helped(helped, f"[{text}]")
            for pod in helped:
                if not is_buffer_pod(pod):
                    message = f"pod triggered scale-up: [{text}]"
                    self._report(NORMAL, "TriggeredScaleUp", message, pod)
        elif plan.outcome is ScaleUpOutcome.NO_OPTIONS:
            reasons = [
                (pod, reasons_of(kind, plan.skipped))
                for kind in plan.unhelped
                for pod in kind.pods
            ]
            for kind in plan.unhelped:
                self._note_unhelped(kind, plan.skipped)
            self._report_unhelped(reasons)
        return plan

    def _note_unhelped(
        self, kind: PodEquivalenceGroup, skipped: Mapping[str, str]
    ) -> None:
        reasons = {
            group: ", ".join(texts) or "its filters reject the pod"
            for group, texts in kind.rejections.items()
        }
        for pod in kind.pods:
            self.unhelped[pod.key] = {**reasons, **skipped}

    def _salvo(
        self,
        pods: Sequence[Pod],
        nodes: Sequence[Node],
        templates: Mapping[str, Template],
        now: float,
    ) -> None:
        """Scale up several times, until no pod is left or nothing helps."""
        left, every = {pod.uid: pod for pod in pods}, [*nodes]
        number = 0
        while left:
            plan = self._help([*left.values()], every, templates, now)
            if plan.outcome is not ScaleUpOutcome.SUCCESSFUL or not plan.helped:
                return
            for pod in plan.helped:
                left.pop(pod.uid, None)
            new: set[str] = set()
            for resize in plan.resizes:
                for each in range(resize.more):
                    suffix = f"{each}-salvo-{number}"
                    template = templates[resize.group].named(suffix)
                    self.trial.add_node(template.node, template.pods)
                    every.append(template.node)
                    new.add(template.node.name)
            for pod in plan.helped:
                if self.trial.place_anywhere(pod, new.__contains__) is None:
                    return
            number += 1

    def _grow_to_min_sizes(
        self, nodes: Sequence[Node], templates: Mapping[str, Template], now: float
    ) -> None:
        resizes = self._up.to_min_sizes(nodes, templates, now)
        for resize in resizes:
            self._resize(resize, "the group is below its smallest size", now)
        if resizes:
            self._last_scale_up = now

    def _resize(self, resize: Resize, reason: str, now: float) -> None:
        what = (
            f"size to {resize.new_size} instead of {resize.size} "
            f"(max: {resize.max_size})"
        )
        text = f"Scale-up: setting group {resize.group} {what}"
        self._report(NORMAL, "ScaledUpGroup", text, None)
        self._cloud.increase(resize.group, resize.more, reason)
        self._states.note_scale_up(resize.group, resize.more, now)
        text = (
            f"Scale-up: group {resize.group} {what.replace('size to', 'size set to')}"
        )
        self._report(NORMAL, "ScaledUpGroup", text, None)

    def _scale_down(
        self,
        nodes: Sequence[Node],
        in_deletion: Sequence[str],
        deletions: Mapping[str, int],
        now: float,
        *,
        may_delete: bool,
    ) -> None:
        """Find the nodes that are not needed, and start to remove some."""
        budgets = RemainingBudgets(self._cluster.list(PodDisruptionBudget).items)
        candidates = self.down.update(nodes, budgets, in_deletion, now)
        options = self._options
        is_resting = (
            not may_delete
            or self._last_scale_up + options.scale_down_delay_after_add > now
            or self._last_deletion + options.scale_down_delay_after_delete > now
        )
        if candidates and not is_resting:
            every = self.trial.nodes()
            empty, with_pods = self.down.removable_now(every, deletions, now)
            if self._deletions.start(empty, with_pods, self.down.utilization.get):
                self._last_deletion = now
        self._soft_taints.update(nodes, self.down.unneeded, now)

    def _report_unhelped(self, reasons: Sequence[tuple[Pod, str]]) -> None:
        self.buffers.report_unhelped(reasons)
        for pod, text in reasons:
            if not is_buffer_pod(pod):
                message = f"pod didn't trigger scale-up: {text}"
                self._report(NORMAL, "NotTriggerScaleUp", message, pod)

    def _report(
        self, kind: str, reason: str, message: str, obj: ApiObject | None
    ) -> None:
        regarding = STATUS if obj is None else f"{obj.kind}/{obj.name}"
        now = self._cluster.clock.now()
        self.events.append(AutoscalerEvent(now, regarding, kind, reason, message, obj))

    def _counts(self, pod: Pod) -> bool:
        return pod.priority >= self._options.expendable_pods_priority_cutoff

    def _find(self, kind: type[ApiObject], key: str) -> ApiObject | None:
        try:
            return self._cluster.get(kind, key)
        except NotFoundError:
            return None

    def _evict(self, pod: Pod, grace_seconds: float) -> None:
        self._cluster.evict(pod.key, grace_period_seconds=grace_seconds)


def _reason_of(pods: Sequence[Pod]) -> str:
    """Return which pods a scale-up is for."""
    if not pods:
        return ""
    others = len(pods) - 1
    return f"{pods[0].key} and {counted(others, 'other')}" if others else pods[0].key
