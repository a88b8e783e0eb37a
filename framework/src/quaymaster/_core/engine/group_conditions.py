"""Writes the condition that a group has been scheduled, or why it has not.

Mirrors ``updatePodGroupCondition`` (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``).
"""

import logging
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Time
from quaymaster._api.objects.device_claims import Condition
from quaymaster._api.objects.groups import PodGroup
from quaymaster._core.binding.executor import Executor
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import (
    ApiError,
    Cluster,
    ConflictError,
    NotFoundError,
)
from quaymaster._core.contract.status import Status

__all__ = ["GroupConditions"]

_SCHEDULED: Final = "PodGroupInitiallyScheduled"
# Chosen, not measured: as many as client-go's ``retry.DefaultRetry``.
_TRIES: Final = 5
_FIRST_DELAY: Final = 1.0
_LONGEST_DELAY: Final = 16.0
"""Seconds until a call is repeated: 1, 2, 4, 8 and 16."""

_log = logging.getLogger(__name__)


class GroupConditions:
    """Writes the condition ``PodGroupInitiallyScheduled`` of groups.

    Args:
        cluster: The cluster of the groups.
        executor: Makes the calls.
        clock: Gives the times of transitions.
    """

    def __init__(self, cluster: Cluster, executor: Executor, clock: Clock) -> None:
        self._cluster = cluster
        self._executor = executor
        self._clock = clock
        self._latest: dict[str, Condition] = {}
        """Uid of a group -> the condition that is being written."""

    def update(self, group: PodGroup, status: Status | None) -> None:
        """Write the condition of a group after its cycle, if it has changed.

        Once it is True, later failures do not change it.

        Args:
            group: The group, as it was in the cycle.
            status: The status of the group; None for success.
        """
        condition = _condition(group, status)
        conditions = self._changed(group, condition)
        if conditions is None:
            return

        self._latest[group.uid] = condition
        self._submit(group, condition, conditions, _FIRST_DELAY)

    def _submit(
        self,
        group: PodGroup,
        condition: Condition,
        conditions: Sequence[Condition],
        delay: float,
    ) -> None:
        """Write the conditions, and try again later if the server refuses them.

        A server that has just been started refuses calls for some seconds. No later
        cycle writes the condition of a group that has been scheduled.
        """

        def call() -> ApiError | None:
            return self._write(group, condition, conditions)

        def is_latest() -> bool:
            # Identity: a later cycle may write an equal condition by itself.
            return self._latest.get(group.uid) is condition

        def again() -> None:
            if is_latest():
                self._submit(group, condition, conditions, 2 * delay)

        def done(error: ApiError | None) -> None:
            _log_error(group, error)
            is_final = error is None or isinstance(error, NotFoundError)
            if not is_final and delay <= _LONGEST_DELAY:
                self._clock.call_later(delay, again)
            elif is_latest():
                del self._latest[group.uid]

        self._executor.submit(call, done, blocks=False)

    def _write(
        self,
        group: PodGroup,
        condition: Condition,
        conditions: Sequence[Condition] | None,
    ) -> ApiError | None:
        """Write the conditions; if the group has changed, work on the stored one."""
        failure: ApiError | None = None
        for _ in range(_TRIES):
            if conditions is None:
                return None
            try:
                self._cluster.patch_status(group, {"conditions": tuple(conditions)})
            except ConflictError as error:
                failure = error
            except ApiError as error:
                return error
            else:
                return None
            try:
                stored = self._cluster.get(PodGroup, group.key)
            except ApiError as error:
                return error
            if stored.uid != group.uid:
                return None
            group, conditions = stored, self._changed(stored, condition)
        return failure

    def _changed(
        self, group: PodGroup, condition: Condition
    ) -> Sequence[Condition] | None:
        """Return the conditions with a new one, or None if nothing changes.

        Mirrors ``SetStatusCondition`` (k8s.io/apimachinery v0.37,
        ``pkg/api/meta/conditions.go``).
        """
        now = Time(self._clock.now())
        conditions = list(group.status.conditions)
        for index, existing in enumerate(conditions):
            if existing.type != condition.type:
                continue
            if existing.status == "True" and condition.status != "True":
                return None
            is_same = existing.status == condition.status
            since = existing.last_transition_time if is_same else now
            new = replace(condition, last_transition_time=since)
            if new == existing:
                return None
            conditions[index] = new
            return conditions
        return [*conditions, replace(condition, last_transition_time=now)]


def _condition(group: PodGroup, status: Status | None) -> Condition:
    if status is None:
        value, reason, message = "True", "Scheduled", ""
    else:
        reason = "Unschedulable" if status.is_rejected else "SchedulerError"
        value, message = "False", status.message
    return Condition(
        type=_SCHEDULED,
        status=value,
        reason=reason,
        message=message,
        observed_generation=group.metadata.generation,
    )


def _log_error(group: PodGroup, error: ApiError | None) -> None:
    if error is not None:
        text = "the status of pod group %s could not be patched: %s"
        _log.error(text, group.key, error)
