"""Compares runs that must have the same result, and finds out why they differ."""

import math
import multiprocessing
import multiprocessing.connection
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import attrs
import numpy as np

from quaymaster._studies.experiments.ended import RunFailure, try_cell
from quaymaster._studies.experiments.experiment import Cell, Experiment
from quaymaster._studies.experiments.offers import METRICS
from quaymaster._studies.experiments.running import RunResult

__all__ = ["RunCheck", "check_first_run", "differences", "differing_repetitions"]

_SHOWN: Final = 3
_HASH_SEED: Final = "PYTHONHASHSEED"

_SETS: Final = "it depends on the order of sets or on hashes of texts (PYTHONHASHSEED)"
_DRAWS: Final = "it draws from random or numpy.random without a seed"
_CLOCK: Final = (
    "it depends on the real time, on the process, or on a generator without a seed"
)


@attrs.frozen(kw_only=True)
class RunCheck:
    """Whether a run that is made again has the same result.

    Attributes:
        cell: The run.
        differences: What differs; empty if nothing does.
        cause: Where it comes from, if something differs; or why the run failed.
    """

    cell: Cell
    differences: Sequence[str] = ()
    cause: str = ""

    @property
    def is_same(self) -> bool:
        """Whether both results are the same."""
        return not self.cause


def check_first_run(experiment: Experiment, *, verify: int = 0) -> RunCheck:
    """Make the first run of an experiment twice, in processes of their own.

    The second process orders sets in another way. If the results differ, the run is
    made again, to find out whether that order, draws without a seed or the real time
    are the cause.

    Args:
        experiment: The experiment.
        verify: As for `run_cell`.
    """
    cell = experiment.cells[0]

    def made(hash_seed: int, *, seeded: bool = False) -> RunResult | RunFailure:
        return _in_process(experiment, cell, verify, hash_seed, seeded)

    first, second = made(1), made(2)
    for outcome in (first, second):
        if isinstance(outcome, RunFailure):
            return RunCheck(cell=cell, cause=outcome.cause)
    found = _between(experiment, first, second)
    if not found:
        return RunCheck(cell=cell)
    cause = _CLOCK
    # With the same order of sets, the same result: the order was the cause.
    if not _between(experiment, first, made(1)):
        cause = _SETS
    # Two runs that agree with seeded generators: the draws were the cause.
    elif not _between(experiment, made(1, seeded=True), made(1, seeded=True)):
        cause = _DRAWS
    return RunCheck(cell=cell, differences=found, cause=cause)


def differing_repetitions(
    experiment: Experiment, runs: Sequence[tuple[Cell, RunResult]]
) -> Iterator[tuple[Cell, str]]:
    """Yield the repetitions whose result differs from the first one, and how.

    Args:
        experiment: The experiment.
        runs: The runs with a result.
    """
    firsts: dict[str, tuple[Cell, RunResult]] = {}
    for cell, result in runs:
        key = str(attrs.evolve(cell, repetition=0))
        first, expected = firsts.setdefault(key, (cell, result))
        found = differences(experiment, expected, result)
        if found:
            number = first.repetition
            cause = f"differs from repetition {number}, though all but times depends"
            yield cell, f"{cause} on the seed alone: {_list(found)}"


def differences(
    experiment: Experiment, first: RunResult, second: RunResult
) -> Sequence[str]:
    """Compare two results of one run, except the metrics that measure real times."""
    measured = [
        name
        for name, used in experiment.metrics.items()
        if not METRICS.is_reproducible(used)
    ]
    pairs = (
        *_pairs(first.values, second.values),
        *_pairs(first.curves, second.curves),
    )
    return [
        f"{name} is {_text(old)} and {_text(new)}"
        for name, old, new in pairs
        if not _are_same(old, new)
        and not any(name == own or name.startswith(f"{own}.") for own in measured)
    ]


def _between(
    experiment: Experiment,
    first: RunResult | RunFailure,
    second: RunResult | RunFailure,
) -> Sequence[str]:
    if isinstance(first, RunFailure) or isinstance(second, RunFailure):
        return ["one of the runs failed"]
    return differences(experiment, first, second)


def _pairs(
    first: Mapping[str, object], second: Mapping[str, object]
) -> Iterator[tuple[str, object, object]]:
    for name in dict.fromkeys([*first, *second]):
        yield name, first.get(name), second.get(name)


def _are_same(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return first == second or (math.isnan(first) and math.isnan(second))
    return first == second


def _text(value: Any) -> str:  # noqa: ANN401 - a value or a curve
    is_curve = isinstance(value, tuple)
    return f"a curve of {len(value[0])} points" if is_curve else str(value)


def _list(found: Sequence[str]) -> str:
    more = len(found) - _SHOWN
    return "; ".join([*found[:_SHOWN], *([f"{more} more"] if more > 0 else [])])


def _in_process(
    experiment: Experiment, cell: Cell, verify: int, hash_seed: int, seeded: bool
) -> RunResult | RunFailure:
    """Make a run in a new process, which orders sets by a seed."""
    # Only a new interpreter reads the seed: forked processes keep that of their parent.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    arguments = (theirs, experiment, cell, verify, seeded)
    process = context.Process(target=_make, args=arguments, daemon=True)
    with _hash_seed(str(hash_seed)):
        process.start()
    # Open here, it would keep `recv` waiting when the process dies.
    theirs.close()
    try:
        return cast("RunResult | RunFailure", ours.recv())
    except EOFError:
        process.join()
        return RunFailure(cause=f"its process ended with exit code {process.exitcode}")
    finally:
        ours.close()
        process.join()


@contextmanager
def _hash_seed(seed: str) -> Iterator[None]:
    before = os.environ.get(_HASH_SEED)
    os.environ[_HASH_SEED] = seed
    try:
        yield
    finally:
        if before is None:
            del os.environ[_HASH_SEED]
        else:
            os.environ[_HASH_SEED] = before


def _make(
    pipe: "multiprocessing.connection.Connection[object, object]",
    experiment: Experiment,
    cell: Cell,
    verify: int,
    seeded: bool,
) -> None:
    if seeded:
        random.seed(0)
        np.random.seed(0)
    pipe.send(try_cell(experiment, cell, verify))
    pipe.close()
