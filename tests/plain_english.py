"""Finds phrases of the dialect that this project once had: see CONTRIBUTING.

``python -m tests.plain_english PATHS`` prints each with its place.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from tests.kit.sources import syntax_nodes

__all__ = ["IDENTIFIERS", "PHRASES", "PROMISED", "Offence", "main", "offences"]

PHRASES: Final = re.compile(
    r"""\b(?:
      tell | tells | told | telling            # report, return, pass, write
      | anew                                   # again, or a new one
      | whoever | nobody | somebody | anybody  # name the component
      | any\ more                              # no longer
      | (?:is|are|was|were|be|been|being)\ (?:asked|said|known|heard)
      | (?:asks|asked)\ (?:in\ vain|of|again)
      | (?:says|said)\ (?:of|so|by)
      | knows?\ (?:of|nothing|again)
      | hears?\ (?:of|from)
      | stands?\ (?:for|beside|under|there)
      | (?:put|puts)\ into\ words
      | None\ if\ there\ is\ (?:none|no)
      | in\ vain
      | by\ its\ own\ account
      | what\ (?:stays|goes|comes)\ of
    )\b
    | (?<!here\ )\b(?:is|are)\ no\ (?!longer|more|less|fewer|such|need|way|other)[a-z]
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Phrases that hide which component does what."""

IDENTIFIERS: Final = frozenset(
    ("one", "told", "tell", "telling", "asked", "news", "bell", "known", "standing")
)
"""Names of variables, arguments and modules that do not say what they hold."""

PROMISED: Final = frozenset(
    (
        ("_clusters/inmemory/controllers/node_conditions.py", "told"),  # HealthObserver
        ("_kits/devices/shortages.py", "told"),  # quaymaster.devices.Shortage
        ("_studies/capacity/headroom.py", "asked"),  # quaymaster.planning.find_headroom
        ("_studies/simulation/run_state.py", "Standing"),  # quaymaster.simulation
        ("_studies/tuning/judging.py", "known"),  # quaymaster.experiments.Judged
        ("_surfaces/service/application.py", "standing"),  # quaymaster.service.make_app
    )
)
"""Public names that callers use: end of the module's path, and the name.

Compatibility keeps them until 0.2; new names follow the guide.
"""

_MAYBE_NAME: Final = re.compile(
    rf"(?<![a-z0-9])(?:{'|'.join(IDENTIFIERS)})_*(?![a-z0-9_])(?! (?!in\b)[a-z])",
    re.IGNORECASE,
)
"""Finds each place where such a name is set, and some others.

Before another word it is prose, except in ``for one in``.
"""

_CODE: Final = re.compile(r"``.+?``|`[^`\n]+`", re.DOTALL)
_FENCE: Final = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_EXCEPT: Final = re.compile(r"^\| instead of.*?\n\n", re.MULTILINE | re.DOTALL)


@attrs.frozen
class Offence:
    """A phrase or a name that the guide rejects.

    Attributes:
        path: The file.
        line: The line, from 1.
        text: The phrase or the name.
    """

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def offences(path: Path) -> Iterator[Offence]:
    """Find the phrases of a page, or the phrases and names of a module."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield from _phrases(path, _without_code(text))
        return
    if path.stem.strip("_") in IDENTIFIERS:
        yield Offence(path, 1, f"the module's name {path.stem!r}")
    # Most modules have neither: to read their tokens and trees takes twenty times as
    # long as to search their text.
    if PHRASES.search(text):
        for line, prose in _prose_of(text):
            yield from _phrases(path, _without_promised(path, prose), line)
    if _MAYBE_NAME.search(text):
        yield from _names(path)


def _without_code(page: str) -> str:
    for pattern in (_FENCE, _EXCEPT, _CODE):
        page = pattern.sub(lambda match: "\n" * match[0].count("\n"), page)
    return page


def _phrases(path: Path, text: str, first: int = 1) -> Iterator[Offence]:
    for match in PHRASES.finditer(text):
        yield Offence(path, first + text.count("\n", 0, match.start()), match[0])


def _prose_of(source: str) -> Iterator[tuple[int, str]]:
    """Comments and docstrings of a module, each with its first line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        for statement in getattr(node, "body", None) or () if _has_body(node) else ():
            if isinstance(statement, ast.Expr) and _is_text(statement.value):
                text = str(ast.literal_eval(statement.value))
                yield statement.lineno, _without_code(text)


def _has_body(node: ast.AST) -> bool:
    return isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _names(path: Path) -> Iterator[Offence]:
    for node in syntax_nodes(path):
        name = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        if name is not None and name.strip("_").lower() in IDENTIFIERS:
            if _is_promised(path, name):
                continue
            line = getattr(node, "lineno", 1)
            yield Offence(path, line, f"the name {name!r}")


def _is_promised(path: Path, name: str) -> bool:
    return name in _promised_in(path)


def _promised_in(path: Path) -> list[str]:
    return [name for module, name in PROMISED if path.as_posix().endswith(module)]


def _without_promised(path: Path, prose: str) -> str:
    """Remove promised names where a docstring describes them: ``told: Called ...``."""
    for name in _promised_in(path):
        prose = re.sub(rf"^( *){name}: ", r"\1", prose, flags=re.MULTILINE)
    return prose


def main(arguments: Sequence[str]) -> int:
    """Print the offences of files and folders, and return 1 if there are any."""
    roots = [Path(argument) for argument in arguments]
    paths = [
        path
        for root in roots
        for path in ([root] if root.is_file() else sorted(root.rglob("*")))
        if path.suffix in (".py", ".md")
    ]
    lines = [str(offence) for path in paths for offence in offences(path)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
