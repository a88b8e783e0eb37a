"""Writes the data files of this folder: ``python -m tests.gates.generate``.

It needs Go, which downloads the modules of both releases::

    go mod download k8s.io/kubernetes@v1.37.2 k8s.io/apiserver@v0.37.2 ...
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.gates.sources import FILES, Gate, read_release, scheduler_gates

__all__ = ["CHANGED", "RELEASES", "SCHEDULER", "changed_gates"]

CHANGED: Final = Path(__file__).with_name("changed_gates.json")
"""The gates whose default differs between the releases, and those of one release."""

SCHEDULER: Final = Path(__file__).with_name("scheduler_gates.json")
"""The gates that the scheduler of each release reads."""

RELEASES: Final = ((36, 2), (37, 2))
"""Minor version and patch of the releases that are compared."""


def changed_gates(
    old: Mapping[str, Gate], new: Mapping[str, Gate]
) -> dict[str, dict[str, object]]:
    """Return the gates that are new, removed, or have another default."""
    return {
        name: {"old": _written(old.get(name)), "new": _written(new.get(name))}
        for name in sorted(old.keys() | new.keys())
        if _default(old.get(name)) != _default(new.get(name))
    }


def _default(gate: Gate | None) -> bool | None:
    return None if gate is None else gate.default


def _written(gate: Gate | None) -> dict[str, object] | None:
    if gate is None:
        return None
    locked = {"locked": True} if gate.is_locked else {}
    return {"default": gate.default, "stage": gate.stage, **locked}


def _download(minor: int, patch: int) -> None:
    modules = {module for module, _ in FILES}
    names = [
        f"k8s.io/{module}@v{int(module == 'kubernetes')}.{minor}.{patch}"
        for module in modules
    ]
    subprocess.run(["go", "mod", "download", *sorted(names)], check=True)


def _module_folder() -> Path:
    command = ["go", "env", "GOMODCACHE"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return Path(answer.stdout.strip()) / "k8s.io"


def _write(path: Path, entries: Mapping[str, object]) -> None:
    """Write a file with one line for each entry."""
    lines = [f"  {json.dumps(name)}: {json.dumps(e)}" for name, e in entries.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Download both releases, and write their differences."""
    for minor, patch in RELEASES:
        _download(minor, patch)
    folder = _module_folder()
    old, new = (read_release(folder, *release) for release in RELEASES)
    _write(CHANGED, changed_gates(old, new))
    read = {
        f"1.{minor}": {
            name: _written(gates[name])
            for name in sorted(scheduler_gates(folder, minor, patch) & gates.keys())
        }
        for (minor, patch), gates in zip(RELEASES, (old, new), strict=True)
    }
    _write(SCHEDULER, read)


if __name__ == "__main__":
    main()
