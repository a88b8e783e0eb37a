"""How runs end: with a result, or with the cause why there is none."""

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
"""How often a run is tried whose process dies: it may be the cause of that."""


class RunFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a run has no result.

    Attributes:
        cause: Why, in one line or in several.
        traceback: Where the exception was raised, if it was none of ours.
    """

    cause: str
    traceback: str = ""


@attrs.frozen
class Ended:
    """A run that has ended.

    Attributes:
        number: Its place among the requested runs.
        told: Its result or failure.
    """

    number: int
    told: RunResult | RunFailure


def try_cell(experiment: Experiment, cell: Cell, verify: int) -> RunResult | RunFailure:
    """Make a run; what it raises is its failure, and stops nothing else."""
    try:
        with collector_calmed():
            return run_cell(experiment, cell, verify=verify)
    except QuaymasterError as error:
        return RunFailure(cause=str(error))
    except Exception as error:
        return RunFailure(
            cause=describe_exception(error), traceback=traceback.format_exc()
        )
