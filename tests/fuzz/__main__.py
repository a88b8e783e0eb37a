"""``python -m tests.fuzz --mutants 10000 --seed 1`` runs mutants and keeps failures."""

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.mutants import make_mutant
from tests.fuzz.run import judge


def main() -> int:
    """Run the mutants; the exit code is 1 if any of them broke the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a directory for what breaks")
    given = parser.parse_args()
    broken: Counter[str] = Counter()
    slowest = 0.0
    for number in range(given.mutants):
        mutant = make_mutant(random.Random(f"{given.seed}/{number}"))
        begin = time.perf_counter()
        wrong = judge(mutant)
        slowest = max(slowest, time.perf_counter() - begin)
        if wrong is None:
            continue
        broken[wrong.strip().splitlines()[-1]] += 1
        sys.stdout.write(f"mutant {number}: {' '.join(mutant.arguments)}\n{wrong}\n")
        if given.keep is not None:
            given.keep.mkdir(parents=True, exist_ok=True)
            file = given.keep / f"{number}.{mutant.ending}"
            file.write_bytes(mutant.text)
    for line, count in broken.most_common():
        sys.stdout.write(f"{count} x {line}\n")
    total = broken.total()
    sys.stdout.write(
        f"{given.mutants} mutants, {total} broken, the slowest took {slowest:.1f} s\n"
    )
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
