"""Checks the failure, success and replacement policies of Jobs.

Mirrors ``validatePodFailurePolicy``, ``validateSuccessPolicy`` and
``validatePodReplacementPolicy`` (Kubernetes v1.37,
``pkg/apis/batch/validation/validation.go``).
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from quaymaster._api.objects import (
    JobSpec,
    PodFailurePolicy,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
    SuccessPolicyRule,
)
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import LABEL_KEY

__all__ = ["check_job_policies"]

_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS: Final = ("In", "NotIn")
_STATUSES: Final = ("False", "True", "Unknown")
_REPLACEMENTS: Final = ("Failed", "TerminatingOrFailed")
_MAX_RULES: Final = 20
_MAX_PATTERNS: Final = 20
_MAX_EXIT_CODES: Final = 255
_MAX_INDEXES_LENGTH: Final = 64 * 1024
# ``strconv.Atoi`` accepts a plus sign.
_NUMBER: Final = re.compile(r"\+?[0-9]+", re.ASCII)


def check_job_policies(spec: JobSpec, report: Report) -> None:
    """Check the policies of a Job whose defaults are filled in."""
    if spec.pod_failure_policy is not None:
        _check_failure_policy(spec, spec.pod_failure_policy, report)
    if spec.success_policy is not None:
        path = "spec.successPolicy"
        if spec.completion_mode == "Indexed":
            _check_success_rules(
                spec.success_policy.rules, spec, f"{path}.rules", report
            )
        else:
            report.add(path, "expected none, since the Job is not Indexed")
    if spec.pod_replacement_policy is not None:
        # With a failure policy, ``Failed`` is the only choice, for the same reason as
        # in `job_defaults`.
        allowed = _REPLACEMENTS[:1] if spec.pod_failure_policy else _REPLACEMENTS
        path = "spec.podReplacementPolicy"
        report.one_of(spec.pod_replacement_policy, allowed, path)


def _check_failure_policy(
    spec: JobSpec, policy: PodFailurePolicy, report: Report
) -> None:
    path = "spec.podFailurePolicy.rules"
    _check_number_of(policy.rules, _MAX_RULES, path, report)
    pod = spec.template.spec
    containers = frozenset(c.name for c in (*pod.containers, *pod.init_containers))
    for index, rule in enumerate(policy.rules):
        where = f"{path}[{index}]"
        report.one_of(rule.action, _ACTIONS, f"{where}.action")
        if rule.action == "FailIndex" and spec.backoff_limit_per_index is None:
            message = "expected another action, since there is no backoffLimitPerIndex"
            report.add(f"{where}.action", message)
        _check_rule(rule, containers, where, report)


def _check_rule(
    rule: PodFailurePolicyRule, containers: frozenset[str], path: str, report: Report
) -> None:
    codes, conditions = rule.on_exit_codes, rule.on_pod_conditions
    if codes is not None:
        _check_exit_codes(codes, containers, f"{path}.onExitCodes", report)
    _check_conditions(conditions, f"{path}.onPodConditions", report)
    if (codes is None) is not bool(conditions):
        got = "both" if conditions else "none"
        report.add(path, f"expected either onExitCodes or onPodConditions, got {got}")


def _check_exit_codes(
    codes: PodFailurePolicyOnExitCodesRequirement,
    containers: frozenset[str],
    path: str,
    report: Report,
) -> None:
    report.one_of(codes.operator, _OPERATORS, f"{path}.operator")
    name, values, where = codes.container_name, codes.values, f"{path}.values"
    if name is not None:
        expected = "the name of one of the template's containers"
        report.expect(name in containers, f"{path}.containerName", expected, name)
    if not values:
        report.add(where, "expected at least one exit code, got none")
    _check_number_of(values, _MAX_EXIT_CODES, where, report)
    seen: set[int] = set()
    for index, value in enumerate(values):
        # A container that ends with 0 has not failed; with NotIn, 0 is harmless.
        if value == 0 and codes.operator == "In":
            report.add(f"{where}[{index}]", "expected another than 0 for In")
        is_new = value not in seen
        report.expect(is_new, f"{where}[{index}]", "no repetition", value)
        seen.add(value)
    if any(before > after for before, after in pairwise(values)):
        report.add(where, "expected them in ascending order")


def _check_conditions(
    patterns: Sequence[PodFailurePolicyOnPodConditionsPattern],
    path: str,
    report: Report,
) -> None:
    _check_number_of(patterns, _MAX_PATTERNS, path, report)
    for index, pattern in enumerate(patterns):
        report.formed(pattern.type, LABEL_KEY, f"{path}[{index}].type")
        report.one_of(pattern.status, _STATUSES, f"{path}[{index}].status")


def _check_success_rules(
    rules: Sequence[SuccessPolicyRule], spec: JobSpec, path: str, report: Report
) -> None:
    if not rules:
        report.add(path, "expected at least one rule, got none")
    _check_number_of(rules, _MAX_RULES, path, report)
    for index, rule in enumerate(rules):
        _check_success_rule(rule, spec.completions or 0, f"{path}[{index}]", report)


def _check_success_rule(
    rule: SuccessPolicyRule, completions: int, path: str, report: Report
) -> None:
    indexes, count = rule.succeeded_indexes, rule.succeeded_count
    if indexes is None and count is None:
        report.add(path, "expected succeededCount or succeededIndexes, got none")
    total = completions
    if indexes is not None:
        where = f"{path}.succeededIndexes"
        if len(indexes) > _MAX_INDEXES_LENGTH:
            expected = f"at most {_MAX_INDEXES_LENGTH} characters"
            report.expect(False, where, expected, len(indexes))
        try:
            # Indexes beyond the completions are reported already; here they must not
            # raise the limit of the count.
            total = min(completions, _number_of_indexes(indexes, completions))
        except ValueError as error:
            report.add(where, str(error))
            # As upstream: with unreadable indexes, each positive count is too large,
            # too.
            total = 0
    where = f"{path}.succeededCount"
    report.at_least(count, where)
    if count is not None and count > total:
        report.expect(False, where, f"at most the number of indexes, {total}", count)


def _check_number_of(
    items: Sequence[object], most: int, path: str, report: Report
) -> None:
    if len(items) > most:
        report.expect(False, path, f"at most {most} of them", len(items))


def _number_of_indexes(text: str, completions: int) -> int:
    """Return how many indexes a text such as ``0,3-5`` names.

    Raises:
        ValueError: It names no indexes, or not in ascending order.
    """
    total, last = 0, -1
    for part in text.split(",") if text else ():
        bounds = [_index(bound, completions) for bound in part.split("-")]
        if len(bounds) > 2:
            raise ValueError(f"expected an index or two such as 3-5, got {part!r}")
        first, end = bounds[0], bounds[-1]
        if first <= last or (len(bounds) == 2 and first >= end):
            raise ValueError(f"expected indexes in ascending order, got {part!r}")
        total += end - first + 1
        last = end
    return total


def _index(text: str, completions: int) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"expected indexes such as 0,3-5, got {text!r}")
    if int(text) >= completions:
        raise ValueError(f"expected indexes below {completions}, got {text!r}")
    return int(text)
