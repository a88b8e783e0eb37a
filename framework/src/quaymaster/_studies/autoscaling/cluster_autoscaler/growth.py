"""Grows groups for the pending pods that fit on no node.

Mirrors ``core/static_autoscaler.go``, ``core/podlistprocessor`` and the end of
``core/scaleup/orchestrator/orchestrator.go``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.balancing import Resize
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_pods import is_buffer_pod
from quaymaster._studies.autoscaling.cluster_autoscaler.buffers import Buffers
from quaymaster._studies.autoscaling.cluster_autoscaler.capacity import (
    Capacity,
    CapacityReader,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.equivalence import (
    PodEquivalenceGroup,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.events import (
    NORMAL,
    WARNING,
    Report,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.group_states import GroupStates
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pending import (
    are_all_new,
    old_enough,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import (
    is_daemon_pod,
    is_expendable,
    is_mirror_pod,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.provisioning import Provisioning
from quaymaster._studies.autoscaling.cluster_autoscaler.request_objects import (
    is_request_pod,
    request_name,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.requests import Requests
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_up import (
    ScaleUp,
    ScaleUpOutcome,
    ScaleUpPlanner,
    reasons_of,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_up_log import (
    ScaleUpLog,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import (
    SeenCluster,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.standing_trial import (
    StandingTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template
from quaymaster._studies.autoscaling.cluster_autoscaler.waiting_places import (
    WaitingPlaces,
)

__all__ = ["Growth"]

_LONG_AGO: Final = float("-inf")


@attrs.define(kw_only=True, eq=False)
class Growth:
    """Grows groups for pending pods.

    Attributes:
        cluster: The cluster.
        seen: Its pods, as the loop has seen them.
        cloud: The groups.
        trial: The nodes and pods, as the loop has seen them.
        capacity: Adds up the nodes of the trial.
        states: The states of the groups.
        options: The options of the autoscaler.
        planner: Finds scale-ups.
        buffers: The CapacityBuffers, whose virtual pods are pending, too.
        requests: The ProvisioningRequests, likewise.
        log: Keeps the decisions about pods, or None.
        report: Writes events.
        draining: Returns the names of the nodes that are being drained.
        has_pods: Whether the last loop had pods that fit on no node.
        unhelped: Why no group grows for pending pods: key -> group -> reason.
        last: When a group last grew, in seconds since the epoch.
        grown: When each group last grew.
    """

    cluster: InMemoryCluster
    seen: SeenCluster
    cloud: Cloud
    trial: StandingTrial
    capacity: CapacityReader
    states: GroupStates
    options: ClusterAutoscalerOptions
    planner: ScaleUpPlanner
    buffers: Buffers
    requests: Requests
    log: ScaleUpLog | None
    report: Report
    draining: Callable[[], Sequence[str]]
    has_pods: bool = attrs.field(default=False, init=False)
    unhelped: dict[str, Mapping[str, str]] = attrs.field(factory=dict, init=False)
    last: float = attrs.field(default=_LONG_AGO, init=False)
    grown: dict[str, float] = attrs.field(factory=dict, init=False)
    _places: WaitingPlaces = attrs.field(init=False)
    _provisioning: Provisioning = attrs.field(init=False)
    _is_turn_of_requests: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._places = WaitingPlaces(self.trial)
        self._provisioning = Provisioning(self.trial, self.requests)

    def place_pods(self, now: float) -> list[Pod]:
        """Place the pending pods; return those that fit nowhere.

        The virtual pods of buffers are among them.

        Args:
            now: The time, in seconds since the epoch.
        """
        changes = {
            uid: seen if seen is not None and self._may_be_placed(seen.pod) else None
            for uid, seen in self.seen.take_changed_waits().items()
        }
        others = [*filter(self._counts, self.buffers.pods(now)), *self._drained_pods()]
        left = self._places.place(changes, others)
        if self.log is not None:
            placed = self._places.placed(left)
            self.log.note_left_out(self.cluster, placed, self.options)
        return [pod for pod in left if not is_daemon_pod(pod)]

    def help_pods(
        self,
        left: Sequence[Pod],
        ready: int,
        templates: Mapping[str, Template],
        now: float,
    ) -> bool:
        """Grow groups if pods need it.

        Args:
            left: The pending pods that fit on no node that exists or is expected.
            ready: The number of nodes that are ready.
            templates: What new nodes look like, by group.
            now: The time, in seconds since the epoch.

        Returns:
            Whether nodes may be deleted now.
        """
        unhelped = self._with_requests(left, now) if self.requests.is_enabled else left
        self.has_pods = bool(unhelped)
        self.unhelped = {}
        pods = old_enough(unhelped, now, self.options)
        if not pods:
            return True
        limit = self.options.max_nodes_total
        # Mirrors ``processors/provreq/scaleup_enforcer.go``.
        is_forced = self.requests.is_enabled and any(
            request_name(pod) is not None for pod in pods
        )
        is_full = limit > 0 and ready >= limit
        if is_full:
            text = f"Max total nodes in cluster reached: {limit}"
            self.report(WARNING, "MaxNodesTotalReached", text, None)
        if is_full and not is_forced:
            text = "max total nodes in cluster reached"
            # As upstream: growth to the smallest sizes replaces this status in a loop.
            if not self.options.enforce_node_group_min_size:
                self._report_unhelped([(pod, text) for pod in pods])
            if self.log is not None:
                text = f"the cluster has its largest size, {counted(limit, 'node')}"
                self.log.note_remark(pods, text, now)
            return True
        is_early = not is_full and are_all_new(pods, now)
        if is_early and not is_forced:
            return False
        if self.options.salvo_scale_up:
            self._salvo(pods, templates, now)
        else:
            self._help(pods, self.capacity.read(), templates, now)
        return not is_early

    def note_idle(self, why: str, now: float) -> None:
        """Note that no group is looked at for any pending pod.

        Args:
            why: The reason.
            now: The time, in seconds since the epoch.
        """
        pods = [*self.seen.unschedulable()]
        self.unhelped = {
            pod.key: dict.fromkeys(self.cloud.groups, why)
            for pod in pods
            if self._counts(pod) and not is_daemon_pod(pod)
        }
        if self.log is not None:
            self.log.note_remark(pods, why, now)

    def to_min_sizes(
        self, capacity: Capacity, templates: Mapping[str, Template], now: float
    ) -> None:
        """Grow the groups that are below their smallest size.

        Args:
            capacity: What the nodes of the cluster and those that are expected have.
            templates: What new nodes look like, by group.
            now: The time, in seconds since the epoch.
        """
        resizes = self.planner.to_min_sizes(capacity, templates, now)
        for resize in resizes:
            self._resize(resize, "the group is below its smallest size", now)
        if resizes:
            self.last = now

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
            for name in self.draining()
            if (info := self.trial.get(name))
            for pod in info.pods.values()
            if not (pod.is_terminating or is_daemon_pod(pod) or is_mirror_pod(pod))
        ]

    def _help(
        self,
        pods: Sequence[Pod],
        capacity: Capacity,
        templates: Mapping[str, Template],
        now: float,
    ) -> ScaleUp:
        """Scale up once: for a request or for all other pods, in turns.

        Mirrors ``provisioningrequest/orchestrator/wrapper_orchestrator.go``.
        """
        if not self.requests.is_enabled:
            return self._grow(pods, capacity, templates, now)
        own = [pod for pod in pods if is_request_pod(pod)]
        others = [pod for pod in pods if not is_request_pod(pod)]
        is_turn = bool(own) and (self._is_turn_of_requests or not others)
        self._is_turn_of_requests = not is_turn
        if not is_turn:
            return self._grow(others, capacity, templates, now)
        plan = self._provisioning.provision(
            own,
            now,
            lambda left: self._grow(
                left, capacity, templates, now, all_or_nothing=True
            ),
        )
        if plan.outcome is ScaleUpOutcome.SUCCESSFUL:
            self.last = now
        return plan

    def _grow(
        self,
        pods: Sequence[Pod],
        capacity: Capacity,
        templates: Mapping[str, Template],
        now: float,
        *,
        all_or_nothing: bool = False,
    ) -> ScaleUp:
        """Scale up once."""
        plan = self.planner.plan(
            pods, capacity, templates, now, all_or_nothing=all_or_nothing
        )
        if self.log is not None:
            self.log.note_plan(plan, templates, now)
        if plan.outcome is ScaleUpOutcome.SUCCESSFUL:
            reason = _reason_of(plan.helped)
            for resize in plan.resizes:
                self._resize(resize, reason, now)
            self.last = now
            text = " ".join(map(str, plan.resizes))
            helped = plan.helped if plan.resizes else ()
            self.buffers.report_helped(helped, f"[{text}]")
            for pod in helped:
                if not is_buffer_pod(pod):
                    message = f"pod triggered scale-up: [{text}]"
                    self.report(NORMAL, "TriggeredScaleUp", message, pod)
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
        # A group that may not grow and would not help counts once.
        others = {name: why for name, why in skipped.items() if name not in reasons}
        for pod in kind.pods:
            self.unhelped[pod.key] = {**reasons, **others}

    def _salvo(
        self, pods: Sequence[Pod], templates: Mapping[str, Template], now: float
    ) -> None:
        """Scale up several times, until no pod is left or nothing helps."""
        left, number = {pod.uid: pod for pod in pods}, 0
        while left:
            capacity = self.capacity.read()
            plan = self._help([*left.values()], capacity, templates, now)
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
                    new.add(template.node.name)
            for pod in plan.helped:
                if self.trial.place_anywhere(pod, new.__contains__) is None:
                    return
            number += 1

    def _resize(self, resize: Resize, reason: str, now: float) -> None:
        what = (
            f"size to {resize.new_size} instead of {resize.size} "
            f"(max: {resize.max_size})"
        )
        text = f"Scale-up: setting group {resize.group} {what}"
        self.report(NORMAL, "ScaledUpGroup", text, None)
        self.cloud.increase(resize.group, resize.more, reason)
        self.grown[resize.group] = now
        self.states.note_scale_up(resize.group, resize.more, now)
        text = (
            f"Scale-up: group {resize.group} {what.replace('size to', 'size set to')}"
        )
        self.report(NORMAL, "ScaledUpGroup", text, None)

    def _report_unhelped(self, reasons: Sequence[tuple[Pod, str]]) -> None:
        self.buffers.report_unhelped(reasons)
        for pod, text in reasons:
            if not is_buffer_pod(pod):
                message = f"pod didn't trigger scale-up: {text}"
                self.report(NORMAL, "NotTriggerScaleUp", message, pod)

    def _may_be_placed(self, pod: Pod) -> bool:
        return not pod.status.nominated_node_name and self._counts(pod)

    def _counts(self, pod: Pod) -> bool:
        return not is_expendable(pod, self.options.expendable_pods_priority_cutoff)


def _reason_of(pods: Sequence[Pod]) -> str:
    """Return which pods a scale-up is for."""
    if not pods:
        return ""
    others = len(pods) - 1
    return f"{pods[0].key} and {counted(others, 'other')}" if others else pods[0].key
