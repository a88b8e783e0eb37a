"""Reads feature gates in the Go sources of a release, as its binaries report them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

__all__ = ["FILES", "Gate", "gates_of", "read_release", "scheduler_gates"]

FILES: Final = (
    ("kubernetes", "pkg/features/kube_features.go"),
    ("apiserver", "pkg/features/kube_features.go"),
    ("apiextensions-apiserver", "pkg/features/kube_features.go"),
    ("controller-manager", "pkg/features/kube_features.go"),
    ("client-go", "features/known_features.go"),
    ("component-base", "logs/api/v1/kube_features.go"),
    ("component-base", "metrics/features/kube_features.go"),
    ("component-base", "zpages/features/kube_features.go"),
)
"""Module of ``k8s.io`` and file, from which kube-apiserver, kube-controller-manager,
kube-scheduler and kubelet read their gates.
"""

_ENTRY: Final = re.compile(
    r"^\t+(?:\w+\.)?(\w+): \{\n((?:\t+\{Version:.*\n|\t+//.*\n)+)", re.MULTILINE
)
_FIELD: Final = re.compile(r"(\w+): (?:version\.MustParse\(\"([\d.]+)\"\)|([\w.]+))")
_USE: Final = re.compile(r"\bfeatures\.([A-Z]\w+)")


@attrs.frozen(kw_only=True)
class Gate:
    """A feature gate of one release.

    Attributes:
        default: Whether it is on by default.
        stage: ``Alpha``, ``Beta``, ``GA`` or ``Deprecated``.
        is_locked: Whether its value is fixed.
    """

    default: bool
    stage: str
    is_locked: bool


def read_release(folder: Path, minor: int, patch: int) -> dict[str, Gate]:
    """Read all gates of a release.

    Args:
        folder: The modules of ``k8s.io`` in the module cache of Go.
        minor: The minor version, such as 37.
        patch: The patch release.

    Raises:
        FileNotFoundError: A module has not been downloaded.
    """
    gates: dict[str, Gate] = {}
    for module, file in FILES:
        major = 1 if module == "kubernetes" else 0
        path = folder / f"{module}@v{major}.{minor}.{patch}" / file
        if path.is_file() or file != "metrics/features/kube_features.go":
            gates.update(gates_of(path.read_text(encoding="utf-8"), minor))
    return gates


def gates_of(source: str, minor: int) -> dict[str, Gate]:
    """Read the gates that a Go file declares for a minor version.

    The last entry up to the version counts. An entry with ``MinCompatibilityVersion``
    does not count if that is the version itself: by default a binary stays compatible
    with the minor version before its own (``component-base/compatibility/version.go``).
    """
    gates = {}
    for match in _ENTRY.finditer(source):
        specs = [_fields(line) for line in match[2].splitlines() if "{Version" in line]
        reached = [spec for spec in specs if _is_reached(spec, minor)]
        if reached:
            gates[match[1]] = _gate(reached[-1])
    return gates


def scheduler_gates(folder: Path, minor: int, patch: int) -> set[str]:
    """Return names that may be gates which the scheduler of a release reads.

    Args:
        folder: As for `read_release`.
        minor: The minor version.
        patch: The patch release.
    """
    scheduler = folder / f"kubernetes@v1.{minor}.{patch}" / "pkg/scheduler"
    names: set[str] = set()
    for path in scheduler.rglob("*.go"):
        if not path.name.endswith("_test.go"):
            names.update(_USE.findall(path.read_text(encoding="utf-8")))
    return names


def _fields(line: str) -> Mapping[str, str]:
    entry = line.partition("}")[0]  # the rest is a comment, which may name fields
    return {name: version or word for name, version, word in _FIELD.findall(entry)}


def _is_reached(spec: Mapping[str, str], minor: int) -> bool:
    least = spec.get("MinCompatibilityVersion", "1.0")
    return _minor(spec["Version"]) <= minor and _minor(least) < minor


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def _gate(spec: Mapping[str, str]) -> Gate:
    return Gate(
        default=spec["Default"] == "true",
        stage=spec["PreRelease"].removeprefix("featuregate."),
        is_locked=spec.get("LockToDefault") == "true",
    )
