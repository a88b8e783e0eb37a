"""``python -m tests.e2e.faults``."""

import argparse
import random
import sys
from collections.abc import Sequence

from tests.e2e.faults.faults import FAULTS
from tests.e2e.faults.play import play
from tests.e2e.faults.stage import Stage

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Play faults, and print a line for each.

    Returns:
        The exit code: 1 if an invariant is broken after one of them.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.faults")
    parser.add_argument("--fault", choices=FAULTS, action="append", help="all without")
    parser.add_argument("--times", type=int, default=1, help="how often each")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--pods", type=int, default=2000, help="how many in a burst")
    parser.add_argument("--gangs", type=int, default=0, help="pods of a gang, or 0")
    parser.add_argument("--log", action="store_true", help="print the schedulers' logs")
    options = parser.parse_args(arguments)
    bad = 0
    with Stage.cluster(has_groups=bool(options.gangs)) as plane:
        stage = Stage(plane, options.pods, options.seed, gang_size=options.gangs)
        _say(f"seed {options.seed}")
        for name in options.fault or FAULTS:
            fault = FAULTS[name]
            with stage.schedulers(fault.replicas, via_proxy=fault.via_proxy):
                for number in range(1, options.times + 1):
                    outcome = play(stage, fault)
                    bad += bool(outcome.problems)
                    _say(f"{name} {number}: {outcome}")
                if options.log:
                    for replica in stage.replicas:
                        _say(replica.program.log.read_text())
    _say(f"{bad} bad" if bad else "all fine")
    return 1 if bad else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
