"""The command line: ``check`` compares with the records, ``emit`` prints ours."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.admission.cases import Case, read_cases
from tests.admission.compare import differences, is_about_others, unlike_paths
from tests.admission.ours import admit, as_record

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code."""
    options = _parser().parse_args(arguments)
    cases = read_cases(options.file)
    if options.command == "check":
        return _check(list(cases))
    for case in cases:
        _say(json.dumps(as_record(case, admit(case.submitted)), sort_keys=True))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.admission")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("check", "compare what we store and refuse with the records"),
        ("emit", "print what we store and refuse, one object a line"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("file", type=Path, metavar="FILE")
    return parser


def _check(cases: Sequence[Case]) -> int:
    compared = [case for case in cases if not is_about_others(case)]
    differing = 0
    for case in compared:
        outcome = admit(case.submitted)
        found = differences(case, outcome)
        differing += bool(found)
        for difference in found or unlike_paths(case, outcome):
            _say(f"{case.id}: {difference}")
    left_out = len(cases) - len(compared)
    _say(f"{len(compared)} compared, {differing} differ; {left_out} left out")
    return 1 if differing else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
