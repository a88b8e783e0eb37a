"""The conditions of Jobs, and the policy that ends one early.

Mirrors ``success_policy.go`` and the conditions of ``job_controller.go`` in
``pkg/controller/job`` (Kubernetes v1.37).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Job, JobCondition, SuccessPolicyRule, Time
from quaymaster._clusters.inmemory.controllers.index_ranges import IndexRanges

__all__ = [
    "condition_of",
    "is_finished",
    "matching_success_rule",
    "new_condition",
    "with_condition",
]

_FINAL: Final = ("Complete", "Failed")

Conditions = tuple[JobCondition, ...]


def new_condition(
    kind: str, reason: str, message: str, now: float, *, status: str = "True"
) -> JobCondition:
    """Return a condition that begins now."""
    return JobCondition(
        type=kind,
        status=status,
        last_probe_time=Time(now),
        last_transition_time=Time(now),
        reason=reason,
        message=message,
    )


def condition_of(conditions: Conditions, *types: str) -> JobCondition | None:
    """Return the first condition of these types that is true, or None."""
    for condition in conditions:
        if condition.type in types and condition.status == "True":
            return condition
    return None


def with_condition(conditions: Conditions, new: JobCondition) -> Conditions:
    """Return the conditions with one set, as ``ensureJobConditionStatus`` does.

    A condition that is missing is not added as ``False``; an equal one keeps its time.
    """
    for index, old in enumerate(conditions):
        if old.type == new.type:
            times = {
                "last_probe_time": old.last_probe_time,
                "last_transition_time": old.last_transition_time,
            }
            # Times are left out of the comparison: a Job that is only looked at again
            # has not changed.
            if replace(new, **times) == old:
                return conditions
            return (*conditions[:index], new, *conditions[index + 1 :])
    return conditions if new.status == "False" else (*conditions, new)


def is_finished(job: Job) -> bool:
    """Return whether a Job's status is final, so that nothing is left to do."""
    return condition_of(job.status.conditions, *_FINAL) is not None


def matching_success_rule(job: Job, completed: IndexRanges) -> int | None:
    """Return the number of the first rule by which a Job has succeeded, or None."""
    policy = job.spec.success_policy
    if policy is None or not len(completed):
        return None
    limit = job.spec.completions or 0
    for number, rule in enumerate(policy.rules):
        if _matches(rule, completed, limit):
            return number
    return None


def _matches(rule: SuccessPolicyRule, completed: IndexRanges, limit: int) -> bool:
    count = rule.succeeded_count
    if rule.succeeded_indexes is None:
        return count is not None and len(completed) >= count
    required = IndexRanges(rule.succeeded_indexes, limit)
    common = completed.count_in(required)
    # A rule whose indexes the Job does not have must not end it at once.
    if not len(required):
        return False
    return common == len(required) or (count is not None and common >= count)
