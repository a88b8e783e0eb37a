"""The command line: ``emit FILE`` prints what our queue does, one line per trace."""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.queue.cases import read_cases
from tests.queue.player import play

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.queue")
    commands = parser.add_subparsers(dest="command", required=True)
    emit = commands.add_parser("emit", help="print our results as records")
    emit.add_argument("file", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    # Failing hints are part of the traces; their tracebacks are of no interest.
    logging.basicConfig(level=logging.CRITICAL + 1)
    for case in read_cases(options.file):
        record = {"id": case.case_id, "results": list(play(case))}
        sys.stdout.write(json.dumps(record, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
