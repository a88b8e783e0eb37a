"""Orders machines for pending pods, round by round.

Mirrors ``pkg/controllers/provisioning/provisioner.go``, ``batcher.go`` and
``controller.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.clock import Timer
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.disruption.events import NO_TYPES
from quaymaster._studies.autoscaling.karpenter.lifecycle import Lifecycle
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import is_provisionable
from quaymaster._studies.autoscaling.karpenter.scale_up_log import ScaleUpLog
from quaymaster._studies.autoscaling.karpenter.solve.claims import as_created
from quaymaster._studies.autoscaling.karpenter.solve.pending import (
    PodsToSchedule,
    pods_to_schedule,
)
from quaymaster._studies.autoscaling.karpenter.solve.refusals import PoolRefusal
from quaymaster._studies.autoscaling.karpenter.solve.scheduler import SolveResult, solve
from quaymaster._studies.autoscaling.karpenter.solve.templates import NO_TYPES_REASONS

__all__ = ["Provisioner"]

_REPEAT_SECONDS: Final = 10.0
_SYNC_SECONDS: Final = 1.0
_SHORTEST_NOMINATION: Final = 10.0


class Provisioner:
    """Looks at pending pods, and orders machines.

    Args:
        cluster: The cluster.
        lifecycle: Orders machines.
        options: The options of Karpenter.
        read_state: Returns the state of the cluster.
        read_facts: Returns what a round depends on, apart from time.
        unbound_pods: Returns the pods without a node.
        log: Keeps decisions for explanations; None if nothing is explained.

    Attributes:
        nominated: Until when pods are expected on nodes, by name.
        problems: Key of a pod that no machine helps -> why.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        lifecycle: Lifecycle,
        options: KarpenterOptions,
        read_state: Callable[[], ClusterState],
        read_facts: Callable[[], object],
        unbound_pods: Callable[[], Sequence[Pod]],
        log: ScaleUpLog | None = None,
    ) -> None:
        self._clock = cluster.clock
        self._lifecycle = lifecycle
        self._options = options
        self._read_state = read_state
        self._facts = read_facts
        self._unbound_pods = unbound_pods
        self.nominated: dict[str, float] = {}
        self.problems: Mapping[str, str] = {}
        self._idle: Timer | None = None
        self._latest = 0.0
        self._seen: object = None
        self._failed_draws = 0
        self._draws_left = 0
        self._expected: Sequence[str] = ()
        self._reported: Mapping[str, str] = {}
        self._left_out: Mapping[str, str] = {}
        self._refusals: Mapping[str, Mapping[str, PoolRefusal]] = {}
        self._log = log
        self._repeat: Timer | None = None

    def trigger(self) -> None:
        """Begin a round soon: when no more pods come for some time."""
        now, options = self._clock.now(), self._options
        if self._idle is None:
            # Counted from the first trigger, so that a stream of new pods cannot put a
            # round off for ever.
            self._latest = now + options.batch_max_duration
        else:
            self._idle.cancel()
        due = min(now + options.batch_idle_duration, self._latest)
        self._idle = self._clock.call_at(due, self._run, background=True)

    @property
    def draws_again(self) -> bool:
        """Whether the next round draws another domain for a pod that failed."""
        return self._draws_left > 0

    def reasons(self, pool: str) -> Mapping[str, str]:
        """Return why a pool helps none of the pods with problems, by their keys."""
        reasons = {}
        for key, problem in self.problems.items():
            refusal = self._refusals.get(key, {}).get(pool)
            own = problem if refusal is None else refusal.text
            reasons[key] = self._left_out.get(pool) or own
        return reasons

    def nominate(self, nodes: Sequence[str]) -> None:
        """Note that pods are expected on nodes."""
        seconds = max(2 * self._options.batch_max_duration, _SHORTEST_NOMINATION)
        now = self._clock.now()
        if nodes:
            # Without those in the past: a day has thousands of nodes.
            lasting = {k: v for k, v in self.nominated.items() if v > now}
            self.nominated = lasting | dict.fromkeys(nodes, now + seconds)

    def _run(self) -> None:
        self._idle = None
        # As ``Synced`` (state/cluster.go): while a claim has no ``providerID``, its
        # node would be missing from the state, and its pods would get a second one.
        if self._lifecycle.is_launching:
            self._try_later()
            return
        is_new = self._facts() != self._seen
        if is_new or self._draws_left:
            draws = self._solve()
            # Upstream draws in each round. After as many rounds as there are equal
            # domains, all of them have been tried here.
            self._draws_left = draws - 1 if is_new else min(draws, self._draws_left) - 1
            self._failed_draws = self._failed_draws + 1 if draws > 1 else 0
            self._seen = self._facts()
        else:
            self.nominate(self._expected)
        if self._repeat is None and self._expects_pods():
            self._repeat = self._clock.call_later(
                _REPEAT_SECONDS, self._again, background=True
            )

    def _try_later(self) -> None:
        self._latest = self._clock.now() + self._options.batch_max_duration
        self._idle = self._clock.call_later(_SYNC_SECONDS, self._run, background=True)

    def _again(self) -> None:
        self._repeat = None
        self.trigger()

    def _expects_pods(self) -> bool:
        return any(map(is_provisionable, self._unbound_pods()))

    def _solve(self) -> int:
        """Order machines; return from how many domains a failed pod had one drawn."""
        state = self._read_state()
        pods = pods_to_schedule(state, self._options)
        self.problems = pods.rejected
        self._expected = ()
        if not pods.all_pods:
            if self._log is not None:
                self._log.note_round(state, pods, SolveResult(), {})
            return 1
        result = solve(
            state, pods.all_pods, self._options, failed_draws=self._failed_draws
        )
        self._expected = [name for name, pods in result.existing.items() if pods]
        self.nominate(self._expected)
        self._report_problems(pods, result)
        self._refusals = result.refusals
        self._report_pools(state, result.pools_left_out)
        claims = {}
        for claim in result.new_claims:
            created = as_created(claim, self._options)
            name = self._lifecycle.order(created, _reason(claim.pods))
            claims[name] = created
        if self._log is not None:
            self._log.note_round(state, pods, result, claims)
        return result.draws

    def _report_problems(self, pods: PodsToSchedule, result: SolveResult) -> None:
        errors = result.errors
        problems = {
            **pods.rejected,
            **{p.key: errors[p.key] for p in pods.pending if p.key in errors},
        }
        for pod in pods.pending:
            # Upstream repeats an event once in five minutes.
            if pod.key in problems and problems[pod.key] != self._reported.get(pod.key):
                text = f"Failed to schedule pod, {problems[pod.key]}"
                self._lifecycle.record(pod, "FailedScheduling", text, "Warning")
        self.problems = self._reported = problems
        if result.problem:
            # Upstream keeps it without an event.
            helpless = dict.fromkeys((p.key for p in pods.pending), result.problem)
            self.problems = helpless | problems

    def _report_pools(self, state: ClusterState, left_out: Mapping[str, str]) -> None:
        """Write an event for each pool that has begun to have no types."""
        for name, reason in left_out.items():
            if reason in NO_TYPES_REASONS and reason != self._left_out.get(name):
                pool = state.pools[name]
                self._lifecycle.record(pool, NO_TYPES, reason, "Warning")
        self._left_out = left_out


def _reason(pods: Sequence[Pod]) -> str:
    """Return for which pods a machine is ordered."""
    others = len(pods) - 1
    return f"{pods[0].key} and {counted(others, 'other')}" if others else pods[0].key
