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

__all__ = ["failures_from"]

_MOST_SECONDS: Final = 120
_SCRIPT: Final = """
import importlib, json, sys
from quaymaster.testing import PluginHarness
failures = {}
for entry in sys.argv[1:]:
    module, _, path = entry.partition(":")
    try:
        value = importlib.import_module(module)
        for part in filter(None, path.split(".")):
            value = getattr(value, part)
        PluginHarness(value)
    except Exception as error:
        failures[entry] = f"{type(error).__name__}: {error}"
print()
print(json.dumps(failures))
"""


def failures_from(site: Path, entries: Sequence[str]) -> Mapping[str, str]:
    """Return which plugins load and start here, but not from a wheel, and why not.

    Args:
        site: The folder with the files of the wheel.
        entries: The locations of the plugins: ``package.module:Class``.
    """
    failures = _failures(entries, [str(site), *sys.path])
    if not failures:
        return {}
    # A plugin may need arguments, or what only its tests prepare.
    usual = _failures([*failures], sys.path)
    return {entry: text for entry, text in failures.items() if entry not in usual}


def _failures(entries: Sequence[str], path: Sequence[str]) -> Mapping[str, str]:
    """Return the plugins that cannot be built -> the error."""
    folders = [part or str(Path.cwd()) for part in path]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    try:
        result = subprocess.run(
            [sys.executable, "-P", "-c", _SCRIPT, *entries],
            env=variables,
            capture_output=True,
            check=True,
            text=True,
            timeout=_MOST_SECONDS,
        )
    except subprocess.SubprocessError:
        return {}  # a plugin has ended the process, for whatever reason
    failures: Mapping[str, str] = json.loads(result.stdout.splitlines()[-1])
    return failures
