"""The state of each group: its nodes by readiness, and its open scale-up.

Mirrors ``clusterstate/clusterstate.go``.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import attrs

from quaymaster._api.objects import Node
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.ages import age_of
from quaymaster._studies.autoscaling.cluster_autoscaler.backoff import Backoff
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import (
    SeenCluster,
    in_order,
)

__all__ = ["GroupStates", "Readiness", "Request", "TimedOut"]


@attrs.define
class Readiness:
    """The nodes of a group, by their names.

    Attributes:
        ready: The number of nodes that run well; there are many of them.
        unready: Nodes that once ran, or needed too long to start.
        not_started: Nodes that are registered and starting.
        unregistered: Machines that are not nodes yet.
        long_unregistered: Machines that should have been nodes long ago.
    """

    ready: int = 0
    unready: list[str] = attrs.field(factory=list)
    not_started: list[str] = attrs.field(factory=list)
    unregistered: list[str] = attrs.field(factory=list)
    long_unregistered: list[str] = attrs.field(factory=list)

    @property
    def registered(self) -> int:
        """The number of nodes in the cluster."""
        return self.ready + len(self.unready) + len(self.not_started)

    @property
    def settled(self) -> int:
        """The number of machines that are no longer expected to change."""
        return self.ready + len(self.unready) + len(self.long_unregistered)


@attrs.define
class Request:
    """A scale-up that has not come to its end.

    Attributes:
        increase: The number of its nodes.
        time: When it was ordered last.
    """

    increase: int
    time: float


@attrs.frozen
class TimedOut:
    """A scale-up whose nodes did not come in time.

    Attributes:
        group: The group.
        age: How long ago it was ordered last, in seconds.
        refusal: Why the cloud did not cancel its nodes; empty if it did.
    """

    group: str
    age: float
    refusal: str


@attrs.frozen
class _WrongSize:
    nodes: int
    target: int
    since: float


class GroupStates:
    """Follows the groups from loop to loop.

    Args:
        cloud: The groups.
        options: The options of the autoscaler.

    Attributes:
        backoff: Which groups may not grow for a while.
        requests: The open scale-ups by group.
    """

    def __init__(self, cloud: Cloud, options: ClusterAutoscalerOptions) -> None:
        self._cloud = cloud
        self._options = options
        self.backoff = Backoff(options)
        self.requests: dict[str, Request] = {}
        self._readiness: Mapping[str, Readiness] = {}
        self._unready = 0
        self._nodes = 0
        # As upstream, a loop works with the sizes that it has read at its start, also
        # after it has cancelled or deleted machines.
        self._targets: Mapping[str, int] = {**cloud.sizes}
        self._missing_since: dict[str, float] = {}
        self._wrong_sizes: dict[str, _WrongSize] = {}

    def update(self, seen: SeenCluster, now: float) -> Sequence[TimedOut]:
        """Look at the nodes, and end the requests that are fulfilled or too old.

        Returns:
            The requests that were too old.
        """
        self._nodes = len(seen.nodes)
        self.read_sizes()
        self._count(seen, now)
        self.backoff.forget_old(now)
        late = [*self._end_requests(now)]
        self._note_wrong_sizes(now)
        return late

    def _count(self, seen: SeenCluster, now: float) -> None:
        """Count the nodes: those that are ready together, the others one by one."""
        first = in_order(
            next(iter(own.values())) for own in seen.members.values() if own
        )
        readiness = defaultdict(
            Readiness,
            {
                each.group: Readiness(ready=len(seen.members[each.group]))
                for each in first
            },
        )
        self._unready = 0
        for each in in_order(seen.not_ready.values()):
            is_unready = self._is_old(each.node, now)
            self._unready += is_unready
            if each.group:
                own = readiness[each.group]
                own.ready -= 1
                (own.unready if is_unready else own.not_started).append(each.name)
        missing = self._cloud.unregistered
        self._missing_since = {
            name: self._missing_since.get(name, now) for name in missing
        }
        limit = now - self._options.max_node_provision_time
        for name, machine in missing.items():
            own = readiness[machine.group]
            is_late = self._missing_since[name] < limit
            (own.long_unregistered if is_late else own.unregistered).append(name)
        self._readiness = readiness

    def _is_old(self, node: Node, now: float) -> bool:
        """Return whether a node is too old to be starting still."""
        age = age_of(node.metadata.creation_timestamp, now)
        return age >= self._options.max_node_startup_time

    def read_sizes(self) -> None:
        """Read the target sizes again; for use after groups were resized."""
        self._targets = {**self._cloud.sizes}

    def _end_requests(self, now: float) -> Iterable[TimedOut]:
        for group, request in [*self.requests.items()]:
            if self.upcoming_in(group) <= 0:
                del self.requests[group]
            elif request.time + self._options.max_node_provision_time < now:
                self.backoff.fail(group, now)
                refusal = self._cloud.decrease(group, request.increase)
                del self.requests[group]
                yield TimedOut(group, now - request.time, refusal)

    def _note_wrong_sizes(self, now: float) -> None:
        sizes: dict[str, _WrongSize] = {}
        for group, readiness in self._readiness.items():
            target, nodes = self._targets[group], readiness.registered
            missing = len(readiness.unregistered) + len(readiness.long_unregistered)
            if target - missing <= nodes <= target:
                continue
            before = self._wrong_sizes.get(group)
            is_same = before is not None and (before.nodes, before.target) == (
                nodes,
                target,
            )
            since = before.since if before is not None and is_same else now
            sizes[group] = _WrongSize(nodes, target, since)
        self._wrong_sizes = sizes

    def fix_sizes(self, now: float) -> bool:
        """Lower target sizes that were too high for too long.

        Returns:
            Whether there were any.
        """
        limit = now - self._options.max_node_provision_time
        is_fixed = False
        for group, wrong in self._wrong_sizes.items():
            if wrong.since < limit and wrong.nodes < wrong.target:
                self._cloud.decrease(group, wrong.target - wrong.nodes)
                is_fixed = True
        return is_fixed

    def note_scale_up(self, group: str, more: int, now: float) -> None:
        """Note that a group gets more nodes."""
        request = self.requests.setdefault(group, Request(0, now))
        request.increase += more
        request.time = now
        self.read_sizes()

    def old_unregistered(self) -> Mapping[str, Sequence[str]]:
        """Return the machines that should have been nodes long ago, by group."""
        return {
            group: readiness.long_unregistered
            for group, readiness in self._readiness.items()
            if readiness.long_unregistered
        }

    @property
    def is_healthy(self) -> bool:
        """Whether the cluster has few unready nodes."""
        options, unready = self._options, self._unready
        share = options.max_total_unready_percentage / 100 * self._nodes
        return unready <= options.ok_total_unready_count or unready <= share

    def is_group_healthy(self, group: str) -> bool:
        """Return whether a group lacks few nodes."""
        options, target = self._options, self._targets[group]
        readiness = self._readiness.get(group)
        request = self.requests.get(group)
        least = target - (request.increase if request else 0)
        if readiness is None:
            return target == 0 or (least == 0 and target > 0)
        least -= len(readiness.long_unregistered)
        missing = least - readiness.ready
        share = options.max_total_unready_percentage / 100 * readiness.registered
        return missing <= options.ok_total_unready_count or missing <= share

    def upcoming_in(self, group: str) -> int:
        """Return how many nodes of a group are expected to become ready."""
        readiness = self._readiness.get(group)
        target = self._targets[group]
        return target if readiness is None else target - readiness.settled

    def upcoming(self, now: float) -> Mapping[str, tuple[int, Sequence[str]]]:
        """Return the nodes that are expected, by group.

        Returns:
            Group -> how many nodes, and the names of those that are registered.
        """
        expected: dict[str, tuple[int, Sequence[str]]] = {}
        for group in self._cloud.groups:
            count = self.upcoming_in(group)
            is_open = group in self.requests
            if count > 0 and is_open and not self.backoff.is_active(group, now):
                readiness = self._readiness.get(group)
                names = readiness.not_started if readiness is not None else ()
                expected[group] = (count, names)
        return expected
