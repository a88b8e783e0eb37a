"""PodDisruptionBudgets: how many pods may be disrupted; preemption reads it.

Mirrors ``pkg/controller/disruption`` (Kubernetes v1.36). The counts of a budget are
updated with each change of a pod.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Condition,
    Deployment,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    Time,
)
from quaymaster._api.objects.selectors import Selector, compile_label_selector
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.ownership import Ownership
from quaymaster._clusters.inmemory.controllers.pods import is_ready
from quaymaster._clusters.inmemory.controllers.rollouts import scaled

__all__ = ["DISRUPTION_ALLOWED", "SYNC_FAILED", "BudgetController", "with_allowed"]

DISRUPTION_ALLOWED: Final = "DisruptionAllowed"
"""The type of the condition of a budget."""

SYNC_FAILED: Final = "SyncFailed"
"""The reason of the condition if the pods cannot be counted."""


class BudgetController:
    """Writes the status of budgets.

    Args:
        cluster: The cluster.
        ownership: The owners of the pods.
        mark: Called with a budget's key when its status may have changed.

    Attributes:
        tallies: By namespace: the pods that each budget selects.
    """

    def __init__(
        self, cluster: ClusterAccess, ownership: Ownership, mark: Callable[[str], None]
    ) -> None:
        self._cluster = cluster
        self._ownership = ownership
        self._mark = mark
        self.tallies: dict[str, dict[str, _Tally]] = {}
        # How much more their own cluster allowed than is counted here; None: not
        # computed yet.
        self._beyond: dict[str, int | None] = {}
        # Those whose status was counted here, and is not what the input says.
        self._counted: set[str] = set()

    def keep(self, budget: PodDisruptionBudget) -> None:
        """Start from the disruptions that a budget allows now, whatever is counted."""
        self._beyond[budget.key] = None

    def budget_changed(self, budget: PodDisruptionBudget) -> None:
        """Handle a budget that is new, or selects other pods than before."""
        selector = compile_label_selector(budget.spec.selector)
        tallies = self.tallies.setdefault(budget.namespace, {})
        previous = tallies.get(budget.key)
        if previous is None or previous.selector != selector:
            tally = tallies[budget.key] = _Tally(selector)
            for pod in self._cluster.objects(Pod).values():
                if pod.metadata.namespace == budget.namespace:
                    tally.update(pod, is_there=True)
        self._mark(budget.key)

    def budget_removed(self, budget: PodDisruptionBudget) -> None:
        """Handle a removed budget."""
        tallies = self.tallies.get(budget.namespace, {})
        tallies.pop(budget.key, None)
        self._beyond.pop(budget.key, None)
        self._counted.discard(budget.key)
        if not tallies:
            self.tallies.pop(budget.namespace, None)

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod that was created, changed or removed."""
        pod = old if new is None else new
        if pod is None:
            return
        for key, tally in self.tallies.get(pod.metadata.namespace, {}).items():
            if tally.update(pod, is_there=new is not None):
                self._mark(key)

    def scale_changed(self, namespace: str) -> None:
        """Handle a changed number of replicas in a namespace."""
        for key in self.tallies.get(namespace, ()):
            self._mark(key)

    def sync(self, budget: PodDisruptionBudget) -> None:
        """Write into the budget's status how many pods may be disrupted."""
        tally = self.tallies[budget.namespace][budget.key]
        counts = self._counts(budget, tally)
        if counts is None:
            self._fail_safe(budget, self._without_size(tally))
            return
        self._counted.add(budget.key)
        expected, desired = counts
        # Without an expected pod nothing may be disrupted, or the first pods could be
        # evicted before they are counted.
        allowed = tally.healthy - desired if expected > 0 else 0
        allowed += self._more(budget, allowed)
        status = PodDisruptionBudgetStatus(
            observed_generation=budget.metadata.generation,
            disrupted_pods=self._disrupted(budget),
            disruptions_allowed=max(0, allowed),
            current_healthy=tally.healthy,
            desired_healthy=desired,
            expected_pods=expected,
            conditions=budget.status.conditions,
        )
        status = with_allowed(status, Time(self._cluster.clock.now()))
        if status != budget.status:
            self._cluster.change(budget, replace(budget, status=status))

    def _fail_safe(self, budget: PodDisruptionBudget, pod: str) -> None:
        """Allow no disruption, since the counts no longer hold (``failSafe``).

        A status of the input stays: its own cluster may know controllers that are not
        in the input.

        Args:
            budget: The budget.
            pod: The name of a pod whose controller has no size, if there is one.
        """
        if budget.key not in self._counted:
            return
        if pod:
            now = Time(self._cluster.clock.now())
            problem = f'found no controllers for pod "{pod}"'
            status = replace(budget.status, disruptions_allowed=0)
            status = _with_condition(status, "False", SYNC_FAILED, problem, now)
        else:
            status = replace(budget.status, disruptions_allowed=0)
        if status != budget.status:
            self._cluster.change(budget, replace(budget, status=status))

    def _without_size(self, tally: "_Tally") -> str:
        """Return the name of a pod whose controller has no size; empty if none has."""
        for key, (uid, _) in tally.members.items():
            if uid and self._scale(uid) is None:
                return key.partition("/")[2]
        return ""

    def _more(self, budget: PodDisruptionBudget, counted: int) -> int:
        """Return how many more disruptions its own cluster allowed than are counted."""
        if budget.key not in self._beyond:
            return 0
        more = self._beyond[budget.key]
        if more is None:
            more = self._beyond[budget.key] = budget.status.disruptions_allowed - max(
                0, counted
            )
        return more

    def _disrupted(self, budget: PodDisruptionBudget) -> dict[str, Time]:
        """Return the pods whose eviction is allowed, but has not begun."""
        noted, pods = budget.status.disrupted_pods, self._cluster.objects(Pod)
        keys = {name: f"{budget.namespace}/{name}" for name in noted}
        return {
            name: noted[name]
            for name, key in keys.items()
            if key in pods and not pods[key].is_terminating
        }

    def _counts(
        self, budget: PodDisruptionBudget, tally: "_Tally"
    ) -> tuple[int, int] | None:
        """Count the pods that should exist, and those that must be healthy.

        None if the controller of a pod has no size, since upstream has no answer then;
        also None if the budget names no limit, so that a budget with only a status
        keeps it.
        """
        least, most_gone = budget.spec.min_available, budget.spec.max_unavailable
        # ``getExpectedPodCount``: only with a number do the pods that exist count. In
        # all other cases the sizes of their controllers do, so that missing pods use
        # the budget up.
        if most_gone is None and isinstance(least, int):
            return len(tally.members), least
        if most_gone is None and least is None:
            return None
        scales = [self._scale(uid) for uid in tally.controllers]
        if None in scales:
            return None
        expected = sum(scale for scale in scales if scale is not None)
        if most_gone is not None:
            return expected, max(0, expected - scaled(most_gone, expected))
        return expected, scaled(least, expected)

    def _scale(self, uid: str) -> int | None:
        identity = self._ownership.get(uid)
        owner = identity and self._cluster.objects(identity.kind).get(identity.key)
        if isinstance(owner, ReplicaSet) and owner.metadata.controller is not None:
            above = self._scale(owner.metadata.controller.uid)
            if above is not None:
                return above
        if isinstance(
            owner, Deployment | ReplicaSet | ReplicationController | StatefulSet
        ):
            return 1 if owner.spec.replicas is None else owner.spec.replicas
        return None


