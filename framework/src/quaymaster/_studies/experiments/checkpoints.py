"""How long runs of pods take with checkpoints, and what of their work is saved."""

import math

import attrs

from quaymaster._studies.experiments.restarts_entry import RestartsEntry

__all__ = ["Plan"]


@attrs.frozen(kw_only=True)
class Plan:
    """One run of a pod: a restart, then work with checkpoints. All in seconds.

    Attributes:
        work: The work that is left at the beginning.
        restart: How long it does not work at the beginning.
        every: The work between two checkpoints; 0 for none.
        cost: How long a checkpoint takes.
    """

    work: float
    restart: float
    every: float
    cost: float

    @classmethod
    def of(cls, entry: RestartsEntry, work: float, *, is_again: bool) -> "Plan":
        """Return the plan of a pod by the entry of an experiment.

        Args:
            entry: The entry.
            work: The work that is left.
            is_again: Whether a pod with this work was lost before.
        """
        return cls(
            work=work,
            restart=entry.restart_cost.total_seconds() if is_again else 0.0,
            every=entry.checkpoint_every.total_seconds(),
            cost=entry.checkpoint_cost.total_seconds(),
        )

    @property
    def length(self) -> float:
        """How long the whole run takes at full speed."""
        return self.restart + self.work + self._checkpoints * self.cost

    def saved(self, done: float) -> float:
        """Return the work that is saved after a part of the run."""
        return self._complete(done) * self.every

    def overhead(self, done: float) -> float:
        """Return how long the pod did not work in a part of the run.

        A checkpoint that is not complete counts as lost work, since it has to be
        repeated.
        """
        return min(done, self.restart) + self._complete(done) * self.cost

    @property
    def _checkpoints(self) -> int:
        """How many checkpoints are written: none at the end of the work."""
        if not self.every or not self.work:
            return 0
        return math.ceil(self.work / self.every) - 1

    def _complete(self, done: float) -> int:
        if not self.every or done <= self.restart:
            return 0
        # A checkpoint is complete at this moment, whatever is lost in rounding.
        cycles = (done - self.restart) / (self.every + self.cost) + 1e-9
        return min(math.floor(cycles), self._checkpoints)
