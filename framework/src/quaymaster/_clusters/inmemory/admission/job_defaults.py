"""Defaults of Jobs.

Mirrors ``SetDefaults_Job`` and ``SetDefaults_PodFailurePolicyOnPodConditionsPattern``
(Kubernetes v1.37, ``pkg/apis/batch/v1/defaults.go``).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    JobSpec,
    PodFailurePolicy,
    PodFailurePolicyRule,
)

__all__ = ["default_job_spec"]

_ANY_NUMBER: Final = 2**31 - 1


def default_job_spec(spec: JobSpec) -> JobSpec:
    """Return the spec of a Job with its defaults, except its template."""
    completions = spec.completions
    # Both unset means a single pod. With a parallelism alone, it is a work queue, whose
    # completions stay unset: the Job ends with any success.
    if completions is None and spec.parallelism is None:
        completions = 1
    policy = spec.pod_failure_policy
    return replace(
        spec,
        completions=completions,
        parallelism=1 if spec.parallelism is None else spec.parallelism,
        backoff_limit=_backoff_limit(spec),
        pod_failure_policy=None if policy is None else _failure_policy(policy),
        pod_replacement_policy=_replacement_policy(spec),
        completion_mode=(
            "NonIndexed" if spec.completion_mode is None else spec.completion_mode
        ),
        suspend=bool(spec.suspend),
    )


def _backoff_limit(spec: JobSpec) -> int:
    """Return how many pods of a Job may fail; any number if its indexes count."""
    if spec.backoff_limit is not None:
        return spec.backoff_limit
    # With a limit per index, the total limit must not stop the Job first.
    return 6 if spec.backoff_limit_per_index is None else _ANY_NUMBER


def _replacement_policy(spec: JobSpec) -> str:
    if spec.pod_replacement_policy is not None:
        return spec.pod_replacement_policy
    # A failure policy needs the final exit codes, so a pod that is still terminating
    # must not be replaced yet.
    return "TerminatingOrFailed" if spec.pod_failure_policy is None else "Failed"


def _failure_policy(policy: PodFailurePolicy) -> PodFailurePolicy:
    return replace(policy, rules=tuple(map(_rule, policy.rules)))


def _rule(rule: PodFailurePolicyRule) -> PodFailurePolicyRule:
    conditions = tuple(
        pattern if pattern.status else replace(pattern, status="True")
        for pattern in rule.on_pod_conditions
    )
    return replace(rule, on_pod_conditions=conditions)
