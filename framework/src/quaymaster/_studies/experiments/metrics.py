"""What is measured in the runs of an experiment."""

import abc
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs

from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.steps import Step

__all__ = ["Curve", "Measured", "Metric", "Value"]

Value: TypeAlias = bool | int | float | str | None
"""A cell of the table of results; None and NaN are empty cells."""


@attrs.frozen(kw_only=True, eq=False)
class Curve:
    """Numbers over the course of a run.

    Attributes:
        name: What it is called among the curves of its metric; may be empty.
        x: Where each number belongs: how many arrivals there were, or whatever the
            metric says.
        y: The numbers, as many; None where there is none.
    """

    name: str = ""
    x: Sequence[float]
    y: Sequence[float | None]


@attrs.frozen(kw_only=True, eq=False)
class Measured:
    """What a metric found in one run.

    Attributes:
        values: Name -> value. The column is called ``METRIC.NAME``, and just ``METRIC``
            for the empty name.
        curves: Numbers over the course of the run.
    """

    values: Mapping[str, Value] = attrs.field(factory=dict)
    curves: Sequence[Curve] = ()


class Metric(abc.ABC):
    """Measures one run; subclasses are attrs classes.

    The fields of a subclass that its constructor takes are its parameters, as for
    `ExperimentInput`; what it counts in are fields with ``init=False``. Each run has an
    instance of its own. A distribution offers its class in the entry-point group
    ``quaymaster.experiment_metrics``.

    The methods may ask the run, and must not drive it.
    """

    def begin(self, run: Run) -> None:  # noqa: B027 - optional
        """Begin: the objects of the input are there, and nothing was tried yet.

        Args:
            run: The run.
        """

    def arrive(self, run: Run) -> None:  # noqa: B027 - optional
        """Note that an arrival has been tried, and pods turned away have gone.

        It is called once for each arrival, in order, after the calls of `step`.

        Args:
            run: The run.
        """

    def step(self, run: Run, step: Step) -> None:  # noqa: B027 - optional
        """Note an attempt, right after it was made.

        Args:
            run: The run.
            step: The attempt.
        """

    def time_passes(self, run: Run, seconds: float) -> None:  # noqa: B027 - optional
        """Note that time passes, in which everything stays as it is now.

        Args:
            run: The run, before that time.
            seconds: How much time, more than 0.
        """

    @abc.abstractmethod
    def end(self, run: Run) -> Measured:
        """Return the results after the cluster has settled.

        Args:
            run: The run.
        """
