"""What the loops decided for each pending pod, for explanations."""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import timedelta

import attrs

from quaymaster._api.objects import Pod
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.duration import format_duration
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.balancing import Resize
from quaymaster._studies.autoscaling.cluster_autoscaler.equivalence import (
    PodEquivalenceGroup,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.expander_reasons import (
    ExpanderReasons,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.expanders import Expansion
from quaymaster._studies.autoscaling.cluster_autoscaler.group_states import GroupStates
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pending import is_unschedulable
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import (
    is_daemon_pod,
    is_expendable,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.requests import Requests
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_up import (
    BACKOFF,
    FULL,
    NOT_READY,
    ScaleUp,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster
from quaymaster._studies.simulation.scaling import (
    NO_GROUP_GROWS,
    GroupVerdict,
    NodeGroupFate,
    PodScaling,
)

__all__ = ["ScaleUpLog"]

_REASONS = {NOT_READY: "too many of its nodes are not ready"}


@attrs.frozen(kw_only=True, eq=False)
class _Decision:
    """A scale-up, and why the groups that were left out may not grow."""

    time: float
    plan: ScaleUp
    skipped: Mapping[str, str]
    losses: Mapping[str, str]
    templates: Mapping[str, Template]


class ScaleUpLog:
    """Keeps the last decision about each pod.

    Args:
        cloud: The groups.
        states: The states of the groups.
        trial: The nodes with their pods, to judge rejected pods once more.
        expanders: Says why an expander prefers another option.
        start: The beginning, in seconds since the epoch.
    """

    def __init__(
        self,
        cloud: Cloud,
        states: GroupStates,
        trial: TrialCluster,
        expanders: ExpanderReasons,
        start: float,
    ) -> None:
        self._cloud = cloud
        self._states = states
        self._trial = trial
        self._expanders = expanders
        self._start = start
        self._decisions: dict[str, tuple[_Decision, PodEquivalenceGroup]] = {}
        self._remarks: dict[str, tuple[float, str]] = {}

    def note_remark(self, pods: Iterable[Pod], text: str, now: float) -> None:
        """Note why no group was looked at for some pods."""
        for pod in pods:
            self._remarks[pod.key] = (now - self._start, text)

    def note_consumers(
        self, pods: Iterable[Pod], requests: Requests, now: float
    ) -> None:
        """Note what the pods wait for that use the capacity of requests."""
        for pod in pods:
            self.note_remark([pod], requests.why_waiting(pod, self._start), now)

    def note_left_out(
        self,
        cluster: InMemoryCluster,
        placed: Set[str],
        options: ClusterAutoscalerOptions,
    ) -> None:
        """Note why no group is looked at for some pending pods.

        Args:
            cluster: The cluster.
            placed: The uids of pods that have a place without a new node.
            options: The options of the autoscaler.
        """
        now = cluster.clock.now()
        for pod in cluster.list(Pod).items:
            if is_unschedulable(pod):
                text = _why_left_out(pod, placed, options)
                self.note_remark([pod] if text else [], text, now)

    def note_plan(
        self, plan: ScaleUp, templates: Mapping[str, Template], now: float
    ) -> None:
        """Note a scale-up, before the groups are resized.

        Args:
            plan: The scale-up, or the failure to find one.
            templates: What new nodes look like, by group.
            now: The time, in seconds since the epoch.
        """
        decision = _Decision(
            time=now - self._start,
            plan=plan,
            skipped={
                group: self._why_skipped(group, reason)
                for group, reason in plan.skipped.items()
            },
            losses=self._expanders.losses(plan.options, plan.chosen, templates),
            templates=templates,
        )
        for kind in plan.kinds:
            for pod in kind.pods:
                self._decisions[pod.key] = (decision, kind)
                self._remarks.pop(pod.key, None)

    def scaling_of(self, key: str) -> PodScaling | None:
        """Return what was last decided for a pod; None if it was never pending."""
        entry, remark = self._decisions.get(key), self._remarks.get(key)
        if entry is None:
            if remark is None:
                return None
            return PodScaling(pod=key, summary=remark[1], decided=remark[0])
        decision, kind = entry
        verdicts = tuple(
            self._verdict(group, key, kind, decision) for group in self._cloud.groups
        )
        is_helped = any(each.fate is NodeGroupFate.GROWS for each in verdicts)
        if remark is not None and not is_helped:
            return PodScaling(pod=key, summary=remark[1], decided=remark[0])
        return PodScaling(
            pod=key,
            summary=_summary(verdicts, decision.plan.resizes),
            decided=decision.time,
            groups=verdicts,
        )

    def _why_skipped(self, group: str, reason: str) -> str:
        if reason == FULL:
            largest = counted(self._cloud.groups[group].max_size, "node")
            return f"it has its largest size, {largest}"
        if reason == BACKOFF:
            end = self._states.backoff.end_of(group)
            seconds = 0.0 if end is None else end - self._start
            until = format_duration(timedelta(seconds=seconds))
            return f"its last scale-up failed, so it may not grow before {until}"
        return _REASONS.get(reason, reason)

    def _verdict(
        self, group: str, key: str, kind: PodEquivalenceGroup, decision: _Decision
    ) -> GroupVerdict:
        options = {option.group: option for option in decision.plan.options}
        option = options.get(group)
        if group in decision.skipped and group not in kind.rejections:
            why = decision.skipped[group]
            return GroupVerdict(group=group, fate=NodeGroupFate.LIMITED, why=why)
        if group in kind.plugins:
            return GroupVerdict(
                group=group,
                fate=NodeGroupFate.REJECTED,
                why=self._why_rejected(group, key, kind, decision.templates[group]),
                plugin=kind.plugins[group],
            )
        fate, why, nodes = _of_option(group, key, option, decision)
        price = self._cloud.groups[group].price_per_hour
        return GroupVerdict(
            group=group,
            fate=fate,
            why=why,
            nodes=nodes,
            price=None if price is None or not nodes else price * nodes,
        )

    def _why_rejected(
        self, group: str, key: str, kind: PodEquivalenceGroup, template: Template
    ) -> str:
        """Return the reasons of a plugin, with the facts behind them."""
        pod = next(pod for pod in kind.pods if pod.key == key)
        with self._trial.fork():
            self._trial.add_node(template.node, template.pods)
            facts = self._trial.facts_of(pod, template.node.name)
        own = facts.get(kind.plugins[group], ())
        reasons = ", ".join(kind.rejections[group]) or "its filters reject the pod"
        return "; ".join((reasons, *own))


def _of_option(
    group: str, key: str, option: Expansion | None, decision: _Decision
) -> tuple[NodeGroupFate, str, int]:
    """Return the fate of a group that the pod fits on, why, and its new nodes."""
    plan = decision.plan
    resize = next((each for each in plan.resizes if each.group == group), None)
    if resize is not None and any(pod.key == key for pod in plan.helped):
        why = f"for {counted(len(plan.helped), 'pod')}"
        if group != plan.chosen:
            why = f"it shares the new nodes of {plan.chosen}, {why}"
        return NodeGroupFate.GROWS, why, resize.more
    if option is None:
        return NodeGroupFate.LIMITED, "the limits of nodes allow no new node", 0
    if all(pod.key != key for pod in option.pods):
        nodes = counted(option.nodes, "node")
        return NodeGroupFate.LIMITED, f"other pods fill its {nodes}", option.nodes
    if group == plan.chosen:
        return NodeGroupFate.LIMITED, "the limits of the cluster allow no new node", 0
    return NodeGroupFate.NOT_CHOSEN, decision.losses.get(group, ""), option.nodes


def _summary(verdicts: Iterable[GroupVerdict], resizes: Sequence[Resize]) -> str:
    growing = {each.group for each in verdicts if each.fate is NodeGroupFate.GROWS}
    if not growing:
        return NO_GROUP_GROWS
    grown = [
        f"{each.group} grows from {each.size} to {counted(each.new_size, 'node')}"
        for each in resizes
        if each.group in growing
    ]
    return ", ".join(grown)


def _why_left_out(pod: Pod, placed: Set[str], options: ClusterAutoscalerOptions) -> str:
    """Return why no group is looked at for a pending pod; empty if they all are."""
    cutoff = options.expendable_pods_priority_cutoff
    if is_expendable(pod, cutoff):
        return f"no group grows for pods with a priority below {cutoff}"
    if node := pod.status.nominated_node_name:
        return f"it waits for {node}, where it has preempted pods"
    if is_daemon_pod(pod):
        return "no group grows for pods of DaemonSets"
    if pod.uid in placed:
        return "it fits on a node that exists or is expected"
    return ""
