"""The command line: plays recorded sets, and prints a table."""

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tests.conformance.sets import NOT_PLAYED, SETS
from tests.conformance.table import Row, rows, table

__all__ = ["main"]

_NAMES: Final = (*SETS, *NOT_PLAYED)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if anything differs."""
    options = _parser().parse_args(arguments)
    # Plugins that fail are part of the records; their tracebacks are not needed.
    logging.basicConfig(level=logging.CRITICAL + 1)
    played: list[Row] = []
    for line in table(_kept(rows(options.sets, is_quick=options.quick), played)):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    texts = [text for row in played for text in row.texts]
    sys.stdout.writelines(f"{text}\n" for text in texts)
    return int(bool(texts))


def _kept(played: Iterable[Row], kept: list[Row]) -> Iterator[Row]:
    for row in played:
        kept.append(row)
        yield row


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance",
        description="Play recorded cases of Kubernetes, and print a table.",
    )
    parser.add_argument(
        "sets",
        nargs="*",
        type=_set_name,
        metavar="SET",
        help=f"only these sets: {', '.join(_NAMES)}",
    )
    parser.add_argument(
        "--quick", action="store_true", help="only the first case of each family"
    )
    return parser


def _set_name(text: str) -> str:
    if text not in _NAMES:
        names = ", ".join(_NAMES)
        raise argparse.ArgumentTypeError(f"expected one of {names}, got {text!r}")
    return text


if __name__ == "__main__":
    sys.exit(main())
