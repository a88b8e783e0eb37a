"""The ends of runs: a result, or the cause of a failure."""

import traceback
from typing import Final

import attrs
import msgspec

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.garbage import collector_calmed
from quaymaster._base.raised import describe_exception
from quaymaster._studies.experiments.experiment import Cell, Experiment
from quaymaster._studies.experiments.running import RunResult, run_cell

__all__ = ["MOST_TRIES", "Ended", "RunFailure", "try_cell"]

MOST_TRIES: Final = 3
"""How often a run is tried whose process dies: the run may be the cause."""


class RunFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a run has no result.

    Attributes:
        cause: The cause, in one line or several.
        traceback: The traceback, if the exception is not one of Quaymaster's.
    """

    cause: str
    traceback: str = ""


@attrs.frozen
class Ended:
    """A run that has ended.

    Attributes:
        number: Its index among the requested runs.
        outcome: Its result or failure.
    """

    number: int
    outcome: RunResult | RunFailure


def try_cell(experiment: Experiment, cell: Cell, verify: int) -> RunResult | RunFailure:
    """Make a run; an exception becomes its failure, and does not stop other runs."""
    try:
        with collector_calmed():
            return run_cell(experiment, cell, verify=verify)
    except QuaymasterError as error:
        return RunFailure(cause=str(error))
    except Exception as error:
        return RunFailure(
            cause=describe_exception(error), traceback=traceback.format_exc()
        )
