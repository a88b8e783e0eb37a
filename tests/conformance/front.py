"""The command line of a recorded set.

``emit`` prints our answers, ``check`` what differs.
"""

import argparse
import json
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from tests.conformance.recorded_set import WORDS, Outcome, RecordedSet

__all__ = ["run"]

CaseT = TypeVar("CaseT")


def run(recorded: RecordedSet[CaseT], arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 1 if a check finds differences."""
    options = _parser(recorded).parse_args(arguments)
    # Plugins that fail are part of the records; their tracebacks are not needed.
    logging.basicConfig(level=logging.CRITICAL + 1)
    cases = (
        case
        for case in recorded.read(options.file, options.kubernetes)
        if options.family in (None, recorded.family_of(case))
    )
    command = _check if options.command == "check" else _emit
    return command(recorded, cases)


def _parser(recorded: RecordedSet[CaseT]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m tests.{recorded.name}")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("emit", "print our answers, one case a line"),
        ("check", "print where our answers differ from the recorded ones"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("file", type=Path, metavar="CASES")
        command.add_argument("--family", help="only the cases of this family")
        command.add_argument(
            "--kubernetes",
            choices=recorded.versions,
            default=recorded.versions[0],
            help="the version that answers (default: %(default)s)",
        )
    return parser


def _emit(recorded: RecordedSet[CaseT], cases: Iterable[CaseT]) -> int:
    """Print our answers; a case that fails is reported, and does not end the others."""
    failed = 0
    for number, case in enumerate(cases, 1):
        try:
            answer = recorded.answer(case)
        except Exception as error:
            sys.stderr.write(f"case {number}: {error!r}\n")
            failed += 1
        else:
            _write(json.dumps(answer, separators=(",", ":")))
    return int(failed > 0)


def _check(recorded: RecordedSet[CaseT], cases: Iterable[CaseT]) -> int:
    words: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for number, case in enumerate(cases, 1):
        for outcome in _outcomes(recorded, case, number):
            words[outcome.word] += 1
            if outcome.reason:
                reasons[f"{outcome.word}: {outcome.reason}"] += 1
            if outcome.word == "differs":
                _write(outcome.text)
    for reason, count in reasons.most_common():
        _write(f"{count} {reason}")
    counts = ", ".join(f"{words[word]} {word}" for word in WORDS if words[word])
    _write(f"{recorded.unit}: {counts or 'none'}")
    return int(words["differs"] > 0 or not words["equal"])


def _outcomes(
    recorded: RecordedSet[CaseT], case: CaseT, number: int
) -> Iterable[Outcome]:
    try:
        return list(recorded.outcomes(case))
    except Exception as error:  # the other cases are played nevertheless
        return [Outcome.of(f"case {number}: {error!r}")]


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
