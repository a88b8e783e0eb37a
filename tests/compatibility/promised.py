"""The public names with their arguments and members, as a version has promised them.

``python -m tests.compatibility.promised`` writes the current ones into the record. Run
it once for each minor version, at its release, and never to make a test pass: names in
a record may be removed only after their time of deprecation.
"""

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Final, TypeAlias

from tests.kit.front_door import EXPORTS

__all__ = ["RECORD", "Promises", "promises", "recorded"]

RECORD: Final = Path(__file__).with_name("public-0.1.json")

Promises: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""Module -> name -> its arguments, and its members with a dot before them."""


def promises() -> Promises:
    """Return the current names."""
    return {
        module: {
            name: _parts(getattr(import_module(module), name)) for name in sorted(names)
        }
        for module, names in EXPORTS.items()
    }


def recorded() -> Promises:
    """Return the promised names."""
    found: Promises = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def _parts(thing: object) -> Sequence[str]:
    arguments = [] if _is_never_called(thing) else _arguments(thing)
    members = sorted(_members(thing)) if isinstance(thing, type) else []
    return [*arguments, *(f".{name}" for name in members)]


def _is_never_called(thing: object) -> bool:
    if not isinstance(thing, type):
        return False
    return issubclass(thing, Enum) or bool(getattr(thing, "_is_protocol", False))


def _arguments(thing: object) -> Sequence[str]:
    if not callable(thing):
        return []
    try:
        found = inspect.signature(thing).parameters
    except (TypeError, ValueError):  # not written in Python
        return []
    return [name for name in found if not name.startswith("_")]


def _members(kind: type) -> set[str]:
    own = (base for base in kind.__mro__ if base.__module__.startswith("quaymaster"))
    # The fields of classes without slots are only annotations.
    names = (name for base in own for name in {**vars(base), **_annotations(base)})
    return {name for name in names if not name.startswith("_")}


def _annotations(kind: type) -> Mapping[str, object]:
    annotations: Mapping[str, object] = vars(kind).get("__annotations__", {})
    return annotations


def _lines(names: Mapping[str, Sequence[str]]) -> str:
    return ",\n".join(
        f"    {json.dumps(name)}: {json.dumps(parts)}" for name, parts in names.items()
    )


if __name__ == "__main__":
    lines = [
        f"  {json.dumps(module)}: {{\n{_lines(names)}\n  }}"
        for module, names in promises().items()
    ]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    sys.stdout.write(f"{RECORD.name}: {sum(map(len, promises().values()))} names\n")
