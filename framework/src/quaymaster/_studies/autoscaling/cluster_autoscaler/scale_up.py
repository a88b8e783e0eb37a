"""One scale-up: which group grows, and by how many nodes.

Mirrors ``core/scaleup/orchestrator/orchestrator.go``.
"""

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.balancing import (
    Resize,
    balanced,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.capacity import Capacity
from quaymaster._studies.autoscaling.cluster_autoscaler.equivalence import (
    PodEquivalenceGroup,
    equivalence_groups,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.estimator import estimate
from quaymaster._studies.autoscaling.cluster_autoscaler.expanders import (
    Expander,
    Expansion,
    best_option,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.group_states import GroupStates
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.quotas import Quota
from quaymaster._studies.autoscaling.cluster_autoscaler.similarity import are_similar
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = [
    "BACKOFF",
    "FULL",
    "NOT_READY",
    "ScaleUp",
    "ScaleUpOutcome",
    "ScaleUpPlanner",
    "reasons_of",
]

BACKOFF = "in backoff after failed scale-up"
NOT_READY = "not ready for scale-up"
FULL = "max node group size reached"
_TOO_MANY = "atomic scale-up exceeds cluster node count limit"
_FILTERED_OUT = "expansion options filtered out and no longer considered"
_ALL_OR_NOTHING = "not all pods would fit and scale-up is using all-or-nothing strategy"


class ScaleUpOutcome(enum.Enum):
    """How a scale-up ended."""

    SUCCESSFUL = "successful"
    NO_OPTIONS = "no options available"
    ERROR = "error"


@attrs.frozen(kw_only=True, eq=False)
class ScaleUp:
    """A scale-up and what it does not help.

    Attributes:
        outcome: How it ended.
        resizes: The groups that grow.
        helped: The pods that the new nodes would hold.
        unhelped: The kinds of pods that no group can help.
        skipped: The groups that were not looked at, with the reason.
        kinds: All kinds of pods.
        options: The possible scale-ups.
        chosen: The group of the best one; empty without one.
    """

    outcome: ScaleUpOutcome
    resizes: Sequence[Resize] = ()
    helped: Sequence[Pod] = ()
    unhelped: Sequence[PodEquivalenceGroup] = ()
    skipped: Mapping[str, str] = attrs.field(factory=dict)
    kinds: Sequence[PodEquivalenceGroup] = ()
    options: Sequence[Expansion] = ()
    chosen: str = ""


class ScaleUpPlanner:
    """Finds scale-ups; it changes nothing.

    Args:
        trial: The cluster.
        cloud: The groups.
        states: The states of the groups.
        options: The options of the autoscaler.
        expanders: The expanders in order.
        chance: Decides among equally good options.
    """

    def __init__(
        self,
        trial: TrialCluster,
        cloud: Cloud,
        states: GroupStates,
        options: ClusterAutoscalerOptions,
        expanders: Sequence[Expander],
        chance: Random,
    ) -> None:
        self._trial = trial
        self._cloud = cloud
        self._states = states
        self._options = options
        self._expanders = expanders
        self._chance = chance

    def plan(
        self,
        pods: Sequence[Pod],
        capacity: Capacity,
        templates: Mapping[str, Template],
        now: float,
        *,
        all_or_nothing: bool = False,
    ) -> ScaleUp:
        """Return the best scale-up for some pods.

        Args:
            pods: The pods that need nodes.
            capacity: What the nodes of the cluster and those that are expected have.
            templates: What new nodes look like, by group.
            now: The time, in seconds since the epoch.
            all_or_nothing: Whether a scale-up must help all pods.
        """
        plan = self._plan(pods, capacity, templates, now, all_or_nothing=all_or_nothing)
        if self._options.scaleup_simulation_for_skipped_node_groups_enabled:
            self._try_on_skipped(plan, templates)
        return plan

    def _plan(
        self,
        pods: Sequence[Pod],
        capacity: Capacity,
        templates: Mapping[str, Template],
        now: float,
        *,
        all_or_nothing: bool,
    ) -> ScaleUp:
        kinds = equivalence_groups(pods)
        quota = Quota(self._options, capacity)
        valid, skipped = self._valid_groups(templates, quota, capacity.nodes, now)
        schedulable = {
            group: self._schedulable(kinds, group, templates[group]) for group in valid
        }
        options = [
            option
            for group in valid
            if (option := self._option(group, schedulable, templates, capacity, now))
            and not (all_or_nothing and len(option.pods) < len(pods))
        ]
        best = best_option(options, templates, self._expanders, self._chance)
        if best is None:
            if options:
                _reject_all(kinds, schedulable, _FILTERED_OUT)
            return _failure(ScaleUpOutcome.NO_OPTIONS, kinds, skipped, options)
        count = self._capped(best.nodes, capacity.nodes)
        if count < 1:
            return _failure(ScaleUpOutcome.ERROR, kinds, skipped, options)
        count = quota.allowed(templates[best.group].node, count)
        is_cut = count < best.nodes
        resizes = self._shares(best, count, templates, quota)
        is_cut = is_cut or sum(resize.more for resize in resizes) < count
        if all_or_nothing and is_cut:
            _reject_all(kinds, schedulable, _ALL_OR_NOTHING)
            return _failure(ScaleUpOutcome.NO_OPTIONS, kinds, skipped, options)
        return ScaleUp(
            outcome=ScaleUpOutcome.SUCCESSFUL,
            resizes=resizes,
            helped=best.pods,
            unhelped=[kind for kind in kinds if not kind.is_schedulable],
            skipped=skipped,
            kinds=kinds,
            options=options,
            chosen=best.group,
        )

    def to_min_sizes(
        self, capacity: Capacity, templates: Mapping[str, Template], now: float
    ) -> Sequence[Resize]:
        """Return the groups that are below their smallest size, with that size."""
        quota, resizes = Quota(self._options, capacity), []
        for name, group in self._cloud.groups.items():
            size = self._cloud.sizes[name]
            if size >= group.min_size or self._why_not_ready(name, now):
                continue
            node = templates[name].node
            if quota.exceeded(node):
                continue
            more = quota.allowed(node, group.min_size - size)
            more = self._capped(more, size)
            if more >= 1:
                resizes.append(Resize(name, size, size + more, group.max_size))
        return resizes

    def _valid_groups(
        self,
        templates: Mapping[str, Template],
        quota: Quota,
        nodes: int,
        now: float,
    ) -> tuple[list[str], dict[str, str]]:
        """Return the groups that may grow, and why the others may not."""
        skipped = {
            name: reason
            for name in self._cloud.groups
            if (reason := self._why_skipped(name, templates, quota, nodes, now))
        }
        return [name for name in self._cloud.groups if name not in skipped], skipped

    def _why_skipped(
        self,
        name: str,
        templates: Mapping[str, Template],
        quota: Quota,
        nodes: int,
        now: float,
    ) -> str:
        if reason := self._why_not_ready(name, now):
            return reason
        group, size = self._cloud.groups[name], self._cloud.sizes[name]
        if size >= group.max_size:
            return FULL
        more = group.max_size - size if group.zero_or_max else 1
        limit = self._options.max_nodes_total
        if group.zero_or_max and limit and nodes + more > limit:
            return _TOO_MANY
        if name not in templates:
            return NOT_READY
        exceeded = quota.exceeded(templates[name].node, more)
        if exceeded:
            resources = ", ".join(exceeded)
            return f'exceeded quota: "cluster-wide", resources: {resources}'
        return ""

    def _why_not_ready(self, name: str, now: float) -> str:
        if not self._states.is_group_healthy(name):
            return NOT_READY
        return BACKOFF if self._states.backoff.is_active(name, now) else ""

    def _schedulable(
        self, kinds: Iterable[PodEquivalenceGroup], group: str, template: Template
    ) -> list[PodEquivalenceGroup]:
        """Return the kinds of pods whose first one fits on a new node of a group."""
        fitting = self._reject(kinds, group, template)
        for kind in fitting:
            kind.is_schedulable = True
        return fitting

    def _try_on_skipped(self, plan: ScaleUp, templates: Mapping[str, Template]) -> None:
        """Note which groups would not help, even if they could grow."""
        for group in plan.skipped:
            if group in templates:
                self._reject(plan.unhelped, group, templates[group])

    def _reject(
        self, kinds: Iterable[PodEquivalenceGroup], group: str, template: Template
    ) -> list[PodEquivalenceGroup]:
        """Note the kinds of pods that do not fit on a new node; return the others."""
        fitting = []
        with self._trial.fork():
            self._trial.add_node(template.node, template.pods)
            for kind in kinds:
                status = self._trial.why_not(kind.exemplar, template.node.name)
                if status is None:
                    fitting.append(kind)
                else:
                    kind.rejections[group] = status.reasons
                    kind.plugins[group] = status.plugin
        return fitting

    def _option(
        self,
        group: str,
        schedulable: Mapping[str, Sequence[PodEquivalenceGroup]],
        templates: Mapping[str, Template],
        capacity: Capacity,
        now: float,
    ) -> Expansion | None:
        """Estimate how many nodes of a group the pods need."""
        kinds = schedulable[group]
        if not kinds:
            return None
        similar = self._similar(group, schedulable, templates, now)
        result = estimate(
            self._trial,
            kinds,
            templates[group],
            self._node_limit([group, *similar], capacity.nodes),
            with_arithmetic=self._options.fastpath_binpacking_enabled,
        )
        if not result.nodes or not result.pods:
            return None
        own = self._cloud.groups[group]
        nodes = own.max_size if own.zero_or_max else result.nodes
        return Expansion(group=group, nodes=nodes, pods=result.pods, similar=similar)

    def _similar(
        self,
        group: str,
        schedulable: Mapping[str, Sequence[PodEquivalenceGroup]],
        templates: Mapping[str, Template],
        now: float,
    ) -> list[str]:
        """Return the groups that a group shares its new nodes with."""
        is_alone = self._cloud.groups[group].zero_or_max
        if is_alone or not self._options.balance_similar_node_groups:
            return []
        own = schedulable[group]
        return [
            name
            for name in self._cloud.groups
            if name != group
            and name in schedulable
            and name in templates
            and are_similar(templates[group], templates[name], self._options)
            and not self._why_not_ready(name, now)
            and all(kind in schedulable[name] for kind in own)
        ]

    def _node_limit(self, groups: Iterable[str], nodes: int) -> int:
        """Return the most nodes of an estimate; -1 allows none, and 0 sets no limit.

        Mirrors ``estimator/threshold_based_limiter.go``.
        """
        room = sum(
            max(0, self._cloud.groups[name].max_size - self._cloud.sizes[name])
            for name in groups
        )
        limits = [self._options.max_nodes_per_scaleup, room if room > 0 else -1]
        if self._options.max_nodes_total:
            left = self._options.max_nodes_total - nodes
            limits.append(left if left > 0 else -1)
        if min(limits) < 0:
            return -1
        return min((limit for limit in limits if limit), default=0)

    def _capped(self, count: int, nodes: int) -> int:
        """Return how many nodes the limit of the whole cluster allows."""
        limit = self._options.max_nodes_total
        return min(count, limit - nodes) if limit > 0 else count

    def _shares(
        self,
        best: Expansion,
        count: int,
        templates: Mapping[str, Template],
        quota: Quota,
    ) -> Sequence[Resize]:
        """Share new nodes among similar groups, each within the quota."""
        similar = [
            name for name in best.similar if not quota.exceeded(templates[name].node)
        ]
        max_sizes = {name: group.max_size for name, group in self._cloud.groups.items()}
        resizes = balanced([best.group, *similar], self._cloud.sizes, max_sizes, count)
        for resize in resizes:
            node = templates[resize.group].node
            allowed = quota.allowed(node, resize.more)
            resize.new_size = resize.size + allowed
            quota.consume(node, allowed)
        return [resize for resize in resizes if resize.more]


def _failure(
    outcome: ScaleUpOutcome,
    kinds: Sequence[PodEquivalenceGroup],
    skipped: Mapping[str, str],
    options: Sequence[Expansion],
) -> ScaleUp:
    return ScaleUp(
        outcome=outcome,
        unhelped=[kind for kind in kinds if not kind.is_schedulable],
        skipped=skipped,
        kinds=kinds,
        options=options,
    )


def _reject_all(
    kinds: Iterable[PodEquivalenceGroup],
    schedulable: Mapping[str, Sequence[PodEquivalenceGroup]],
    reason: str,
) -> None:
    """Note why no option is taken."""
    for kind in kinds:
        if kind.is_schedulable:
            kind.is_schedulable = False
            for group, fitting in schedulable.items():
                if kind in fitting:
                    kind.rejections[group] = (reason,)


def reasons_of(kind: PodEquivalenceGroup, skipped: Mapping[str, str]) -> str:
    """Return why no group can help some pods, with the number of groups per reason.

    Mirrors ``ReasonsMessage`` (``processors/status/eventing_scale_up_processor.go``).
    """
    counts = Counter(
        reason for reasons in kind.rejections.values() for reason in reasons
    )
    counts.update(
        reason for group, reason in skipped.items() if group not in kind.rejections
    )
    return ", ".join(f"{count} {reason}" for reason, count in counts.items())
