"""Generates the stub of the marks of single hooks, such as ``hookimpl.filter``.

``python -m tests.hook_types.generate_marks`` writes it; a test checks that it is up to
date. A hook may leave out arguments, so each mark accepts a union of types: one for
each set of arguments.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from tests.hook_types.generate import formatted, hook_types, import_lines
from tests.kit.sources import CORE

__all__ = ["STUB", "stub_text"]

STUB: Final = CORE / "_core" / "contract" / "typed_marks.pyi"

_HEADER: Final = '''"""Made by ``python -m tests.hook_types.generate_marks``."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

'''
_ITERATED: Final = {"events_to_register": "Iterable[ClusterEventWithHint]"}
"""Hooks that may be generators."""


def stub_text() -> str:
    """Return the formatted stub."""
    types = hook_types()
    kinds = {
        name: kind for hook in types.values() for name, kind in hook.arguments.items()
    }
    shapes = dict.fromkeys(
        shape for spec in types.values() for shape in _shapes(list(spec.arguments))
    )
    text = _HEADER + "\n".join(import_lines(())) + "\n\n"
    text += '_R_co = TypeVar("_R_co", covariant=True)\n\n'
    for shape in shapes:
        arguments = "".join(f", {name}: {kinds[name]}" for name in shape)
        star = ", *" if shape else ""
        text += (
            f"class {_name(shape)}(Protocol[_R_co]):\n"
            f"    def __call__(self, plugin: Any, /{star}{arguments}) -> _R_co: ...\n\n"
        )
    for hook, spec in types.items():
        answer = _ITERATED.get(hook, spec.answer)
        accepted = " | ".join(
            f"{_name(shape)}[{answer}]" for shape in _shapes(list(spec.arguments))
        )
        text += f'{_variable(hook)} = TypeVar("{_variable(hook)}", bound={accepted})\n'
    text += "\nclass TypedMarks:\n"
    for hook in types:
        variable = _variable(hook)
        text += f"    def {hook}(self, method: {variable}, /) -> {variable}: ...\n"
    return formatted(text, STUB)


def _shapes(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(len(names), -1, -1):
        yield from (tuple(sorted(shape)) for shape in combinations(names, size))


def _name(shape: Sequence[str]) -> str:
    words = [word.capitalize() for name in shape for word in name.split("_")]
    return "_With" + "".join(words or ["Nothing"])


def _variable(hook: str) -> str:
    return "_" + "".join(word.capitalize() for word in hook.split("_")) + "T"


if __name__ == "__main__":
    STUB.write_text(stub_text(), encoding="utf-8")
