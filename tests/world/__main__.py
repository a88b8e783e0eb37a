"""The command line: ``emit`` prints our answers, ``check`` what differs."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.world.cases import Tree, family_of, read_cases
from tests.world.judge import answer_to, differences

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 1 if a check finds differences."""
    options = _parser().parse_args(arguments)
    cases = [
        case
        for case in read_cases(options.file)
        if options.family in (None, family_of(case))
    ]
    return _check(cases) if options.command == "check" else _emit(cases)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.world")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("emit", "print our answers, one case a line"),
        ("check", "print where our answers differ from the recording"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("file", type=Path, metavar="CASES")
        command.add_argument("--family", help="only the cases of a family or kind")
    return parser


def _emit(cases: Iterable[Tree]) -> int:
    for case in cases:
        _write(json.dumps(answer_to(case), sort_keys=True))
    return 0


def _check(cases: Sequence[Tree]) -> int:
    all_cases = Counter(map(family_of, cases))
    differing: Counter[str] = Counter()
    for case in cases:
        texts = differences(case)
        differing[family_of(case)] += bool(texts)
        for text in texts:
            _write(f"{case['id']} ({case.get('what', family_of(case))}): {text}")
    for family, count in sorted(all_cases.items()):
        _write(f"{family}: {count - differing[family]} of {count} equal")
    equal = len(cases) - differing.total()
    _write(f"in all: {equal} of {len(cases)} equal")
    return int(equal < len(cases))


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
