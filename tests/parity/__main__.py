"""The command line: ``check`` compares with records, ``emit`` prints our decisions."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path as FilePath
from typing import Final

from quaymaster.config import KUBERNETES_VERSIONS
from quaymaster.scheduler import PluginRegistry
from tests.parity.cases import Case, read_cases
from tests.parity.cluster import Path
from tests.parity.emit import emitted
from tests.parity.report import check_cases

_PATHS: Final[dict[str, tuple[Path, ...]]] = {
    "scalar": ("scalar",),
    "twin": ("twin",),
    "both": ("scalar", "twin"),
    "plain": ("plain",),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code."""
    options = _parser().parse_args(arguments)
    registry = PluginRegistry.discover()
    paths = _PATHS[options.path]
    if options.command == "check":
        return _check(
            options.files, registry, paths, options.differences, options.kubernetes
        )
    cases = read_cases(options.file, options.kubernetes)
    return _emit(cases, registry, paths, options.partial)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.parity")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="compare our decisions with the records")
    check.add_argument("files", nargs="+", type=FilePath, metavar="FILE")
    check.add_argument(
        "--differences",
        type=int,
        default=5,
        help="how many differences to print in full, per family (default: 5)",
    )
    emit = commands.add_parser("emit", help="print our decisions as records")
    emit.add_argument("file", type=FilePath, metavar="FILE")
    emit.add_argument(
        "--partial",
        action="store_true",
        help="also the fields in which plugins that are not installed have a part",
    )
    for command in (check, emit):
        command.add_argument(
            "--path",
            choices=_PATHS,
            default="both",
            help="which hooks judge nodes: the scalar ones, or batch twins where "
            "there are any, or these with nothing remembered: plain (default: both)",
        )
        command.add_argument(
            "--kubernetes",
            choices=KUBERNETES_VERSIONS,
            default="1.36",
            help="the Kubernetes whose decisions are made (default: 1.36)",
        )
    return parser


def _check(
    files: Sequence[FilePath],
    registry: PluginRegistry,
    paths: Sequence[Path],
    differences: int,
    version: str,
) -> int:
    differ = False
    for file in files:
        for report in check_cases(read_cases(file, version), registry, paths):
            sys.stdout.writelines(f"{line}\n" for line in report.lines(differences))
            sys.stdout.flush()
            differ = differ or bool(report.tally.differences)
    return 1 if differ else 0


def _emit(
    cases: Iterable[Case],
    registry: PluginRegistry,
    paths: Sequence[Path],
    partial: bool,
) -> int:
    differ = False
    for case in cases:
        records = [emitted(case, registry, path, partial=partial) for path in paths]
        if records[0] != records[-1]:
            sys.stderr.write(f"{case.case_id}: the paths differ\n")
            differ = True
        sys.stdout.write(json.dumps(records[0], separators=(",", ":")) + "\n")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
