"""Repeats the study's experiments: a thin front of `quaymaster.experiments.sweep`."""

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from quaymaster.errors import QuaymasterError
from quaymaster.experiments import Experiment, SweepProgress, sweep

from quaymaster_order.rlscheduler.study import (
    POLICIES,
    PUBLISHED,
    SEQUENCES,
    experiment,
)

__all__ = ["main"]

_SOME_FAILED: Final = 1
_UNUSABLE: Final = 2
_COLUMN: Final = "slowdown.bounded.mean"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested runs, and print the mean bounded slowdown of each policy.

    Args:
        arguments: Those of the command line, by default.

    Returns:
        The exit code: 1 if a run has failed, 2 if something cannot be used.
    """
    options = _parser().parse_args(arguments)
    try:
        made = experiment(
            options.trace,
            policies=options.policies,
            sequences=SEQUENCES[: options.sequences],
            backfilling=options.backfilling,
        )
        return _sweep(made, options)
    except (QuaymasterError, OSError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return _UNUSABLE


def _sweep(made: Experiment, options: argparse.Namespace) -> int:
    progress = _show if sys.stderr.isatty() else None
    result = sweep(made, options.out, workers=options.workers, on_progress=progress)
    for failed in result.failed:
        print(f"run.py: failed: {failed.cell}: {failed.cause}", file=sys.stderr)
    is_whole = options.sequences == len(SEQUENCES) and not options.backfilling
    means = _means(options.out / "results.csv")
    for line in _lines(means, PUBLISHED if is_whole else {}):
        print(line)
    print(f"{result.total} runs, {result.cpu_seconds:.0f} CPU seconds")
    return _SOME_FAILED if result.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__)
    add = parser.add_argument
    add("--trace", type=Path, required=True, metavar="FILE", help="lublin_256.swf")
    add(
        "--policies",
        type=_policies,
        default=tuple(POLICIES),
        metavar="P,...",
        help=f"by default all: {','.join(POLICIES)}",
    )
    add(
        "--sequences",
        type=int,
        choices=range(1, len(SEQUENCES) + 1),
        default=len(SEQUENCES),
        metavar="N",
        help="the first N sequences; by default all ten",
    )
    add("--backfilling", action="store_true", help="with the study's backfilling")
    add("--out", type=Path, default=Path("rlscheduler-results"), metavar="DIR")
    add(
        "--workers", type=int, metavar="N", help="processes; by default as many as CPUs"
    )
    return parser


def _policies(text: str) -> Sequence[str]:
    names = text.split(",")
    for name in names:
        if name not in POLICIES:
            message = f"expected some of {', '.join(POLICIES)}, got {name!r}"
            raise argparse.ArgumentTypeError(message)
    return names


def _show(now: SweepProgress) -> None:
    print(f"\r{now.done} of {now.total} runs  ", end="", file=sys.stderr)


def _means(table: Path) -> Mapping[str, float]:
    """Return policy -> the mean over all sequences."""
    names = {policy: name for name, policy in POLICIES.items()}
    values: dict[str, list[float]] = {}
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            if row[_COLUMN]:
                values.setdefault(names[row["policy"]], []).append(float(row[_COLUMN]))
    return {name: sum(numbers) / len(numbers) for name, numbers in values.items()}


def _lines(means: Mapping[str, float], published: Mapping[str, float]) -> Iterator[str]:
    yield f"{'policy':8}{'reproduced':>12}{'published':>12}"[: 32 if published else 20]
    for name, mean in means.items():
        other = f"{published[name]:12.2f}" if name in published else ""
        yield f"{name:8}{mean:12.2f}{other}"
