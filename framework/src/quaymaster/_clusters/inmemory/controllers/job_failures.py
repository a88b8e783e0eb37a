"""What a failed pod means for its Job, and when it may be replaced.

Mirrors ``pod_failure_policy.go`` and ``backoff_utils.go`` of ``pkg/controller/job``
(Kubernetes v1.37).
"""

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import (
    ContainerStatus,
    Pod,
    PodFailurePolicy,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
)

__all__ = ["Backoff", "FailureVerdict", "backoff_seconds", "finished_at", "judge"]

# ``DefaultJobPodFailureBackOff`` and ``MaxJobPodFailureBackOff``.
_FIRST_BACKOFF: Final = 10.0
_LONGEST_BACKOFF: Final = 600.0


@attrs.frozen(kw_only=True)
class FailureVerdict:
    """What the failure policy decides about a failed pod.

    Attributes:
        counts: Whether the failure counts for the limits.
        fails_index: Whether the index of the pod has failed.
        message: Why the Job has failed; empty if it has not.
    """

    counts: bool = True
    fails_index: bool = False
    message: str = ""


_COUNT: Final = FailureVerdict()


def judge(policy: PodFailurePolicy | None, pod: Pod) -> FailureVerdict:
    """Return what a failure policy decides about a failed pod."""
    rules = () if policy is None else policy.rules
    # The first rule that matches decides, and later ones are not read
    # (``matchPodFailurePolicy``).
    for number, rule in enumerate(rules):
        reason = _reason(rule, pod)
        if reason is None:
            continue
        message = f"{reason} matching {rule.action} rule at index {number}"
        return FailureVerdict(
            counts=rule.action != "Ignore",
            fails_index=rule.action == "FailIndex",
            message=message if rule.action == "FailJob" else "",
        )
    return _COUNT


def _reason(rule: PodFailurePolicyRule, pod: Pod) -> str | None:
    """Return why a rule is for a pod; None if it is not."""
    name = f"{pod.namespace}/{pod.name}"
    if rule.on_exit_codes is not None:
        status = _container_with(rule.on_exit_codes, pod)
        if status is None or status.state.terminated is None:
            return None
        code = status.state.terminated.exit_code
        return f"Container {status.name} for pod {name} failed with exit code {code}"
    condition = _condition_of(rule.on_pod_conditions, pod)
    return None if condition is None else f"Pod {name} has condition {condition}"


def _container_with(
    requirement: PodFailurePolicyOnExitCodesRequirement, pod: Pod
) -> ContainerStatus | None:
    status = pod.status
    # Regular containers come first, as upstream searches two lists in this order.
    for container in (*status.container_statuses, *status.init_container_statuses):
        terminated = container.state.terminated
        names = (None, container.name)
        if terminated is None or requirement.container_name not in names:
            continue
        # ``getMatchingContainerFromList``: 0 matches no rule, not even one with NotIn.
        is_listed = terminated.exit_code in requirement.values
        if terminated.exit_code and is_listed == (requirement.operator == "In"):
            return container
    return None


def _condition_of(
    patterns: Iterable[PodFailurePolicyOnPodConditionsPattern], pod: Pod
) -> str | None:
    matching = {(pattern.type, pattern.status or "True") for pattern in patterns}
    for condition in pod.status.conditions:
        if (condition.type, condition.status) in matching:
            return condition.type
    return None


def finished_at(pod: Pod) -> float:
    """Return when a pod ended, as ``getFinishedTime`` estimates it."""
    last = _containers_finished_at(pod)
    if last is not None:
        return last
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "False":
            if condition.last_transition_time:
                return float(condition.last_transition_time)
            break
    metadata = pod.metadata
    if metadata.deletion_timestamp is not None:
        grace = metadata.deletion_grace_period_seconds or 0
        # The deletion time lies in the future by the grace period, so this is when the
        # deletion began.
        return metadata.deletion_timestamp - grace
    return metadata.creation_timestamp or 0.0


def _containers_finished_at(pod: Pod) -> float | None:
    """Return when the last container ended; None if that of one is unknown."""
    sidecars = {c.name for c in pod.spec.init_containers if c.is_sidecar}
    last: float | None = None
    init = pod.status.init_container_statuses
    statuses = (
        *pod.status.container_statuses,
        *(status for status in init if status.name in sidecars),
    )
    for status in statuses:
        terminated = status.state.terminated
        # One container without a time makes the estimate worthless, so the conditions
        # of the pod are read instead.
        if terminated is None or not terminated.finished_at:
            return None
        last = max(last or 0.0, float(terminated.finished_at))
    return last


def backoff_seconds(failures: int, last_failure: float, now: float) -> float:
    """Return how long the next pod must wait after a number of failures."""
    if not failures:
        return 0.0
    # An exponent of 10 is beyond the longest backoff; a larger one could overflow.
    seconds = min(_FIRST_BACKOFF * 2.0 ** min(failures - 1, 10), _LONGEST_BACKOFF)
    # A failure in the future, by another cluster's clock, delays no longer than a
    # failure now.
    return max(0.0, seconds - max(0.0, now - last_failure))


class Backoff:
    """The failures of a Job since its last success."""

    __slots__ = ("_failures", "_last_failure")

    def __init__(self) -> None:
        self._failures = 0
        self._last_failure = 0.0

    def after(
        self, succeeded: Sequence[Pod], failed: Sequence[Pod], now: float
    ) -> "Backoff":
        """Return the failures after more pods have ended.

        Args:
            succeeded: The pods that have succeeded since.
            failed: The pods that have failed since, ignored ones among them.
            now: The time; a pod of another cluster may have ended later.
        """
        if not succeeded and not failed:
            return self
        last_success = max(map(finished_at, succeeded), default=None)
        times = [min(finished_at(pod), now) for pod in failed]
        after = Backoff()
        # Without a success, the failures of earlier syncs still count; with one, they
        # are forgotten.
        if last_success is None:
            after._failures = self._failures
        else:
            times = [time for time in times if time > last_success]
        after._failures += len(times)
        after._last_failure = max(times, default=0.0)
        return after

    def seconds_left(self, now: float) -> float:
        """Return how long the next pod must wait."""
        return backoff_seconds(self._failures, self._last_failure, now)
