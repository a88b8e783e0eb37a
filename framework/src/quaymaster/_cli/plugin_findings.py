"""Prints the findings about a package, and reads the arguments of plugins."""

from collections.abc import Iterator, Mapping
from typing import Final

import click

from quaymaster._authors.packages.check import Report
from quaymaster._authors.packages.findings import Finding, Level
from quaymaster._base.errors import counted
from quaymaster._cli.columns import Columns
from quaymaster._cli.output import print_text
from quaymaster._core.config.load import read_source
from quaymaster._core.config.yaml_file import read_yaml

__all__ = ["as_document", "plugin_args", "print_findings_csv", "print_report"]


def plugin_args(file: str | None) -> Mapping[str, Mapping[str, object]]:
    """The arguments of plugins in a configuration: name -> ``args``.

    Only ``pluginConfig`` is read, since the plugins need not be installed.

    Args:
        file: A file, or the name of a shipped profile; None: no arguments.

    Raises:
        BadParameter: No profile of the file has arguments.
        ConfigErrors: It cannot be read.
    """
    if file is None:
        return {}
    profiles = _members(read_yaml(read_source(file), file), "profiles")
    args_by_plugin = {
        str(entry.get("name")): args
        for profile in profiles
        for entry in _members(profile, "pluginConfig")
        if isinstance(args := entry.get("args"), Mapping)
    }
    if not args_by_plugin:
        raise click.BadParameter(f"{file}: expected profiles[].pluginConfig, got none")
    return args_by_plugin


def _members(document: object, key: str) -> Iterator[Mapping[str, object]]:
    """The mappings in the list at a key; other values are skipped."""
    members = document.get(key) if isinstance(document, Mapping) else None
    if isinstance(members, list):
        yield from (member for member in members if isinstance(member, Mapping))


def print_report(report: Report) -> None:
    """Print a line for each finding, and a line with their numbers."""
    candidate = report.candidate
    name = f"{candidate.name} {candidate.version}".strip() or "a package without a name"
    counts = [
        counted(report.count(level), level) for level in Level if report.count(level)
    ]
    offers = [counted(len(candidate.plugins), "plugin")]
    offers += [counted(len(candidate.kinds), "kind")] if candidate.kinds else []
    lines = [str(finding) for finding in report.findings]
    lines.append(f"{name}: {', '.join(offers)}; {', '.join(counts) or 'all is well'}")
    print_text("".join(f"{line}\n" for line in lines))


def as_document(report: Report) -> dict[str, object]:
    """The report, in the form of ``-o json``."""
    return {
        "distribution": report.candidate.name,
        "version": report.candidate.version,
        "plugins": [plugin.entry.name for plugin in report.candidate.plugins],
        "kinds": [kind.entry.name for kind in report.candidate.kinds],
        "needs": report.needs,
        "errors": report.count(Level.ERROR),
        "warnings": report.count(Level.WARNING),
        "findings": _FINDINGS.documents(report.findings),
    }


def print_findings_csv(report: Report) -> None:
    """Print a line of CSV for each finding."""
    _FINDINGS.print_csv(report.findings)


_FINDINGS: Final = Columns[Finding]("level", "check", "where", "message", "example")
