"""Public modules with lazy names: one import of a name loads only its own modules."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.internals.loading import HEAVY_FOR_MAKERS, MAKERS

LAZY_MODULES = ("quaymaster", "quaymaster.testing")


def modules_after(code: str) -> set[str]:
    """Return the names of the modules that a new process has loaded after ``code``."""
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return set(process.stdout.split())


@pytest.mark.parametrize("name", LAZY_MODULES)
def test_type_checkers_see_the_names_that_are_lazy(name: str) -> None:
    module = importlib.import_module(name)
    tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    checked = {
        statement.module: tuple(alias.name for alias in statement.names)
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
    }
    table = next(
        node
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) != "TYPE_CHECKING"
        for node in ast.walk(block)
        if isinstance(node, ast.Dict)
    )
    assert ast.literal_eval(table) == checked


@pytest.mark.parametrize("name", LAZY_MODULES)
def test_every_lazy_name_is_public_listed_and_imported(name: str) -> None:
    module = importlib.import_module(name)
    assert {*module.__all__} <= {*dir(module)}
    assert all(getattr(module, public) is not None for public in module.__all__)


def test_a_name_that_a_lazy_module_lacks_is_an_attribute_error() -> None:
    module = importlib.import_module("quaymaster.testing")
    with pytest.raises(AttributeError, match=r"'quaymaster\.testing' has no.*'make_x'"):
        getattr(module, "make_x")  # noqa: B009 - type checkers reject the attribute


@pytest.mark.long
def test_makers_load_neither_the_engine_nor_a_cluster() -> None:
    loaded = modules_after("from quaymaster.testing import make_node, make_pod")
    heavy = [name for name in HEAVY_FOR_MAKERS if name in loaded]
    assert heavy == []


def test_the_module_of_test_tools_itself_loads_no_tool() -> None:
    loaded = modules_after("import quaymaster.testing")
    assert "attrs" not in loaded
    assert not [name for name in loaded if name.startswith(MAKERS)]
