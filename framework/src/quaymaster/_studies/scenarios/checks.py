"""The conditions of assertions, waits and checks."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, Literal

import attrs

from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import (
    duration,
    integer,
    matching,
    non_empty,
    number,
)

__all__ = [
    "Assertion",
    "Balance",
    "Checks",
    "Cost",
    "Evictions",
    "GroupCheck",
    "NodeCount",
    "PendingTime",
    "Placed",
    "PodChoice",
    "PodCount",
    "Utilization",
    "WaitUntil",
]

_NOTHING: Final = timedelta()
_count: Final = integer(0)
_percent: Final = matching(r"[0-9]+(?:\.[0-9]+)?%", "a percentage such as 80%")
_time: Final = duration(_NOTHING)


@attrs.frozen(kw_only=True)
class PodChoice:
    """Selects pods: those that match all fields; without fields, all pods.

    Attributes:
        selector: A label selector as in kubectl: app=web,tier in (a, b).
        namespace: Their namespace.
        of: The workload that they belong to, as KIND/NAME or NAMESPACE/KIND/NAME:
            deploy/web, batch/job/nightly.
        name: Their name; * matches any text.
        priority_at_least: Their priority is this or more.
        priority_at_most: Their priority is this or less.
    """

    selector: str | None = None
    namespace: str | None = attrs.field(default=None, validator=non_empty())
    of: str | None = attrs.field(
        default=None,
        validator=matching(
            "[^/]+/[^/]+(?:/[^/]+)?",
            "KIND/NAME or NAMESPACE/KIND/NAME, such as deploy/web",
        ),
    )
    name: str | None = attrs.field(default=None, validator=non_empty())
    priority_at_least: int | None = None
    priority_at_most: int | None = None


@attrs.frozen(kw_only=True)
class Placed:
    """Every selected pod got a node.

    Attributes:
        pods: The pods; at least one must exist.
        by: The deadline; pods that were created later do not count. By default the end.
        at_least: How many pods must have a node; by default all.
    """

    pods: PodChoice = PodChoice()
    by: timedelta | None = attrs.field(default=None, validator=_time)
    at_least: int | None = attrs.field(default=None, validator=integer(1))


@attrs.frozen(kw_only=True)
class PendingTime:
    """No selected pod waits too long for a node after its creation.

    Attributes:
        pods: Which pods.
        at_most: How long a pod may wait.
        percentile: The percentage of pods that must meet the limit; by default all.
    """

    pods: PodChoice = PodChoice()
    at_most: timedelta = attrs.field(validator=_time)
    percentile: float = attrs.field(default=100.0, validator=number(0, 100))


def _one_bound(
    at_least: object, at_most: object, equals: object = None
) -> Iterator[ArgsError]:
    if at_least is None and at_most is None and equals is None:
        yield ArgsError("", "expected a bound: atLeast, atMost or equals")
    if equals is not None and (at_least is not None or at_most is not None):
        yield ArgsError("equals", "expected no other bound beside it")


@attrs.frozen(kw_only=True)
class PodCount:
    """How many pods are in a state.

    Attributes:
        pods: Which pods.
        state: Pending: without a node; Running: on a node that is there; Succeeded:
            they have ended, and are not deleted yet; Any: not deleted yet.
        at_least: At least so many.
        at_most: At most so many.
        equals: Exactly so many.
    """

    pods: PodChoice = PodChoice()
    state: Literal["Pending", "Running", "Succeeded", "Any"] = "Any"
    at_least: int | None = attrs.field(default=None, validator=_count)
    at_most: int | None = attrs.field(default=None, validator=_count)
    equals: int | None = attrs.field(default=None, validator=_count)

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is a bound."""
        yield from _one_bound(self.at_least, self.at_most, self.equals)


@attrs.frozen(kw_only=True)
class NodeCount:
    """How many nodes there are.

    Attributes:
        selector: A label selector as in kubectl.
        state: Used: a pod that is not of a DaemonSet runs there; Empty: no such pod;
            Any: all nodes.
        at_least: At least so many.
        at_most: At most so many.
        equals: Exactly so many.
    """

    selector: str | None = None
    state: Literal["Used", "Empty", "Any"] = "Any"
    at_least: int | None = attrs.field(default=None, validator=_count)
    at_most: int | None = attrs.field(default=None, validator=_count)
    equals: int | None = attrs.field(default=None, validator=_count)

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is a bound."""
        yield from _one_bound(self.at_least, self.at_most, self.equals)


@attrs.frozen(kw_only=True)
class Utilization:
    """The requested share of a resource of nodes.

    Attributes:
        resource: Which resource: cpu, memory, pods, nvidia.com/gpu, ...
        selector: A label selector of nodes as in kubectl; by default all.
        of: Together: all nodes taken as one; Each: every node by itself.
        at_least: At least so much.
        at_most: At most so much.
    """

    resource: str = attrs.field(default="cpu", validator=non_empty())
    selector: str | None = None
    of: Literal["Together", "Each"] = "Together"
    at_least: str | None = attrs.field(default=None, validator=_percent)
    at_most: str | None = attrs.field(default=None, validator=_percent)

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is a bound."""
        if self.at_least is None and self.at_most is None:
            yield ArgsError("", "expected a bound: atLeast or atMost")


