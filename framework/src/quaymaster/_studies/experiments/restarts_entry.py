"""What happens to the work of pods that lose their node, in an experiment file."""

from collections.abc import Iterator
from datetime import timedelta

import attrs

from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import duration

__all__ = ["RestartsEntry"]

_any_time = duration(timedelta())


@attrs.frozen(kw_only=True)
class RestartsEntry:
    """What happens when a pod with a run time was preempted, evicted or lost.

    By default its work is lost, as in Kubernetes, and only a controller creates it
    again. A pod takes up the work of a pod of the same controller and completion index
    that was lost, and a pod that was created again the work of its predecessor.

    Between two checkpoints a pod works for ``checkpoint_every``, and writes for
    ``checkpoint_cost``. A pod that was lost has saved the work up to its last complete
    checkpoint. A run of a pod therefore takes restart_cost (if it takes up work of a
    lost pod, or repeats it) + remaining work + checkpoint_cost * (checkpoints before
    its end).

    Attributes:
        checkpoint_every: The work between two checkpoints; 0 to begin from zero.
        checkpoint_cost: How long a pod does not work to write a checkpoint.
        restart_cost: How long a pod that runs again does not work at its beginning.
        resubmit: Whether pods without a controller are created again, in the moment
            in which they are gone, as batch systems do. ``completion`` and
            ``slowdown`` then count one pod, from its first creation.
    """

    checkpoint_every: timedelta = attrs.field(default=timedelta(), validator=_any_time)
    checkpoint_cost: timedelta = attrs.field(default=timedelta(), validator=_any_time)
    restart_cost: timedelta = attrs.field(default=timedelta(), validator=_any_time)
    resubmit: bool = False

    def validate(self) -> Iterator[ArgsError]:
        """Check that a cost of checkpoints has checkpoints."""
        if self.checkpoint_cost and not self.checkpoint_every:
            yield ArgsError("checkpointCost", "expected checkpointEvery, too")
