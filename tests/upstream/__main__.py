"""The command line: ``emit`` prints our answers, ``check`` what differs."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.kit.internals.testing import RecordedCase, read_cases
from tests.upstream.families import family_of, play
from tests.upstream.judge import outcomes

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
    parser = argparse.ArgumentParser(prog="python -m tests.upstream")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("emit", "print our answers, one case a line"),
        ("check", "print where our answers differ from upstream's"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("file", type=Path, metavar="CASES")
        command.add_argument("--family", help="only these cases: FILE/PACKAGE")
    return parser


def _emit(cases: Iterable[RecordedCase]) -> int:
    for case in cases:
        answers = [None if isinstance(played, str) else played for played in play(case)]
        _write(json.dumps({"id": case.name, "answers": answers}))
    return 0


def _check(cases: Iterable[RecordedCase]) -> int:
    words: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for case in cases:
        for outcome in outcomes(case):
            words[outcome.word] += 1
            if outcome.reason:
                reasons[f"{outcome.word}: {outcome.reason}"] += 1
            if outcome.word == "differs":
                _write(f"{outcome.where}: {outcome.problem}")
    for reason, count in reasons.most_common():
        _write(f"{count} {reason}")
    _write(", ".join(f"{count} {word}" for word, count in words.most_common()))
    return int(words["differs"] > 0 or not words["equal"])


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
