"""The command line: ``emit`` prints our compiler's results for recorded selectors."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cel.cases import RECORDED, read_cases
from tests.cel.emit import emitted


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.cel")
    commands = parser.add_subparsers(dest="command", required=True)
    emit = commands.add_parser("emit", help="print our results as records")
    emit.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        nargs="?",
        default=RECORDED,
        help="a file of cases, one JSON object per line, compressed by gzip "
        "(default: those that the tests play)",
    )
    options = parser.parse_args(arguments)
    try:
        for case, _ in read_cases(options.file):
            sys.stdout.write(f"{json.dumps(emitted(case))}\n")
    except (OSError, ValueError) as error:
        parser.exit(2, f"{options.file}: {error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
