"""The interface of metrics, which measure the runs of an experiment."""

import abc
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

import attrs

from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.steps import Step

__all__ = ["Column", "Curve", "Measured", "Metric", "Value"]

Value: TypeAlias = bool | int | float | str | None
"""A cell of the table of results; None and NaN are empty cells."""


@attrs.frozen(kw_only=True)
class Column:
    """What a column of a metric holds, for the reference and for warnings.

    Attributes:
        name: Its name in the metric. ``pNN`` is a percentile such as ``p99``,
            ``RESOURCE`` the name of a resource.
        unit: Its unit.
        formula: How it is computed.
        leaves_out: The columns of the same metric that count the pods which this one
            leaves out. `tune` warns about an objective that leaves out pods.
    """

    name: str
    unit: str
    formula: str
    leaves_out: Sequence[str] = ()

    def is_named(self, name: str) -> bool:
        """Whether this is the column with a name."""
        before, has_resource, after = self.name.partition("RESOURCE")
        if has_resource:
            is_longer = len(name) > len(before) + len(after)
            return is_longer and name.startswith(before) and name.endswith(after)
        parts, own = name.split("."), self.name.split(".")
        return len(parts) == len(own) and all(map(_is_part, parts, own))


def _is_part(part: str, own: str) -> bool:
    return part == own or (own == "pNN" and part[:1] == "p" and part[1:].isdigit())


@attrs.frozen(kw_only=True, eq=False)
class Curve:
    """Numbers over the course of a run.

    Attributes:
        name: Its name among the curves of its metric; may be empty.
        x: The place of each number: the number of arrivals, or what the metric defines.
        y: As many numbers; None for a missing one.
    """

    name: str = ""
    x: Sequence[float]
    y: Sequence[float | None]


@attrs.frozen(kw_only=True, eq=False)
class Measured:
    """The result of a metric for one run.

    Attributes:
        values: Name -> value. The column is ``METRIC.NAME``, or ``METRIC`` for the
            empty name.
        curves: Numbers over the course of the run.
    """

    values: Mapping[str, Value] = attrs.field(factory=dict)
    curves: Sequence[Curve] = ()


class Metric(abc.ABC):
    """Measures one run; subclasses are attrs classes.

    The fields of a subclass that its constructor takes are its parameters, as for
    `ExperimentInput`; its counters are fields with ``init=False``. Each run has its own
    instance. A distribution offers its class in the entry-point group
    ``quaymaster.experiment_metrics``.

    The methods may read the run, and must not drive it.

    Attributes:
        columns: What its columns hold; empty if a class does not say.
        curves_over: The x of its curves with its unit, for the axes of pictures.
        is_reproducible: Whether equal runs have equal results; not so for real times.
    """

    columns: ClassVar[Sequence[Column]] = ()
    is_reproducible: ClassVar[bool] = True
    curves_over: ClassVar[str] = "x"

    def begin(self, run: Run, /) -> None:  # noqa: B027 - optional
        """Begin: the objects of the input exist, and no pod was tried yet.

        Args:
            run: The run.
        """

    def arrive(self, run: Run, /) -> None:  # noqa: B027 - optional
        """Note that an arrival has been tried, and that rejected pods are deleted.

        Called once for each arrival, in order, after the calls of `step`.

        Args:
            run: The run.
        """

    def step(self, run: Run, step: Step, /) -> None:  # noqa: B027 - optional
        """Note an attempt, directly after it was made.

        Args:
            run: The run.
            step: The attempt.
        """

    def time_passes(self, run: Run, seconds: float, /) -> None:  # noqa: B027 - optional
        """Note that time passes without any change.

        Args:
            run: The run, before that time.
            seconds: The duration, more than 0.
        """

    def warm_up_ended(self, run: Run, at: float, /) -> None:  # noqa: B027 - optional
        """Note that the warm-up of the experiment has ended; without one, no call.

        `time_passes` is not called before. Pods that were created before should not
        count.

        Args:
            run: The run. Nothing has changed between the current time of the run and
                the end of the warm-up.
            at: When it ended, in seconds of the run.
        """

    @abc.abstractmethod
    def end(self, run: Run, /) -> Measured:
        """Return the results after the cluster has settled.

        Args:
            run: The run.
        """
