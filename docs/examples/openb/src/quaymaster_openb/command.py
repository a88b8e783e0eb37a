"""Repeats experiments of the study: a thin front of `quaymaster.experiments.sweep`."""

import argparse
import csv
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from quaymaster.errors import QuaymasterError
from quaymaster.experiments import Experiment, SweepProgress, SweepResult, sweep

from quaymaster_openb.data import arrivals_of, pods_of
from quaymaster_openb.policies import POLICIES, SEEDS, WORKLOADS, Policy, experiment

__all__ = ["main"]

T = TypeVar("T")

_SOME_FAILED: Final = 1
_UNUSABLE: Final = 2
_POINTS: Final = {"alloc": "alloc_pct", "frag": "frag_pct"}
_POINTS_BESIDE: Final = {"frag_amount": "frag_amount_pct"}
_NAMES: Final = {
    f"openb.{key}": name for key, name in (_POINTS | _POINTS_BESIDE).items()
}

Curves = Mapping[tuple[str, str, str], Mapping[str, Mapping[int, str]]]
"""Workload, profile and seed -> curve -> x -> the value of y in the table."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested runs, and write their figures.

    Args:
        arguments: Those of the command line, by default.

    Returns:
        The exit code: 1 if a run has failed, 2 if something cannot be used.
    """
    given = _parser().parse_args(arguments)
    folder = given.results or given.out.with_name(f"{given.out.stem}-runs")
    try:
        made = experiment(
            given.data,
            workloads=given.workloads,
            policies=given.policies,
            seeds=given.seeds,
        )
        run = partial(_sweep, given=given)
        results = [run(made, folder)]
        _write(given.out, _figures(_curves(folder)))
        if given.trace:
            results += _trace(given, folder, run)
    except (QuaymasterError, OSError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return _UNUSABLE
    for result in results:
        for failed in result.failed:
            print(f"run.py: failed: {failed.cell}: {failed.cause}", file=sys.stderr)
    seconds, cpu_hours = results[0].seconds, results[0].cpu_seconds / 3600
    print(f"{given.out}: {results[0].total} runs, {cpu_hours:.2f} hours of CPU")
    print(f"this session: {results[0].made} runs in {seconds / 60:.1f} minutes")
    return _SOME_FAILED if any(result.failed for result in results) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__)
    add = parser.add_argument
    policies = {policy.number: policy for policy in POLICIES}
    policies |= {policy.published: policy for policy in POLICIES}
    seeds = {str(seed): seed for seed in range(2**16)}
    add("--data", type=Path, required=True, metavar="DIR", help="the published lists")
    add(
        "--workloads",
        type=_several({workload: workload for workload in WORKLOADS}),
        default=WORKLOADS,
        metavar="W,...",
        help="by default all with published results",
    )
    add(
        "--policies",
        type=_several(policies),
        default=POLICIES,
        metavar="01,...",
        help="by default all six",
    )
    add("--seeds", type=_several(seeds), default=SEEDS, metavar="42,...")
    add("--out", type=Path, required=True, metavar="FILE.csv", help="the figures")
    add(
        "--trace",
        type=Path,
        metavar="FILE",
        help="each decision of one workload and seed",
    )
    add("--results", type=Path, metavar="DIR", help="what the sweep keeps")
    add(
        "--workers", type=int, metavar="N", help="processes; by default as many as CPUs"
    )
    add("--scheduler", default="", metavar="ADDRESS", help="a Dask scheduler")
    add(
        "--verify",
        type=int,
        default=0,
        metavar="N",
        help="make every Nth decision twice",
    )
    return parser


def _several(choices: Mapping[str, T]) -> "partial[Sequence[T]]":
    return partial(_chosen, choices)


def _chosen(choices: Mapping[str, T], text: str) -> Sequence[T]:
    """What a list with commas names."""
    names = text.split(",")
    for name in names:
        if name not in choices:
            some = ", ".join(list(choices)[:20])
            message = f"expected some of {some}, got {name!r}"
            raise argparse.ArgumentTypeError(message)
    return [choices[name] for name in names]


def _sweep(made: Experiment, folder: Path, *, given: argparse.Namespace) -> SweepResult:
    return sweep(
        made,
        folder,
        workers=given.workers,
        scheduler=given.scheduler,
        verify=given.verify,
        on_progress=_show if sys.stderr.isatty() else None,
    )


def _show(now: SweepProgress) -> None:
    left = "" if now.seconds_left is None else f", {now.seconds_left / 60:.0f} min left"
    print(f"\r{now.done} of {now.total} runs{left}  ", end="", file=sys.stderr)


def _curves(folder: Path) -> Curves:
    """The curves of all runs that are done."""
    found: dict[tuple[str, str, str], dict[str, dict[int, str]]] = {}
    table = folder / "curves.csv"
    if not table.exists():
        return found  # all runs have failed
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            run = row["input"], row["profile"], row["seed"]
            curve = found.setdefault(run, {}).setdefault(row["curve"], {})
            curve[round(float(row["x"]))] = row["y"]
    return found


def _figures(curves: Curves) -> Iterator[Sequence[object]]:
    """The rows of the table that is compared with the published ones."""
    published = {policy.name: policy.published for policy in POLICIES}
    yield "workload", "policy", "seed", "step", *_NAMES.values()
    for (workload, profile, seed), by_name in curves.items():
        points = [by_name[name] for name in _NAMES]
        for step in points[0]:
            line = [point[step] for point in points]
            yield workload, published[profile], seed, step, *line


def _trace(
    given: argparse.Namespace, folder: Path, run: "partial[SweepResult]"
) -> Iterator[SweepResult]:
    """Make runs in which decisions are noted, one policy after the other."""
    lines: list[Sequence[object]] = [
        ("policy", "arrival", "pod", "node", "gpus", "score")
    ]
    if len(given.workloads) != 1 or len(given.seeds) != 1:
        raise QuaymasterError("--trace: expected one workload and one seed")
    [workload], [seed] = given.workloads, given.seeds
    pods = pods_of(given.data, workload)
    names = [pods[row].name for row in arrivals_of(given.data, workload, seed).pods]
    for policy in given.policies:
        made = experiment(
            given.data,
            workloads=[workload],
            policies=[policy],
            seeds=[seed],
            with_decisions=True,
        )
        here = folder / f"trace-{policy.published}"
        yield run(made, here)
        for curves in _curves(here).values():
            lines += _decisions(policy, names, curves)
    _write(given.trace, lines)


def _decisions(
    policy: Policy, pods: Sequence[str], curves: Mapping[str, Mapping[int, str]]
) -> Iterator[Sequence[object]]:
    nodes, gpus = curves["decisions.node"], curves["decisions.gpus"]
    scores = curves["decisions.score"]
    for arrival, pod in enumerate(pods):
        node, bits, score = nodes[arrival], gpus[arrival], scores[arrival]
        if not node:
            yield policy.published, arrival, pod, "", "", ""
            continue
        name = f"openb-node-{round(float(node)):04}"
        numbers = "-".join(map(str, _set_bits(round(float(bits)))))
        points = round(float(score)) if score else ""
        yield policy.published, arrival, pod, name, numbers, points


def _set_bits(bits: int) -> Collection[int]:
    return [bit for bit in range(bits.bit_length()) if bits >> bit & 1]


def _write(file: Path, lines: Iterable[Sequence[object]]) -> None:
    with file.open("w", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows(lines)
