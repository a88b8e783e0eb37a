"""The command line: runs policies on an experiment, and prints the differences."""

import argparse
import itertools
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from quaymaster.scheduler import SchedulerOptions
from tests.openb.policies import POLICIES
from tests.openb.replay import differences
from tests.openb.trace import DATA, FILES, read_experiment

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the policies; return 1 if any decision differs."""
    options = _parser().parse_args(arguments)
    experiment = read_experiment(options.data)
    engine = SchedulerOptions(verify=options.verify)
    differ = False
    for policy in options.policy or POLICIES:
        start = time.process_time()
        found = differences(experiment, policy, options=engine)
        shown = list(itertools.islice(found, options.differences))
        count = len(shown) + sum(1 for _ in found)
        seconds = time.process_time() - start
        sys.stdout.write(
            f"{policy}: {count} of {len(experiment.arrivals)} decisions differ "
            f"({seconds:.1f} s)\n"
        )
        sys.stdout.writelines(f"  {difference}\n" for difference in shown)
        sys.stdout.flush()
        differ = differ or count > 0
    return 1 if differ else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.openb")
    parser.add_argument(
        "data",
        nargs="?",
        type=_folder,
        default=DATA,
        metavar="FOLDER",
        help="files as in tests/openb/data (default: these, the first 3,000 arrivals)",
    )
    parser.add_argument(
        "--policy",
        action="append",
        choices=POLICIES,
        help="run this policy; may be given several times (default: all)",
    )
    parser.add_argument(
        "--differences",
        type=int,
        default=5,
        help="how many differences to print in full, per policy (default: 5)",
    )
    parser.add_argument(
        "--verify",
        type=int,
        default=0,
        help="make every so manieth decision a second time, by scalar hooks alone "
        "(default: none)",
    )
    return parser


def _folder(text: str) -> Path:
    folder = Path(text)
    for file in FILES:
        if not (folder / file).is_file():
            raise argparse.ArgumentTypeError(f"there is no {folder / file}")
    return folder


if __name__ == "__main__":
    sys.exit(main())
