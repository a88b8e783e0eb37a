"""The front door: few public modules; each name is in one of them and has a use."""

import ast
import builtins
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.kit.front_door import (
    EXPORTS,
    MODULES,
    defined_by,
    docstring_of,
    origin,
)
from tests.kit.sources import parsed, syntax_nodes

pytestmark = pytest.mark.house

ROOT = Path(__file__).parents[1]
MOST_MODULES = 26
MOST_NAMES_AT_THE_ROOT = 40
LISTS = ("CHANGELOG.md", "modules.md")
"""Documents that list all names, which does not count as a use."""


TOPICS = {name.rpartition(".")[2] for name in MODULES}
NAMES = [(module, name) for module, names in EXPORTS.items() for name in names]


def value_of(module: str, name: str) -> object:
    return getattr(importlib.import_module(module), name)


def test_public_modules_are_few() -> None:
    assert len(MODULES) <= MOST_MODULES


def test_root_fits_one_screen() -> None:
    assert len(EXPORTS["quaymaster"]) <= MOST_NAMES_AT_THE_ROOT


def only_exports(module: str) -> bool:
    """Whether a module has a docstring, imports and ``__all__``, and nothing else.

    The imports may be lazy: see `quaymaster._base.lazy_names`.
    """
    description, *statements = parsed(MODULES[module]).body
    rest = [
        statement
        for statement in statements
        if not isinstance(statement, ast.ImportFrom) and not is_lazy_import(statement)
    ]
    return isinstance(description, ast.Expr) and list(map(defined_by, rest)) == [
        {"__all__"}
    ]


def is_lazy_import(statement: ast.stmt) -> bool:
    """Whether a statement imports for type checkers, or lists the lazy names."""
    if not isinstance(statement, ast.If):
        return False
    if ast.unparse(statement.test) == "TYPE_CHECKING":
        return all(isinstance(line, ast.ImportFrom) for line in statement.body)
    return all(
        defined_by(line) == {"__getattr__", "__dir__"} for line in statement.body
    )


def test_public_modules_only_say_what_is_public() -> None:
    assert [module for module in MODULES if not only_exports(module)] == []


def test_each_name_is_exported_once() -> None:
    counts = Counter(name for _, name in NAMES)
    # A kind of Kubernetes, and what an experiment schedules.
    assert [name for name, number in counts.items() if number > 1] == ["Workload"]


def test_no_object_is_exported_under_two_names_unless_one_is_deprecated() -> None:
    owners = Counter(
        id(value_of(module, name))
        for module, name in NAMES
        if inspect.isclass(value_of(module, name))
        and not docstring_of(module, name).startswith("Deprecated: ")
    )
    assert max(owners.values()) == 1


def test_each_name_is_documented() -> None:
    # By a docstring, or by a string after the assignment.
    assert [pair for pair in NAMES if not docstring_of(*pair)] == []


def outside_files() -> Iterator[Path]:
    """Yield all files outside the core: plugins, tests, documents."""
    for folder in ("plugins", "docs", "tests", "framework/tests"):
        yield from (ROOT / folder).rglob("*.py")
        yield from (ROOT / folder).rglob("*.md")
    yield from ROOT.glob("*.md")


@cache
def words_outside() -> frozenset[str]:
    """Return the names that are used outside: in imports or documents."""
    found: set[str] = set()
    for path in outside_files():
        if path.suffix == ".py":
            found.update(public_names_in(path))
        elif path.name not in LISTS:
            text = path.read_text(encoding="utf-8")
            for fenced, span in re.findall(r"```(.*?)```|`([^`\n]+)`", text, re.DOTALL):
                found.update(re.findall(r"\w+", fenced or span))
    return frozenset(found)


def public_names_in(path: Path) -> Iterator[str]:
    """Yield the names that a file imports from public modules, also as attributes."""
    for node in syntax_nodes(path):
        if isinstance(node, ast.ImportFrom) and is_public(node.module or ""):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and (
            isinstance(node.value, ast.Name) and node.value.id in TOPICS
        ):
            yield node.attr


def is_public(module: str) -> bool:
    package, *inner = module.split(".")
    return package == "quaymaster" and not any(x.startswith("_") for x in inner)


def annotations_of(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the types in a public definition: of fields, arguments and results."""
    for node in ast.walk(statement):
        if isinstance(node, ast.AnnAssign):
            yield node.annotation
            if not isinstance(statement, ast.ClassDef) and node.value is not None:
                yield node.value
        elif isinstance(node, ast.FunctionDef):
            arguments = (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs)
            yield from (each.annotation for each in arguments if each.annotation)
            if node.returns is not None:
                yield node.returns


@cache
def words_of_signatures() -> frozenset[str]:
    """Return the names in the signatures and fields of other exported names."""
    found: set[str] = set()
    for module, name in NAMES:
        _, statement, _ = origin(module, name)
        for annotation in annotations_of(statement):
            words = set(re.findall(r"\w+", ast.unparse(annotation)))
            found.update(words - {name})
        if isinstance(statement, ast.ClassDef):
            found.update(word for base in statement.bases for word in names_in(base))
    return frozenset(found)


def names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def described_calls(value: object) -> Iterator[str]:
    """Yield the docstrings of a public callable, and of its public methods."""
    yield inspect.getdoc(value) or ""
    if inspect.isclass(value):
        for name, member in inspect.getmembers(value, inspect.isroutine):
            if not name.startswith("_"):
                yield inspect.getdoc(member) or ""


def raised(docstring: str) -> set[str]:
    """Return the errors in the section `Raises` of a docstring."""
    section = re.search(r"^Raises:\n((?:[ ].*\n?|\n)+)", docstring, re.MULTILINE)
    if section is None:
        return set()
    text = inspect.cleandoc("\n" + section[1])
    return set(re.findall(r"^(\w+):", text, re.MULTILINE))


@cache
def raised_by_public_calls() -> frozenset[tuple[str, str]]:
    """Return public callables and the errors that they, or their methods, document."""
    return frozenset(
        (name, error)
        for module, name in NAMES
        if callable(value_of(module, name))
        for docstring in described_calls(value_of(module, name))
        for error in raised(docstring)
    )


def test_each_name_is_used_outside_the_core() -> None:
    errors = {error for _, error in raised_by_public_calls()}
    used = words_outside() | words_of_signatures() | errors
    assert [(module, name) for module, name in NAMES if name not in used] == []


def test_every_error_that_a_public_call_raises_can_be_imported() -> None:
    public = {name for _, name in NAMES} | set(dir(builtins))
    assert {pair for pair in raised_by_public_calls() if pair[1] not in public} == set()


def test_all_errors_derive_from_one() -> None:
    errors = importlib.import_module("quaymaster.errors")
    kinds = {pair: value_of(*pair) for pair in NAMES}
    strangers = [
        pair
        for pair, kind in kinds.items()
        if inspect.isclass(kind)
        and issubclass(kind, Exception)
        and not issubclass(kind, (Warning, errors.QuaymasterError))
    ]
    assert strangers == []
