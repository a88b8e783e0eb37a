"""The arguments of PodTopologySpread.

Mirrors ``PodTopologySpreadArgs`` (kube-scheduler 1.36.2,
``pkg/scheduler/apis/config``: types, defaults and validation).
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from quaymaster.config import (
    ZERO_MEANS_DEFAULT,
    ArgsError,
    Rule,
    integer,
    one_of,
    qualified_name,
)
from quaymaster.objects import TopologySpreadConstraint

__all__ = ["DefaultingType", "PodTopologySpreadArgs"]

_MAX_SKEW: Final = integer(1)
_TOPOLOGY_KEY: Final = qualified_name()
_WHEN_UNSATISFIABLE: Final = one_of("DoNotSchedule", "ScheduleAnyway")


class DefaultingType(enum.StrEnum):
    """The source of constraints for pods without constraints."""

    SYSTEM = "System"
    """Soft constraints over hosts and zones."""

    LIST = "List"
    """The ``defaultConstraints``, if any."""


@attrs.frozen(kw_only=True)
class PodTopologySpreadArgs:
    """The arguments of PodTopologySpread.

    Attributes:
        default_constraints: For pods without constraints that belong to a Service,
            ReplicationController, ReplicaSet or StatefulSet. Its selector decides
            which pods count, so a constraint must not have one.
        defaulting_type: Whether to use these or the system's constraints.
    """

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: DefaultingType = attrs.field(
        default=DefaultingType.SYSTEM, metadata=ZERO_MEANS_DEFAULT
    )

    def validate(self) -> Iterator[ArgsError]:
        """Yield the errors of the default constraints."""
        constraints = self.default_constraints
        if constraints and self.defaulting_type is DefaultingType.SYSTEM:
            message = "expected 'List', since there are defaultConstraints"
            yield ArgsError("defaultingType", message)
        for index, constraint in enumerate(constraints):
            path = f"defaultConstraints[{index}]"
            yield from _problems(path, constraint)
            if _repeats(constraint, constraints[:index]):
                message = "repeats the topologyKey and whenUnsatisfiable of another one"
                yield ArgsError(path, message)


def _problems(path: str, constraint: TopologySpreadConstraint) -> Iterator[ArgsError]:
    checks: Sequence[tuple[str, Rule, object]] = (
        ("maxSkew", _MAX_SKEW, constraint.max_skew),
        ("topologyKey", _TOPOLOGY_KEY, constraint.topology_key),
        ("whenUnsatisfiable", _WHEN_UNSATISFIABLE, constraint.when_unsatisfiable),
    )
    for key, rule, value in checks:
        for _, message in rule.complaints(value):
            yield ArgsError(f"{path}.{key}", message)
    # ``ValidatePodTopologySpreadArgs`` rejects it: the selector follows from the
    # services and controllers of each pod.
    if constraint.label_selector is not None:
        message = "expected none, since it follows from what each pod belongs to"
        yield ArgsError(f"{path}.labelSelector", message)


def _repeats(
    constraint: TopologySpreadConstraint, others: Sequence[TopologySpreadConstraint]
) -> bool:
    return any(
        constraint.topology_key == other.topology_key
        and constraint.when_unsatisfiable == other.when_unsatisfiable
        for other in others
    )
