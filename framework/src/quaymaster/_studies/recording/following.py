"""Follows a record, and calls a function for each decision on its state."""

from collections import Counter
from collections.abc import Callable, Container, Iterator
from typing import TypeAlias

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, Time
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.recording.files import RecordFile
from quaymaster._studies.recording.moments import Moments
from quaymaster._studies.recording.ordering import put_in_order
from quaymaster._studies.recording.searching import bound_as
from quaymaster._studies.recording.state import Entry, RecordState
from quaymaster._studies.recording.supposing import Moved
from quaymaster._studies.recording.survey import Outcome, QueueKey, Survey, survey
from quaymaster._studies.recording.world import RecordedWorld

__all__ = ["Ask", "Following"]

Ask: TypeAlias = Callable[[Outcome, Pod, Moments], None]
"""Called with a decision, its pod and the changes around it, on the current state."""


class Following:
    """Reads a record twice: to find its decisions, and to call a function for each.

    After each call, the recorded decision is applied, independent of the answer. So
    each decision is made on the state that the recorded scheduler had, as far as it is
    visible from outside.

    Args:
        file: The record.
        kinds: The kinds of objects to read.

    Attributes:
        state: The state of the record so far.
        world: The current state of the cluster.
        clock: The clock of the cluster.
        survey: The decisions of the record.
        shown: The same, by the number of the change that shows each decision.
        assumed: The decisions that were made but are not visible yet, by the pod's uid.
        others: Scheduler name -> the number of decisions that were not repeated.
        most_nodes: The largest number of nodes during a decision.

    Raises:
        RecordError: The file is unreadable, or not a record.
    """

    def __init__(self, file: RecordFile, kinds: KindSet) -> None:
        self.state = RecordState(kinds)
        self.world = RecordedWorld()
        self.survey = Survey()
        self.shown: dict[int, Outcome] = {}
        self.assumed: dict[str, Moved] = {}
        self.others: Counter[str] = Counter()
        self.most_nodes = 0
        self._file = file
        self._kinds = kinds
        self._lines = file.lines()
        self.state.take(next(self._lines))
        self._start = Time.parse(self.state.begins[0].time)
        self.clock = VirtualClock(self._start)

    def go_through(
        self, place_of: QueueKey, schedulers: Container[str], ask: Ask
    ) -> None:
        """Find the decisions, and call a function for each in the order of deciding.

        Args:
            place_of: Returns the place of a pod in the queue.
            schedulers: The scheduler names whose decisions are repeated.
            ask: Called for each decision.

        Raises:
            RecordError: The file is unreadable, or not a record.
        """
        self.survey = survey(self.state.entries(self._lines), place_of)
        self.shown = {outcome.seen: outcome for outcome in self.survey.outcomes}
        self._follow(
            RecordState(self._kinds).entries(self._file.lines()), schedulers, ask
        )

    def _follow(
        self, entries: Iterator[Entry], schedulers: Container[str], ask: Ask
    ) -> None:
        due = put_in_order(self.survey.outcomes)
        moments = Moments(entries)
        for number, entry in moments:
            self._pass_time(entry.at)
            for outcome in due.get(number, ()):
                if outcome.scheduler not in schedulers:
                    self.others[outcome.scheduler] += 1
                    continue
                pod = self._pod(outcome)
                if pod is not None:
                    self._take(outcome, pod, number, moments, ask)
            self._apply(entry)

    def _pass_time(self, at: float) -> None:
        seconds = self._start + at - self.clock.now()
        if seconds > 0:
            self.clock.advance(seconds)

    def _apply(self, entry: Entry) -> None:
        new = entry.new
        if isinstance(new, Pod) and new.uid in self.assumed:
            if new.node_name:
                del self.assumed[new.uid]
            else:
                node = self.assumed[new.uid].outcome.node
                # The pod was changed before its binding was seen. The scheduler had
                # assumed it by then.
                new = replace(new, node_name=node)
                entry = attrs.evolve(entry, new=new)
        self.world.apply(entry)

    def _take(
        self, outcome: Outcome, pod: Pod, number: int, moments: Moments, ask: Ask
    ) -> None:
        self.most_nodes = max(self.most_nodes, len(self.world.list(Node).items))
        ask(outcome, pod, moments)
        # Later decisions counted on this one, even though its binding came later.
        if outcome.node and outcome.seen > number:
            bound = bound_as(outcome, pod)
            self.assumed[outcome.uid] = Moved(outcome, (bound,))
            self.world.apply(bound)

    def _pod(self, outcome: Outcome) -> Pod | None:
        """Return the current pod; None if another pod has its name."""
        try:
            pod = self.world.get(Pod, outcome.pod)
        except NotFoundError:
            return None
        return pod if pod.uid == outcome.uid and not pod.node_name else None