@attrs.frozen(kw_only=True)
class Balance:
    """How evenly running pods are spread over zones, or over other domains.

    Attributes:
        pods: Which pods.
        topology_key: The label of nodes whose values are the domains. Nodes that do not
            have it do not matter; a domain without pods counts as long as it has nodes.
        max_skew: By how much the fullest domain may exceed the emptiest one.
    """

    pods: PodChoice = PodChoice()
    topology_key: str = attrs.field(
        default="topology.kubernetes.io/zone", validator=non_empty()
    )
    max_skew: int = attrs.field(validator=_count)


@attrs.frozen(kw_only=True)
class GroupCheck:
    """PodGroups are in a state. The feature gate GenericWorkload must be on.

    Attributes:
        name: Their name; * matches any text. By default all; one must exist.
        namespace: Their namespace.
        state: Scheduled: the quorum of the group runs, and none of its pods is pending;
            Quorum: at least its quorum runs; Pending: none of its pods runs.
    """

    name: str | None = attrs.field(default=None, validator=non_empty())
    namespace: str | None = attrs.field(default=None, validator=non_empty())
    state: Literal["Scheduled", "Quorum", "Pending"] = "Scheduled"


@attrs.frozen(kw_only=True)
class Evictions:
    """How many pods were evicted, preempted or lost.

    Attributes:
        pods: Which pods.
        causes: Preempted: for a pod of higher priority; Drained: evicted by a drain;
            Scaled: evicted by the autoscaler; Lost: deleted with their node. By default
            all of these.
        at_most: The maximum number.
    """

    pods: PodChoice = PodChoice()
    causes: tuple[Literal["Preempted", "Drained", "Scaled", "Lost"], ...] = attrs.field(
        default=("Preempted", "Drained", "Scaled", "Lost"), validator=non_empty()
    )
    at_most: int = attrs.field(default=0, validator=_count)


@attrs.frozen(kw_only=True)
class Cost:
    """What the nodes of the autoscaler cost, from their orders on.

    Attributes:
        groups: The names of their groups; by default all.
        at_least: At least so much.
        at_most: At most so much.
    """

    groups: tuple[str, ...] = ()
    at_least: float | None = attrs.field(default=None, validator=number(0))
    at_most: float | None = attrs.field(default=None, validator=number(0))

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is a bound."""
        if self.at_least is None and self.at_most is None:
            yield ArgsError("", "expected a bound: atLeast or atMost")


@attrs.frozen(kw_only=True)
class Checks:
    """A condition: exactly one of these.

    Attributes:
        placed: Every selected pod got a node.
        pods: How many pods are in a state.
        nodes: How many nodes there are.
        utilization: The requested share of a resource of nodes.
        balance: How evenly running pods are spread over zones.
        pending_time: No selected pod waits too long for a node.
        evictions: How many pods were evicted, preempted or lost.
        pod_groups: PodGroups are in a state.
        cost: What the nodes of the autoscaler cost.
    """

    placed: Placed | None = None
    pods: PodCount | None = None
    nodes: NodeCount | None = None
    utilization: Utilization | None = None
    balance: Balance | None = None
    pending_time: PendingTime | None = None
    evictions: Evictions | None = None
    pod_groups: GroupCheck | None = None
    cost: Cost | None = None

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is one condition."""
        if len(self.given()) != 1:
            names = (
                "placed, pods, nodes, utilization, balance, pendingTime, evictions, "
                "podGroups, cost"
            )
            yield ArgsError("", f"expected exactly one of {names}")

    def given(self) -> list[str]:
        """Return the names of the conditions that are set."""
        names = [field.name for field in attrs.fields(Checks)]
        return [name for name in names if getattr(self, name) is not None]


@attrs.frozen(kw_only=True)
class WaitUntil(Checks):
    """Waits until a condition holds.

    Attributes:
        timeout: The maximum wait. If the condition does not hold by then, the scenario
            fails, but continues.
    """

    timeout: timedelta = attrs.field(validator=_time)


@attrs.frozen(kw_only=True)
class Assertion(Checks):
    """A condition that has to hold, at a moment or for a while.

    Attributes:
        name: Its name in results.
        at: The moment, once all that is due then has happened. Without it, and without
            from and to, it is the end of the scenario for pods, nodes, utilization and
            balance; placed, pendingTime, evictions and cost look at everything.
        since: The beginning of a time in which the condition has to hold always.
        to: The end of that time, which belongs to it; by default that of the scenario.
    """

    name: str = ""
    at: timedelta | None = attrs.field(default=None, validator=_time)
    since: timedelta | None = attrs.field(
        default=None, validator=_time, metadata={"key": "from"}
    )
    to: timedelta | None = attrs.field(default=None, validator=_time)

    def validate(self) -> Iterator[ArgsError]:
        """Check that condition and times go together."""
        yield from Checks.validate(self)
        is_window = self.since is not None or self.to is not None
        if self.at is not None and is_window:
            yield ArgsError("at", "expected not together with from or to")
        if self.placed is not None and (self.at is not None or is_window):
            yield ArgsError("placed", "expected 'by' inside it, no at, from or to")
        lasts = self.pending_time or self.evictions or self.cost
        if self.at is not None and lasts:
            yield ArgsError("at", "expected from and to, or no time at all, with this")
        if self.since is not None and self.to is not None and self.since > self.to:
            yield ArgsError("from", "expected at most to")
