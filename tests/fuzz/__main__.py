"""``python -m tests.fuzz --mutants 10000 --seed 1``: run mutants, keep what breaks.

With ``--gentle``, mutants stay valid, and decisions are judged as well.
"""

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.gentle import make_gentle_mutant
from tests.fuzz.mutants import Mutant, make_mutant
from tests.fuzz.run import judge, judge_valid


def main() -> int:
    """Run them; the exit code is 1 if any of them broke the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--begin", type=int, default=0, help="the first number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gentle", action="store_true")
    parser.add_argument("--keep", type=Path, help="a directory for what breaks")
    options = parser.parse_args()
    broken: Counter[str] = Counter()
    codes: Counter[tuple[str, object]] = Counter()
    slowest = 0.0
    for number in range(options.begin, options.begin + options.mutants):
        rng = random.Random(f"{options.seed}/{number}")
        begin = time.perf_counter()
        mutant, code, problem = _judged(rng, gentle=options.gentle)
        slowest = max(slowest, time.perf_counter() - begin)
        codes[mutant.arguments[0], code] += 1
        if problem is None:
            continue
        broken[problem.strip().splitlines()[-1]] += 1
        sys.stdout.write(f"mutant {number}: {' '.join(mutant.arguments)}\n{problem}\n")
        sys.stdout.flush()
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            file = options.keep / f"{number}.{mutant.ending}"
            file.write_bytes(mutant.text)
    for line, count in broken.most_common():
        sys.stdout.write(f"{count} x {line}\n")
    for (command, code), count in sorted(codes.items(), key=str):
        sys.stdout.write(f"{command}, exit code {code}: {count}\n")
    total = broken.total()
    sys.stdout.write(
        f"{options.mutants} mutants, {total} broken, the slowest took {slowest:.1f} s\n"
    )
    return 1 if total else 0


def _judged(rng: random.Random, *, gentle: bool) -> tuple[Mutant, object, str | None]:
    if not gentle:
        mutant = make_mutant(rng)
        return mutant, "any", judge(mutant)
    mutant = make_gentle_mutant(rng)
    ending, problem = judge_valid(mutant)
    return mutant, ending.code, problem


if __name__ == "__main__":
    sys.exit(main())