class _Tally:
    """The pods that a budget selects.

    Attributes:
        selector: Selects the pods.
        members: Their keys, each with the uid of its controller and whether it is
            healthy.
        controllers: How many of them each controller has, by its uid.
        healthy: How many of them are healthy.
    """

    __slots__ = ("controllers", "healthy", "members", "selector")

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self.members: dict[str, tuple[str, bool]] = {}
        self.controllers: Counter[str] = Counter()
        self.healthy = 0

    def update(self, pod: Pod, *, is_there: bool) -> bool:
        """Apply the change of a pod, and return whether the counts have changed."""
        metadata = pod.metadata
        key = pod.key
        before = self.members.get(key)
        after = None
        if is_there and self.selector.matches(metadata.labels):
            controller = metadata.controller
            is_healthy = metadata.deletion_timestamp is None and is_ready(pod)
            after = ("" if controller is None else controller.uid, is_healthy)
        if before == after:
            return False
        self._count(before, -1)
        self._count(after, 1)
        if after is None:
            del self.members[key]
        else:
            self.members[key] = after
        return True

    def _count(self, member: tuple[str, bool] | None, sign: int) -> None:
        if member is None:
            return
        uid, is_healthy = member
        self.healthy += sign * is_healthy
        if uid:
            self.controllers[uid] += sign
            if not self.controllers[uid]:
                del self.controllers[uid]


def with_allowed(
    status: PodDisruptionBudgetStatus, now: Time
) -> PodDisruptionBudgetStatus:
    """Return a status whose condition follows from the number of disruptions.

    Mirrors ``apps/poddisruptionbudget/helpers.go`` of k8s.io/component-helpers (v0.37).
    """
    if status.disruptions_allowed > 0:
        return _with_condition(status, "True", "SufficientPods", "", now)
    return _with_condition(status, "False", "InsufficientPods", "", now)


def _with_condition(
    status: PodDisruptionBudgetStatus, value: str, reason: str, message: str, now: Time
) -> PodDisruptionBudgetStatus:
    new = Condition(
        type=DISRUPTION_ALLOWED,
        status=value,
        observed_generation=status.observed_generation,
        last_transition_time=now,
        reason=reason,
        message=message,
    )
    conditions = list(status.conditions)
    for index, old in enumerate(conditions):
        if old.type == DISRUPTION_ALLOWED:
            if old.status == value:
                new = replace(new, last_transition_time=old.last_transition_time)
            conditions[index] = new
            break
    else:
        conditions.append(new)
    return replace(status, conditions=tuple(conditions))
