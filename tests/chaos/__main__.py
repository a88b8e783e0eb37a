"""The command line: runs histories, reports, and shrinks the first failure."""

import argparse
import gc
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from quaymaster.config import KUBERNETES_VERSIONS
from tests.chaos.kinds import HISTORIES
from tests.chaos.machine import RATES
from tests.chaos.run import replay, script, shrink

__all__ = ["main"]

_REPORTED = 1000
"""The number of histories after which progress is reported."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the histories of consecutive seeds; return 1 if any breaks an invariant."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--histories", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--kind", choices=HISTORIES, default="pods")
    parser.add_argument(
        "--kubernetes", choices=KUBERNETES_VERSIONS, default="1.36", metavar="V"
    )
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.histories)
    return _run(seeds, options.kubernetes, options.kind)


def _run(seeds: Sequence[int], version: str, kind: str) -> int:
    draw = HISTORIES[kind].draw
    counts: Counter[str] = Counter()
    broken: list[tuple[int, str]] = []
    for seed in seeds:
        outcome = replay(seed, draw(seed), version, kind)
        counts.update(outcome.counts)
        if outcome.violation:
            broken.append((seed, outcome.violation))
            _say(f"seed {seed} breaks an invariant", sys.stderr)
        done = seed + 1 - seeds[0]
        if done % _REPORTED == 0:
            _say(f"{done} histories, {len(broken)} violations", sys.stderr)
    _say(
        f"histories: {len(seeds)}, steps: {counts.pop('steps')}, "
        f"violations: {len(broken)}"
    )
    for name in dict.fromkeys([*(fault.value for fault in RATES), *sorted(counts)]):
        _say(f"  {name}: {counts[name]}")
    if not broken:
        return 0
    for seed, violation in broken[:10]:
        _say(f"seed {seed}: {violation}")
    first = broken[0][0]
    steps = shrink(first, draw(first), version, kind)
    _say("\n" + script(first, steps, version, kind))
    return 1


def _say(text: str, where: TextIO | None = None) -> None:
    where = where or sys.stdout
    where.write(text + "\n")
    where.flush()


if __name__ == "__main__":
    # A history leaves much garbage behind, all of it young: collect it less often.
    gc.freeze()
    gc.set_threshold(20_000)
    sys.exit(main())
