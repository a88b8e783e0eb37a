"""The rules of the shared test code, and of the use of private names in tests."""

import ast
from pathlib import Path

import pytest

from tests.kit.sources import CORE, ROOT, imports, parsed, syntax_nodes

pytestmark = pytest.mark.house

MEMBER = ROOT / "framework" / "tests"
CEL = ROOT / "framework" / "cel" / "tests"
KIT = ROOT / "tests" / "kit"
INTERNALS = KIT / "internals"
PLUGINS = sorted(ROOT.glob("plugins/*/tests/*.py"))
OUTSIDE = [
    path
    for path in (
        *MEMBER.rglob("*.py"),
        *CEL.rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
        *PLUGINS,
    )
    if KIT not in path.parents
]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def exported(path: Path) -> set[str]:
    """Return the names in a module's ``__all__``."""
    for node in parsed(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def place(path: Path, node: ast.expr) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"


def test_only_the_internals_of_the_kit_import_private_modules() -> None:
    offenders = [
        f"{path.relative_to(ROOT)} imports {name} of {module}"
        for path in (*OUTSIDE, *KIT.glob("*.py"))
        for module, name in imports(path)
        if module.partition(".")[0] in ("kubernetes_cel", "quaymaster")
        and any(map(is_private, [*module.split("."), name]))
    ]
    assert offenders == []


def test_only_the_kit_reads_private_attributes() -> None:
    found = [
        place(path, node)
        for path in OUTSIDE
        for node in syntax_nodes(path)
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and ast.unparse(node.value) not in ("self", "cls")
    ]
    assert found == []


def test_only_the_internals_of_the_kit_name_private_modules() -> None:
    found = [
        place(path, node)
        for path in OUTSIDE
        for node in syntax_nodes(path)
        if isinstance(node, ast.Constant)
        and str(node.value).startswith("quaymaster._")
        and path.name != "test_kit.py"
    ]
    assert found == []


def test_internals_of_the_kit_hold_exactly_what_is_used() -> None:
    used = {
        (source, name)
        for user in (*OUTSIDE, *KIT.rglob("*.py"))
        for source, name in imports(user)
        if source.startswith("tests.kit.internals.")
    }
    offered = {
        (f"tests.kit.internals.{path.stem}", name)
        for path in INTERNALS.glob("*.py")
        for name in exported(path)
    }
    assert sorted(offered ^ used) == []


def test_plugins_and_cel_are_tested_by_public_names_only() -> None:
    offenders = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in (*PLUGINS, *CEL.rglob("*.py"))
        for module, _ in imports(path)
        if module.partition(".")[0] == "tests"
    ]
    assert offenders == []


def test_no_test_makes_for_itself_what_the_kit_has() -> None:
    kit = {
        name
        for path in KIT.glob("*.py")
        for name in exported(path)
        if not name.isupper()
    }
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in OUTSIDE
        if path not in PLUGINS
        for node in parsed(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in kit
    ]
    assert found == []


def test_only_profiles_say_how_many_examples_are_tried() -> None:
    offenders = [
        place(path, node.value)
        for path in OUTSIDE
        for node in syntax_nodes(path)
        if isinstance(node, ast.keyword) and node.arg == "max_examples"
    ]
    assert offenders == [], "see tests/kit/profiles.py"


def test_tests_of_the_framework_lie_where_the_product_has_its_packages() -> None:
    places = {*CORE.glob("_*/*"), *CORE.glob("_cli")}
    packages = {str(path.relative_to(CORE)).lstrip("_") for path in places}
    folders = {*MEMBER.glob("*/*/"), MEMBER / "cli"} - {*MEMBER.glob("cli/*/")}
    names = {path for path in folders if path.name != "__pycache__"}
    assert {str(path.relative_to(MEMBER)) for path in names} <= packages
