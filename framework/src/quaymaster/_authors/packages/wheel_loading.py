"""Loads plugins from a wheel, in a process that does not see the folder's files first.

A module may read a file that is in the folder, but not in the package, or only there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

__all__ = ["TrialRun", "tried_from"]

_MOST_SECONDS: Final = 120
_PROGRAM: Final = "quaymaster._authors.packages.trial_run"


@attrs.frozen
class TrialRun:
    """What plugins do when they are loaded from a wheel.

    Attributes:
        failures: The plugins that can be built here, but not from the wheel -> why not.
        files: The files that the packages have opened here, with all connections
            failing.
    """

    failures: Mapping[str, str]
    files: Sequence[Path]


def tried_from(site: Path, entries: Sequence[str]) -> TrialRun:
    """Try plugins from a wheel and here.

    Args:
        site: The folder with the files of the wheel.
        entries: The locations of the plugins: ``package.module:Class``.
    """
    failures = _tried(entries, [str(site), *sys.path]).failures
    # A plugin may need arguments, or what only its tests prepare.
    usual = _tried(entries, sys.path)
    return TrialRun(
        {
            entry: text
            for entry, text in failures.items()
            if entry not in usual.failures
        },
        usual.files,
    )


def _tried(entries: Sequence[str], path: Sequence[str]) -> TrialRun:
    """Try plugins with a path of modules."""
    folders = [part or str(Path.cwd()) for part in path]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    try:
        result = subprocess.run(
            [sys.executable, "-P", "-m", _PROGRAM, *entries],
            env=variables,
            capture_output=True,
            check=True,
            text=True,
            timeout=_MOST_SECONDS,
        )
    except subprocess.SubprocessError:
        return TrialRun({}, ())  # a plugin has ended the process, for whatever reason
    found = json.loads(result.stdout.splitlines()[-1])
    return TrialRun(found["failures"], [Path(file) for file in found["files"]])
