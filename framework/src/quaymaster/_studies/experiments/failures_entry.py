"""The random failures of nodes in an experiment file."""

from collections.abc import Iterator
from datetime import timedelta

import attrs

from quaymaster._base.errors import SelectorError
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import duration, number
from quaymaster._studies.changes.node_changes import FailureMode
from quaymaster._studies.changes.selector_text import looks_like_selector, read_selector

__all__ = ["FailuresEntry"]

_a_second = duration(timedelta(seconds=1))


@attrs.frozen(kw_only=True)
class FailuresEntry:
    """Nodes that fail and return at random times, drawn with the seed of the workload.

    Each node works for a random time, is down for a random time, and so on. It works
    again as new after a repair. Over a long horizon T a node fails about
    T / (mtbf + mttr) times, and is down for the part mttr / (mtbf + mttr) of the time.
    Each node has its own random numbers, so more nodes do not change the failures of
    the others.

    Attributes:
        nodes: A name, or a label selector as kubectl's, of nodes that exist at the
            beginning; by default all.
        mtbf: The mean operating time between failures: from the beginning, or a
            return, to the next failure.
        mttr: The mean time to repair: from a failure to the return.
        shape: The shape of the Weibull distribution of operating times. 1 is the
            exponential distribution; below 1, failures are more frequent directly
            after a return; above 1, nodes wear out. The scale follows from the mean:
            mtbf / gamma(1 + 1 / shape).
        repair_shape: The same for the times of repair.
        together: A node label: nodes with equal values fail and return together, such
            as those of a rack. Nodes without it fail one by one.
        mode: ``AtOnce``: a node and its pods disappear in the same moment.
            ``Unreachable``: the cluster detects the failure after 50 seconds, and
            deletes pods when their tolerations end.
    """

    nodes: str = ""
    mtbf: timedelta = attrs.field(validator=_a_second)
    mttr: timedelta = attrs.field(validator=_a_second)
    shape: float = attrs.field(default=1.0, validator=number(0.1, 100))
    repair_shape: float = attrs.field(default=1.0, validator=number(0.1, 100))
    together: str = ""
    mode: FailureMode = FailureMode.AT_ONCE

    def validate(self) -> Iterator[ArgsError]:
        """Check the selector of the nodes."""
        if looks_like_selector(self.nodes):
            try:
                read_selector(self.nodes)
            except SelectorError as error:
                yield ArgsError("nodes", str(error))
