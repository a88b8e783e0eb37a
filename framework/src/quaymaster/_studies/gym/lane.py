"""One of many runs that a `SchedulerVectorEnv` plays."""

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Sequence, Set

from quaymaster._core.state.arrays import Int64Array
from quaymaster._studies.gym.compiled_workloads import CompiledWorkload
from quaymaster._studies.gym.node_states import NodeStates
from quaymaster._studies.gym.pod_kinds import PodKind

__all__ = ["Lane"]


class Lane:
    """A run: its time, its waiting pods, and the states of its nodes.

    At one instant, pods end first, then pods arrive, then the agent decides. With
    arrivals first, pods arrive, then the agent decides; then pods end one by one, in
    the order in which they were started, and the agent decides after each.

    Args:
        compiled: The workload.
        table: The states of nodes, shared by all lanes.
        row: Shape ``(N,)``: where the states of this lane's nodes are written.
        window: How many of the waiting pods the agent sees.
        head_of_line: Whether a chosen pod waits for its node, and nothing passes it.
        departures_first: Whether pods end before others arrive.

    Attributes:
        compiled: The workload.
        now: The time on the cluster's clock.
        queue: The waiting pods, as positions among the arrivals, in their order.
        departures_first: Whether pods end before others arrive.
        ended: The number of pods that have ended.
        running: For each pod that will end: when, its number in the order of starts,
            its position and its node. A heap.
        committed: The pod and the node that nothing may pass, or None.
        is_over: Whether all decisions have been made.
        waited: Pod-seconds of waiting since `clear`.
        slowed: The slowdown that this waiting has added.
        started: The pods that were started since `clear`, with their nodes and times,
            and how many pods had ended.
        left: How many pods have left since `clear`, because no node was feasible.
    """

    __slots__ = (
        "_changes",
        "_feasible",
        "_may_leave",
        "_next",
        "_numbers",
        "_queued",
        "_remaining",
        "_row",
        "_states",
        "_table",
        "_weight",
        "_window",
        "committed",
        "compiled",
        "departures_first",
        "ended",
        "head_of_line",
        "is_over",
        "left",
        "now",
        "queue",
        "running",
        "slowed",
        "started",
        "waited",
    )

    def __init__(
        self,
        compiled: CompiledWorkload,
        table: NodeStates,
        row: Int64Array,
        *,
        window: int,
        head_of_line: bool,
        departures_first: bool = True,
    ) -> None:
        self.compiled = compiled
        self.head_of_line = head_of_line
        self.departures_first = departures_first
        self.ended = 0
        self.now = compiled.cluster.started
        self.queue: list[int] = []
        self.running: list[tuple[float, int, int, int, PodKind]] = []
        self.committed: tuple[int, int] | None = None
        self.is_over = False
        self._table = table
        self._row = row
        self._window = window
        self._next = 0
        self._numbers = itertools.count()
        self._weight = 0.0
        self._may_leave = any(compiled.leaves)
        # Pods that never end, with their nodes.
        self._remaining: list[tuple[int, int]] = []
        for count, (kind, node, end) in enumerate(compiled.cluster.ending):
            entry = end, next(self._numbers), -1 - count, node, kind
            heapq.heappush(self.running, entry)
        self.clear()
        self.renew(compiled, table)
        self._settle(has_moved=True)

    def clear(self) -> None:
        """Forget what has happened so far."""
        self.waited = self.slowed = 0.0
        self.started: list[tuple[int, int, float, int]] = []
        self.left = 0

    def renew(self, compiled: CompiledWorkload, table: NodeStates) -> None:
        """Continue with other numbers of states and kinds.

        Args:
            compiled: The same workload, with other numbers.
            table: The other states.
        """
        self.compiled, self._table = compiled, table
        ending, kinds = compiled.cluster.ending, compiled.kinds
        states = list(self.empty_states())
        # Sorted as before: no two entries have the same number.
        self.running = [
            (
                end,
                number,
                index,
                node,
                kinds[index] if index >= 0 else ending[-1 - index][0],
            )
            for end, number, index, node, _ in self.running
        ]
        placed = [(kind, node) for *_, node, kind in self.running]
        placed += [(kinds[index], node) for index, node in self._remaining]
        for kind, node in placed:
            states[node] = table.with_pod(states[node], kind)
        self._states = states
        self._queued = Counter(kinds[index] for index in self.queue)
        # For each kind of pods, its feasible nodes, and how many changes they include.
        self._feasible: dict[int, tuple[set[int], int]] = {}
        self._changes: list[int] = []
        self._row[: len(states)] = states

    @property
    def can_wait(self) -> bool:
        """Whether anything will happen if the agent waits."""
        return bool(self.running) or self._next < len(self.compiled.at)

    @property
    def next_end(self) -> float | None:
        """When the next pod ends, on the cluster's clock; None if none will."""
        return self.running[0][0] if self.running else None

    def feasible(self, kind: PodKind) -> Set[int]:
        """Return the feasible nodes for a kind of pods."""
        states, fits, changes = self._states, self._table.fits, self._changes
        nodes, seen = self._feasible.get(kind.number, (None, 0))
        if nodes is not None and seen == len(changes):
            return nodes
        if nodes is None:
            nodes = {node for node, state in enumerate(states) if fits(state, kind)}
        else:
            # Only nodes that have changed since the last question are judged again,
            # each once.
            for node in set(changes[seen:]):
                if fits(states[node], kind):
                    nodes.add(node)
                else:
                    nodes.discard(node)
        self._feasible[kind.number] = nodes, len(changes)
        return nodes

    def empty_states(self) -> Sequence[int]:
        """Return the states of the nodes without the pods that will end."""
        nodes = self.compiled.cluster.nodes
        return [self._table.add_node(number, info) for number, info in nodes.items()]

    def possible(self, kind: PodKind) -> Sequence[int]:
        """Return the nodes that are feasible without the pods that will end."""
        # The first state of each node; the same numbers each time.
        return self._table.feasible_when_empty(self.compiled.cluster.nodes, kind)

    def started_slowdown(self, shortest: float) -> float:
        """Return the sum of the bounded slowdowns of the pods in `started`.

        Args:
            shortest: The shortest running time, in seconds.
        """
        at, seconds = self.compiled.at, self.compiled.seconds
        total = 0.0
        for index, _, now, _ in self.started:
            ran = seconds[index]
            if ran < math.inf:
                total += max(1.0, (now - at[index] + ran) / max(ran, shortest))
            else:
                total += 1.0
        return total

    def place(self, position: int, node: int) -> None:
        """Start a pod of the window, or let it wait for its node; then continue.

        An action that is not allowed is a `wait`.

        Args:
            position: The pod's position in the window.
            node: The node's place in row order.
        """
        if position < min(len(self.queue), self._window):
            index = self.queue[position]
            kind = self.compiled.kinds[index]
            if node in self.feasible(kind):
                self._start(index, node)
                self._settle()
                return
            if self.head_of_line and node in self.possible(kind):
                self.committed = (index, node)
                self._settle()
                return
        self.wait()

    def wait(self) -> None:
        """Let time pass until the next pod ends or arrives, then continue."""
        if self._pass_time():
            self._settle(has_moved=True)
        else:
            self.is_over = True

    def _settle(self, *, has_moved: bool = False) -> None:
        """Continue to the next decision, or to the end.

        Args:
            has_moved: Whether `_pass_time` was called after the last decision.
        """
        while True:
            if has_moved or self.departures_first:
                self._happen()
            has_moved = False
            if self.committed is not None:
                index, node = self.committed
                if node in self.feasible(self.compiled.kinds[index]):
                    self.committed = None
                    self._start(index, node)
                    continue
            elif self._is_decision():
                return
            if not self.queue and self._next == len(self.compiled.at):
                self.is_over = True
                return
            if not self._pass_time():
                self.is_over = True
                return
            has_moved = True

    def _is_decision(self) -> bool:
        choices = self.possible if self.head_of_line else self.feasible
        kinds = self.compiled.kinds
        return any(choices(kinds[index]) for index in self.queue[: self._window])

    def _happen(self) -> None:
        """Let pods end and arrive that are due; with arrivals first, one of both."""
        if self.departures_first:
            while self._end_pod():
                pass
            self._let_arrive()
        elif not self._let_arrive():
            self._end_pod()
        if self._may_leave:
            self._let_leave()

    def _end_pod(self) -> bool:
        """Let one pod end that is due; return whether there was one."""
        if not self.running or self.running[0][0] > self.now:
            return False
        *_, node, kind = heapq.heappop(self.running)
        self._set(node, self._table.without_pod(self._states[node], kind))
        self.ended += 1
        return True

    def _let_arrive(self) -> bool:
        """Let all pods arrive that are due; return whether there was one."""
        compiled, first = self.compiled, self._next
        at, count = compiled.at, len(compiled.at)
        while self._next < count and at[self._next] <= self.now:
            self.queue.append(self._next)
            self._weight += compiled.weights[self._next]
            self._queued[compiled.kinds[self._next]] += 1
            self._next += 1
        return self._next > first

    def _let_leave(self) -> None:
        leaves, kinds = self.compiled.leaves, self.compiled.kinds
        if all(self.feasible(kind) for kind in self._queued):
            return
        staying = [
            index
            for index in self.queue
            if not leaves[index] or self.feasible(kinds[index])
        ]
        if len(staying) < len(self.queue):
            self.left += len(self.queue) - len(staying)
            self.queue = staying
            self._queued = Counter(kinds[index] for index in staying)
            self._weight = sum(self.compiled.weights[index] for index in staying)

    def _start(self, index: int, node: int) -> None:
        compiled = self.compiled
        kind, seconds = compiled.kinds[index], compiled.seconds[index]
        self.queue.remove(index)
        self._queued[kind] -= 1
        if not self._queued[kind]:
            del self._queued[kind]
        self._weight -= compiled.weights[index]
        self.started.append((index, node, self.now, self.ended))
        if not self.departures_first and not seconds:
            # Only what was due before is held back, so it ends at once.
            self.ended += 1
            return
        self._set(node, self._table.with_pod(self._states[node], kind))
        end = self.now + seconds
        if end < math.inf:
            entry = end, next(self._numbers), index, node, kind
            heapq.heappush(self.running, entry)
        else:
            self._remaining.append((index, node))

    def _set(self, node: int, state: int) -> None:
        self._states[node] = state
        self._row[node] = state
        self._changes.append(node)

    def _pass_time(self) -> bool:
        """Move to the next moment at which a pod ends or arrives, if there is any.

        With arrivals first, that may be the same moment.
        """
        compiled = self.compiled
        due = self.running[0][0] if self.running else math.inf
        if self._next < len(compiled.at):
            due = min(due, compiled.at[self._next])
        if due == math.inf:
            return False
        seconds = due - self.now
        self.waited += seconds * len(self.queue)
        self.slowed += seconds * self._weight
        self.now = due
        return True
