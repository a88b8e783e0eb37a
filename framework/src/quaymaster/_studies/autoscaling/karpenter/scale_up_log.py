"""What the rounds decided for each pending pod, for explanations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.lifecycle import Lifecycle
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import (
    is_daemon_pod,
    is_provisionable,
    is_static_pod,
)
from quaymaster._studies.autoscaling.karpenter.pool_verdicts import PoolVerdicts
from quaymaster._studies.autoscaling.karpenter.solve.claims import ProposedClaim
from quaymaster._studies.autoscaling.karpenter.solve.pending import PodsToSchedule
from quaymaster._studies.autoscaling.karpenter.solve.scheduler import (
    POOL_PROBLEMS,
    SolveResult,
)
from quaymaster._studies.simulation.scaling import (
    NO_GROUP_GROWS,
    GroupVerdict,
    NodeGroupFate,
    PodScaling,
)

__all__ = ["ScaleUpLog"]

_DIGITS: Final = 6


@attrs.frozen(kw_only=True, eq=False)
class _Round:
    """A round with its result.

    Attributes:
        time: When it was, in seconds since the beginning.
        state: The cluster at that time.
        result: Where pods go.
        claims: The claims that were made, by name.
    """

    time: float
    state: ClusterState
    result: SolveResult
    claims: Mapping[str, ProposedClaim]

    def claim_of(self, key: str) -> str:
        """Return the name of the claim that a pod gets, or empty."""
        for name, claim in self.claims.items():
            if any(pod.key == key for pod in claim.pods):
                return name
        return ""


class ScaleUpLog:
    """Keeps the last decision about each pod.

    Args:
        cluster: The cluster.
        lifecycle: The machines.
        options: The options of Karpenter.
    """

    def __init__(
        self, cluster: InMemoryCluster, lifecycle: Lifecycle, options: KarpenterOptions
    ) -> None:
        self._cluster = cluster
        self._start = cluster.clock.now()
        self._lifecycle = lifecycle
        self._options = options
        self._rounds: dict[str, tuple[_Round, Pod]] = {}
        self._remarks: dict[str, tuple[float, str]] = {}

    def note_round(
        self,
        state: ClusterState,
        pods: PodsToSchedule,
        result: SolveResult,
        claims: Mapping[str, ProposedClaim],
    ) -> None:
        """Note what a round has decided.

        Args:
            state: The cluster before it.
            pods: The pods that it looked at.
            result: Where they go.
            claims: The claims that were made, by name.
        """
        time = round(self._cluster.clock.now() - self._start, _DIGITS)
        decision = _Round(time=time, state=state, result=result, claims=claims)
        for key, problem in pods.rejected.items():
            self._remarks[key] = (time, f"Karpenter ignores the pod: {problem}")
        placed = {
            pod.key: node for node, pods in result.existing.items() for pod in pods
        }
        for pod in pods.all_pods:
            if pod.key in placed:
                self._note_place(pod.key, state, placed[pod.key], time)
            elif problem := _problem_of_pod(pod.key, result):
                self._remarks[pod.key] = (time, f"{NO_GROUP_GROWS}: {problem}")
            else:
                self._rounds[pod.key] = (decision, pod)
                self._remarks.pop(pod.key, None)

    def _note_place(
        self, key: str, state: ClusterState, name: str, time: float
    ) -> None:
        """Note that a node that exists is enough, unless it was ordered for the pod."""
        before = self._rounds.get(key)
        if before is not None and before[0].claim_of(key) == name:
            return
        is_ready = state.node_by_name[name].is_initialized
        waits = "" if is_ready else ", which is on its way"
        self._remarks[key] = (time, f"it fits on {name}{waits}")

    def scaling_of(self, key: str) -> PodScaling | None:
        """Return what was last decided for a pod; None if it was never pending."""
        remark = self._remarks.get(key)
        if remark is not None:
            return PodScaling(pod=key, summary=remark[1], decided=remark[0])
        entry = self._rounds.get(key)
        if entry is None:
            return self._unseen(key)
        decision, pod = entry
        verdicts = tuple(self._verdicts(decision, pod))
        return PodScaling(
            pod=key,
            summary=_summary(verdicts, decision.claim_of(key)),
            decided=decision.time,
            groups=verdicts,
        )

    def _unseen(self, key: str) -> PodScaling | None:
        """Return why Karpenter has not looked at a pod that exists."""
        try:
            why = _why_left_out(self._cluster.get(Pod, key))
        except NotFoundError:
            return None
        return PodScaling(pod=key, summary=why) if why else None

    def _verdicts(self, decision: _Round, pod: Pod) -> Iterator[GroupVerdict]:
        """Yield the verdict of each pool, in the order in which they are tried."""
        chosen = decision.claim_of(pod.key)
        pool = decision.claims[chosen].pool if chosen else None
        verdicts = PoolVerdicts(decision.state, decision.result, pod, self._options)
        for name in verdicts.names:
            if pool is not None and name == pool.name:
                yield self._verdict_on_chosen(name, chosen, decision.claims[chosen])
            else:
                yield verdicts.verdict(name, pool)

    def _verdict_on_chosen(
        self, pool: str, name: str, claim: ProposedClaim
    ) -> GroupVerdict:
        machine = self._lifecycle.machines[name]
        fate = NodeGroupFate.GROWS
        why = f"{name} for {counted(len(claim.pods), 'pod')}"
        if machine.offering:
            why += f": {machine.offering}"
        if len(claim.instance_types) > 1:
            why += f"; {len(claim.instance_types)} instance types were possible"
        if machine.ended is not None and not machine.offering:
            fate = NodeGroupFate.LIMITED
            why = f"{name} was not launched: {machine.removed_for}"
        return GroupVerdict(
            group=pool, fate=fate, why=why, nodes=1, price=machine.price
        )


def _summary(verdicts: Sequence[GroupVerdict], claim: str) -> str:
    for verdict in verdicts:
        if verdict.fate is NodeGroupFate.GROWS:
            return f"{verdict.group} grows by the node {claim}"
    return NO_GROUP_GROWS


def _problem_of_pod(key: str, result: SolveResult) -> str:
    """Return why a pod gets no node whatever pools there are, or empty."""
    problem = result.errors.get(key, "")
    is_of_pools = key in result.refusals or problem in POOL_PROBLEMS
    return "" if is_of_pools else problem


def _why_left_out(pod: Pod) -> str:
    """Return why Karpenter orders no node for a pod; empty if it would, or need not."""
    if pod.node_name or is_provisionable(pod):
        return ""
    if is_daemon_pod(pod):
        return "Karpenter orders no nodes for pods of DaemonSets"
    if is_static_pod(pod):
        return "Karpenter orders no nodes for mirror pods"
    if node := pod.status.nominated_node_name:
        return f"it waits for {node}, where it has preempted pods"
    if pod.spec.scheduling_gates:
        return "Karpenter does not look at pods with scheduling gates"
    return "no scheduler has found it unschedulable, so Karpenter has not looked at it"
