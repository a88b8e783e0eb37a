"""What decides whether a node is disrupted, for explanations."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._base.errors import counted
from quaymaster._core.config.duration import format_duration
from quaymaster._studies.autoscaling.karpenter.amounts import amount_text, amounts_of
from quaymaster._studies.autoscaling.karpenter.cluster import StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.budgets import (
    DRIFTED,
    EMPTY,
    UNDERUTILIZED,
    UNLIMITED,
    allowance,
)
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import Candidate
from quaymaster._studies.autoscaling.karpenter.disruption.events import ignore
from quaymaster._studies.autoscaling.karpenter.disruption.survey import Survey, Trial
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    UNKNOWN_PRICE,
    launch_prices,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    ZONE,
)
from quaymaster._studies.autoscaling.karpenter.objects import (
    Budget,
    NodeClaim,
    NodePool,
    condition,
    is_true,
)
from quaymaster._studies.autoscaling.karpenter.pods import (
    DO_NOT_DISRUPT,
    is_daemon_pod,
    is_disruptable,
    is_reschedulable,
    is_static_pod,
)
from quaymaster._studies.autoscaling.karpenter.solve.claims import ProposedClaim
from quaymaster._studies.simulation.scaling import NodeFact, PodFate, PodOfNode

__all__ = ["NodeExplanation"]

_REASONS: Final = (UNDERUTILIZED, EMPTY, DRIFTED)
_SHOWN: Final = 3


class NodeExplanation:
    """Looks at one node that exists.

    Args:
        survey: The cluster.
        node: The node.
        start: The beginning of the simulation, in seconds since the epoch.
    """

    def __init__(self, survey: Survey, node: StateNode, start: float) -> None:
        self._survey = survey
        self._node = node
        self._start = start
        self._now = survey.state.now
        self._pool = survey.state.pools.get(node.pool)
        self._candidate = survey.finder.as_candidate(node)
        self._trial: Trial | None = None
        if self._candidate is not None and not node.marked_for_deletion:
            self._trial = survey.trial([self._candidate], consolidates=True)

    def facts(self) -> Iterator[NodeFact]:
        """Yield what decides about the node."""
        claim, pool = self._node.claim, self._pool
        if claim is None or pool is None:
            return
        yield NodeFact(name="NodePool", value=self._pool_text(pool))
        yield NodeFact(name="NodeClaim", value=claim.name)
        yield NodeFact(name="offering", value=self._offering_text())
        yield NodeFact(
            name="consolidation", value=self._consolidation_text(pool, claim)
        )
        yield from self._budget_facts(pool)
        if self._candidate is not None:
            yield NodeFact(name="cost", value=self._cost_text(self._candidate))
        if self._trial is not None:
            yield NodeFact(name="without it", value=self._trial_text(self._trial))
        drifted = condition(claim.status.conditions, "Drifted")
        if drifted is not None:
            yield NodeFact(name="drifted", value=drifted.reason)
        yield NodeFact(name="expires", value=self._expiry_text(claim))
        grace = claim.spec.termination_grace_period
        if grace is not None:
            yield NodeFact(name="terminationGracePeriod", value=grace)
        if self._node.annotations.get(DO_NOT_DISRUPT) == "true":
            yield NodeFact(name="annotation", value=f"{DO_NOT_DISRUPT}: true")

    def _pool_text(self, pool: NodePool) -> str:
        nodes = [each for each in self._survey.state.nodes if each.pool == pool.name]
        text = f"{pool.name}: {counted(len(nodes), 'node')}"
        used = self._survey.state.pool_resources(pool.name)
        for name, limit in sorted(amounts_of(pool.spec.limits).items()):
            text += (
                f", {name} {amount_text(name, used.get(name, 0))} "
                f"of {amount_text(name, limit)}"
            )
        return text

    def _offering_text(self) -> str:
        labels = self._node.labels
        parts = [labels.get(key, "") for key in (INSTANCE_TYPE, ZONE, CAPACITY_TYPE)]
        candidate = self._candidate
        if candidate is not None and candidate.price:
            parts.append(f"{candidate.price:.2f} per hour")
        return ", ".join(filter(None, parts))

    def _consolidation_text(self, pool: NodePool, claim: NodeClaim) -> str:
        disruption = pool.spec.disruption
        text = (
            f"{disruption.consolidation_policy}, "
            f"consolidateAfter {disruption.consolidate_after}"
        )
        last = claim.status.last_pod_event_time
        if last is not None and last >= self._start:
            text += f", pods changed at {self._since_start(last)}"
        is_due = is_true(claim.status.conditions, "Consolidatable")
        return f"{text}, {'' if is_due else 'not '}Consolidatable"

    def _budget_facts(self, pool: NodePool) -> Iterator[NodeFact]:
        total, leaving = self._survey.counts_of(pool.name)
        today = self._survey.today
        for budget in pool.spec.disruption.budgets:
            number = allowance(budget, total, today)
            if number is None:
                text = "its schedule is wrong, so no node may be disrupted"
            elif number == UNLIMITED:
                text = "not active now"
            else:
                text = f"allows {number} of {counted(total, 'node')} at once"
            value = f"{_budget_text(budget)}: {text}"
            yield NodeFact(name="budget", value=value)
        allowed = {each: self._survey.budgets(each, ignore) for each in _REASONS}
        left = ", ".join(
            f"{reason} {_number(budgets.get(pool.name, 0))}"
            for reason, budgets in allowed.items()
        )
        value = f"{left}; {leaving} on the way out or not ready"
        yield NodeFact(name="may be disrupted now", value=value)

    def _cost_text(self, candidate: Candidate) -> str:
        pods = counted(len(candidate.pods), "pod")
        text = f"disruption {candidate.reschedule_cost:.2f} for {pods} to move"
        if candidate.price:
            text += f", price / cost {candidate.ratio:.4f} (the highest goes first)"
        return text

    def _trial_text(self, trial: Trial) -> str:
        """Return what would happen if the node were not there."""
        if trial.problems:
            pods = counted(len(trial.problems), "pod")
            return f"{pods} without a place"
        if not trial.claims:
            return "all pods fit on other nodes"
        claims = [self._claim_text(claim) for claim in trial.claims[:_SHOWN]]
        more = len(trial.claims) - _SHOWN
        others = f" and {counted(more, 'other')}" if more > 0 else ""
        nodes = counted(len(trial.claims), "new node")
        return f"{nodes} needed: {', '.join(claims)}{others}"

    def _claim_text(self, claim: ProposedClaim) -> str:
        """Return a claim with its cheapest type, and its worst price as upstream's."""
        well_known = self._survey.options.well_known_labels
        prices = [
            (*launch_prices(each, claim.requirements, well_known), each.name)
            for each in claim.instance_types
        ]
        price, worst, name = min(prices, default=(UNKNOWN_PRICE, UNKNOWN_PRICE, ""))
        if price == UNKNOWN_PRICE:
            return claim.pool.name
        text = f"{claim.pool.name} from {price:.2f} per hour ({name})"
        return text if worst == price else f"{text}, at worst {worst:.2f}"

    def _expiry_text(self, claim: NodeClaim) -> str:
        seconds = claim.spec.expire_after_seconds
        if seconds is None:
            return "never"
        born = claim.metadata.creation_timestamp or self._start
        return f"at {self._since_start(born + seconds)} ({claim.spec.expire_after})"

    def _since_start(self, moment: float) -> str:
        return format_duration(timedelta(seconds=round(moment - self._start)))

    def pods(self) -> Iterator[PodOfNode]:
        """Yield the pods of the node, and what would happen to each without it."""
        places = _places(self._trial) if self._trial is not None else {}
        fates = [self._fate(pod, places) for pod in self._node.pods]
        return iter(sorted(fates, key=lambda each: each.fate is not PodFate.BLOCKS))

    def _fate(self, pod: Pod, places: Mapping[str, str]) -> PodOfNode:
        blocker = self._blocker(pod)
        if blocker:
            return PodOfNode(pod=pod.key, fate=PodFate.BLOCKS, why=blocker)
        if is_daemon_pod(pod) or is_static_pod(pod) or not is_reschedulable(pod):
            return PodOfNode(pod=pod.key, fate=PodFate.ENDS)
        problem = self._trial.problems.get(pod.key) if self._trial is not None else None
        if problem is not None:
            return PodOfNode(pod=pod.key, fate=PodFate.NO_PLACE, why=problem)
        place = places.get(pod.key, "")
        if pod.metadata.controller is None:
            room = f"; Karpenter keeps room for it {place}" if place else ""
            why = f"no controller creates it again{room}"
            return PodOfNode(pod=pod.key, fate=PodFate.ENDS, why=why)
        return PodOfNode(pod=pod.key, fate=PodFate.MOVES, why=place)

    def _blocker(self, pod: Pod) -> str:
        """Return why a pod keeps its node, or empty."""
        if not is_disruptable(pod, self._now):
            return f"{DO_NOT_DISRUPT}: {pod.annotations[DO_NOT_DISRUPT]}"
        budgets = self._survey.state.disruption_limits.blocking([pod])
        if not budgets:
            return ""
        names = " and ".join(budgets)
        if len(budgets) > 1:
            return f"the disruption budgets {names} select it; eviction needs only one"
        return f"the disruption budget {names} allows no eviction"


def _places(trial: Trial) -> Mapping[str, str]:
    """Return where each pod would go, by its key."""
    places = {
        pod.key: f"to a new node of {claim.pool.name}"
        for claim in trial.claims
        for pod in claim.pods
    }
    places.update(
        (pod.key, f"to {name}") for name, pods in trial.moves.items() for pod in pods
    )
    return places


def _budget_text(budget: Budget) -> str:
    text = f"nodes {budget.nodes}"
    if budget.reasons:
        text += f" for {_listed(budget.reasons)}"
    if budget.schedule is not None:
        text += f" at {budget.schedule} UTC for {budget.duration}"
    return text


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _number(count: int) -> str:
    return "any number" if count > UNLIMITED // 2 else str(count)
