"""Looks for nodes to disrupt, every ten seconds.

Mirrors ``pkg/controllers/disruption/controller.go`` (sigs.k8s.io/karpenter v1.15). A
loop that found nothing looks again when the cluster has changed, as upstream. Upstream
also looks again after five minutes; here it does so when time may change the result.
"""

import random
from collections.abc import Callable
from typing import Final

from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.karpenter.disruption.commands import Command
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    Report,
)
from quaymaster._studies.autoscaling.karpenter.disruption.methods import (
    METHODS,
    Method,
)
from quaymaster._studies.autoscaling.karpenter.disruption.queue import DisruptionQueue
from quaymaster._studies.autoscaling.karpenter.disruption.survey import Survey
from quaymaster._studies.autoscaling.karpenter.disruption.validation import validated
from quaymaster._studies.autoscaling.karpenter.lifecycle import Lifecycle

__all__ = ["DisruptionLoop"]

_PERIOD_SECONDS: Final = 10.0
_SOON_SECONDS: Final = 0.1


class DisruptionLoop:
    """Disrupts nodes, one command at a time.

    Args:
        cluster: The cluster.
        queue: Carries out commands.
        prepare: Brings conditions of claims up to date.
        survey: Returns a look at the cluster.
        report: Gets events.
        chance: Draws the order of pools.
        lifecycle: The machines, all orders of which must have been accepted.
        read_facts: Returns what a look depends on, apart from time.
        note: Gets each look that has found nothing, for explanations; None if nothing
            is explained.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        queue: DisruptionQueue,
        *,
        prepare: Callable[[], None],
        survey: Callable[[], Survey],
        report: Report,
        chance: random.Random,
        lifecycle: Lifecycle,
        read_facts: Callable[[], object],
        note: Callable[[Survey], None] | None = None,
    ) -> None:
        self._clock = cluster.clock
        self._queue = queue
        self._prepare = prepare
        self._survey = survey
        self._report = report
        self._chance = chance
        self._lifecycle = lifecycle
        self._facts = read_facts
        self._note = note
        self._seen: object = None
        self._seen_until = 0.0
        self.is_validating = False

    def start(self) -> None:
        """Set the first timer."""
        self._run_in(_PERIOD_SECONDS)

    @property
    def has_looked(self) -> bool:
        """Whether it has found nothing to do in the cluster as it is."""
        return not self.is_validating and self._seen == self._facts()

    def _run_in(self, seconds: float) -> None:
        self._clock.call_later(seconds, self._run, background=True)

    def _run(self) -> None:
        if self._lifecycle.is_launching:
            self._run_after_launches()
            return
        self._prepare()
        # Looks that cannot find anything new are left out. A month with 100 nodes and
        # 700 pods then takes 21 CPU seconds; with every look, less than 1 % of a month
        # with 20 nodes took 58.
        if self._is_quiet() or not self._begin():
            self._run_in(_PERIOD_SECONDS)

    def _run_after_launches(self) -> None:
        """Set a timer for the first look at which all orders have been accepted."""
        # A look every 0.1 s, most of which are left out: in a large cluster, some
        # machine is nearly always on order. The last one before is made: timers of one
        # moment run in the order in which they were set.
        until = self._lifecycle.launched_at
        due = self._clock.now() + _SOON_SECONDS
        while due + _SOON_SECONDS < until:
            due += _SOON_SECONDS
        self._clock.call_at(due, self._run, background=True)

    def _is_quiet(self) -> bool:
        """Return whether nothing has changed since nothing was found."""
        is_early = self._clock.now() < self._seen_until
        return is_early and self._facts() == self._seen

    def _begin(self) -> bool:
        """Begin with the command of the first method that finds one."""
        survey = self._survey()
        for method in METHODS:
            look = method.look(survey, self._report, self._chance)
            if look.command is None:
                continue
            if method.delay:
                self._validate_later(look.command, method)
            else:
                self._start(look.command, method)
                for command in look.others:
                    self._queue.start(command, method.reason)
            return True
        if self._note is not None:
            self._note(survey)
        self._seen, self._seen_until = self._facts(), survey.holds_until
        return False

    def _validate_later(self, command: Command, method: Method) -> None:
        """Check a command again after its delay; the loop waits until then."""
        self.is_validating = True
        self._clock.call_later(method.delay, lambda: self._validate(command, method))

    def _validate(self, command: Command, method: Method) -> None:
        self.is_validating = False
        self._prepare()
        valid = validated(command, method, self._survey())
        if valid is None:
            self._run_in(_PERIOD_SECONDS)
        else:
            self._start(valid, method)

    def _start(self, command: Command, method: Method) -> None:
        self._queue.start(command, method.reason)
        self._run_in(_SOON_SECONDS)
