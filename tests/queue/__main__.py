"""The command line: prints our queue's states, or their differences from upstream's."""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from quaymaster.config import KUBERNETES_VERSIONS
from tests.queue.cases import read_cases
from tests.queue.differences import first_difference
from tests.queue.player import play

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 1 if a check found differences."""
    options = _parser().parse_args(arguments)
    # Failing hints are part of the traces; their tracebacks are not needed.
    logging.basicConfig(level=logging.CRITICAL + 1)
    command = _check if options.command == "check" else _emit
    return command(options.file, options.kubernetes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.queue")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("emit", "print our results as records"),
        ("check", "print the first difference of each trace"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("file", type=Path, metavar="FILE")
        command.add_argument(
            "--kubernetes",
            choices=KUBERNETES_VERSIONS,
            default="1.36",
            help="the version whose queue it is (default: %(default)s)",
        )
    return parser


def _emit(file: Path, version: str) -> int:
    for case in read_cases(file, version):
        record = {"id": case.case_id, "results": list(play(case))}
        sys.stdout.write(json.dumps(record, separators=(",", ":")) + "\n")
    return 0


def _check(file: Path, version: str) -> int:
    cases = differ = spared = 0
    for case in read_cases(file, version):
        cases += 1
        found = first_difference(case)
        if found and case.has_two_queues:
            spared += 1
        elif found:
            differ += 1
            sys.stdout.write(f"{found}\n")
    text = f"{cases} traces, {differ} differ"
    if spared:
        text += f", and {spared} in which upstream has a pod in two queues"
    sys.stdout.write(f"{text}\n")
    return min(differ, 1)


if __name__ == "__main__":
    sys.exit(main())
