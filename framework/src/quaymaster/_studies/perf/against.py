"""Compares results of workloads with earlier results, and detects noise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final

import attrs
import msgspec

from quaymaster._base.errors import Problem
from quaymaster._studies.perf.errors import PerfErrors
from quaymaster._studies.perf.runner import Outcome

__all__ = ["AGAINST_COLUMNS", "Compared", "compare_results", "read_results"]

AGAINST_COLUMNS: Final = (
    "WORKLOAD",
    "BEFORE",
    "NOW",
    "RATIO",
    "LEAST",
    "MOST",
    "VERDICT",
)
_VERSION: Final = "v1"
_FEWEST_RUNS: Final = 3
_MOST_NAMES: Final = 5


class _Entry(msgspec.Struct, rename="camel"):
    """What is read of one entry of a result."""

    workload: str
    name: str = ""
    busy_throughput: float = 0.0


class _Results(msgspec.Struct):
    version: str
    results: list[_Entry]


@attrs.frozen(kw_only=True)
class Compared:
    """A measurement and the same measurement of an earlier result.

    Attributes:
        workload: The workload's name.
        name: The measurement's name.
        before: The median of the earlier runs, in pods per second of work.
        now: The median of the new runs.
        least: The lowest possible ratio, from the slowest new and the fastest old run.
        most: The highest possible ratio.
        runs: The number of runs of the side with fewer runs.
    """

    workload: str
    name: str
    before: float
    now: float
    least: float
    most: float
    runs: int

    @property
    def ratio(self) -> float:
        """The new speed divided by the earlier speed."""
        return self.now / self.before

    @property
    def verdict(self) -> str:
        """``faster``, ``slower``, ``noise`` or ``too few runs``.

        A difference is noise if the spread of the runs alone can explain it.
        """
        if self.runs < _FEWEST_RUNS:
            return "too few runs"
        if self.least > 1:
            return "faster"
        return "slower" if self.most < 1 else "noise"

    def as_document(self) -> dict[str, object]:
        """The same as plain data."""
        return {
            "workload": self.workload,
            "name": self.name,
            "before": self.before,
            "now": self.now,
            "ratio": self.ratio,
            "least": self.least,
            "most": self.most,
            "verdict": self.verdict,
        }

    def as_row(self, *, is_only: bool) -> tuple[str, ...]:
        """The same under `AGAINST_COLUMNS`.

        Args:
            is_only: Whether its workload has no other measurement.
        """
        return (
            self.workload if is_only else f"{self.workload} ({self.name})",
            f"{self.before:.0f}",
            f"{self.now:.0f}",
            f"{self.ratio:.2f}",
            f"{self.least:.2f}",
            f"{self.most:.2f}",
            self.verdict,
        )


_Speeds = Mapping[tuple[str, str], Sequence[float]]


def read_results(file: str, workloads: Iterable[str]) -> _Speeds:
    """Read a file of ``--json``: workload and measurement -> speed of each run.

    Args:
        file: The file.
        workloads: The names of the compared workloads.

    Raises:
        PerfErrors: The file is unreadable or has no matching results.
    """
    try:
        results = msgspec.json.decode(Path(file).read_bytes(), type=_Results)
    except OSError as error:
        raise _problem(file, f"cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        expected = "expected what 'quaymaster perf --json' writes"
        raise _problem(file, f"{expected}: {error}") from error
    if results.version != _VERSION:
        raise _problem(file, f"version: expected {_VERSION!r}, got {results.version!r}")
    speeds: dict[tuple[str, str], list[float]] = {}
    for result in results.results:
        # Without a pod there is no speed, and nothing to divide by.
        if result.busy_throughput > 0:
            speeds.setdefault((result.workload, result.name), []).append(
                result.busy_throughput
            )
    if not speeds:
        raise _problem(file, "expected measurements, got none")
    measured = sorted({workload for workload, _ in speeds})
    if not set(workloads).intersection(measured):
        some = ", ".join(measured[:_MOST_NAMES])
        more = ", ..." if len(measured) > _MOST_NAMES else ""
        raise _problem(file, f"has none of these workloads, but {some}{more}")
    return speeds


def compare_results(before: _Speeds, outcomes: Iterable[Outcome]) -> Iterator[Compared]:
    """Compare measurements with an earlier result, as far as both have them.

    Args:
        before: The result of `read_results`.
        outcomes: The new measurements, of one run or several.
    """
    now: dict[tuple[str, str], list[float]] = {}
    for outcome in outcomes:
        for measurement in outcome.measurements:
            if measurement.busy_throughput > 0:
                key = outcome.workload, measurement.name
                now.setdefault(key, []).append(measurement.busy_throughput)
    for (workload, name), speeds in now.items():
        earlier = before.get((workload, name))
        if earlier:
            yield Compared(
                workload=workload,
                name=name,
                before=median(earlier),
                now=median(speeds),
                least=min(speeds) / max(earlier),
                most=max(speeds) / min(earlier),
                runs=min(len(speeds), len(earlier)),
            )


def _problem(file: str, message: str) -> PerfErrors:
    return PerfErrors([Problem(where=f"--against {file}", message=message)])
