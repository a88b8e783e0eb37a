"""The orders of waiting jobs: the job with the smallest key comes first."""

import importlib
import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import attrs
from quaymaster.hookspecs import SortKey

from quaymaster_order.jobs import BatchJob
from quaymaster_order.usage import Usage

__all__ = ["POLICIES", "Policy", "PolicyError", "policy_of"]

KeyOf: TypeAlias = Callable[[BatchJob, float, Usage], SortKey]
"""Returns the key of a job at a time (seconds since the Unix epoch)."""

_SHORTEST: Final = 0.1
_EPSILON: Final = 1e-15


@attrs.frozen
class Policy:
    """An order of jobs.

    Attributes:
        key: Returns the key of a job: the smallest comes first. Jobs with equal keys
            come in the order of their arrival.
        ages: Whether the key of a waiting job changes with the time, or with the jobs
            that run.
        account: How usage is summed up, for an order by usage: ``pod`` for each pod and
            its owner, ``namespace``; empty if usage is not read.
    """

    key: KeyOf
    ages: bool = True
    account: str = ""


class PolicyError(LookupError):
    """The name of an order is unknown."""


def _first_come(job: BatchJob, _now: float, _usage: Usage) -> float:
    return job.created


def _shortest_first(job: BatchJob, _now: float, _usage: Usage) -> tuple[float, float]:
    return job.requested_seconds, job.created


def _f1(job: BatchJob, _now: float, _usage: Usage) -> float:
    """Return F1 of "Obtaining Dynamic Scheduling Policies" (SC '17)."""
    seconds = job.requested_seconds
    size = math.log10(seconds if seconds > 0 else _SHORTEST) * job.cpus
    return size + 870 * math.log10(job.submitted if job.submitted > 0 else _SHORTEST)


def _wfp3(job: BatchJob, now: float, _usage: Usage) -> float:
    """Return WFP3 of "Fault-aware, utility-based job scheduling" (IPDPS '09)."""
    share: float = job.waited(now) / job.requested_seconds
    return float(-(share**3) * job.cpus)


def _unicep(job: BatchJob, now: float, _usage: Usage) -> float:
    """Return UNICEP, as WFP3; the logarithm of jobs below two CPUs is nearly 0."""
    width = math.log2(max(job.cpus, 1.0) + _EPSILON)
    return -(job.waited(now) + _EPSILON) / (width * job.requested_seconds)


def _by_usage(job: BatchJob, now: float, usage: Usage) -> float:
    return usage.of(job.pod, now)


POLICIES: Final[Mapping[str, Policy]] = {
    "FirstCome": Policy(_first_come, ages=False),
    "ShortestFirst": Policy(_shortest_first, ages=False),
    "F1": Policy(_f1, ages=False),
    "WFP3": Policy(_wfp3),
    "UNICEP": Policy(_unicep),
    "LeastAttainedService": Policy(_by_usage, account="pod"),
    "FairShare": Policy(_by_usage, account="namespace"),
}
"""The orders by name."""


def policy_of(name: str) -> Policy:
    """Return an order.

    Args:
        name: Its name, or the place of a `Policy` of your own, such as
            ``package.module:NAME``.

    Raises:
        PolicyError: There is no such order.
    """
    if name in POLICIES:
        return POLICIES[name]
    module, colon, attribute = name.partition(":")
    expected = f"expected one of {', '.join(POLICIES)}, or package.module:NAME"
    if not colon:
        raise PolicyError(f"{expected}, got {name!r}")
    try:
        policy: object = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise PolicyError(f"{name!r} could not be imported: {error}") from error
    if not isinstance(policy, Policy):
        raise PolicyError(f"expected a Policy at {name!r}, got {policy!r}")
    return policy
