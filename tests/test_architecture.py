"""The rules of the layout: which packages import or name which others."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from quaymaster.scheduler import PluginRegistry
from tests.kit.sources import CEL, CORE, ROOT, imports, syntax_nodes

pytestmark = pytest.mark.house

PLUGINS = sorted(path.name for path in (ROOT / "plugins").iterdir() if path.is_dir())
RULES = 36


def imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, and the names with their modules."""
    for module, name in imports(path):
        yield module
        if name:
            yield f"{module}.{name}"


def is_forbidden(name: str, plugin: str) -> bool:
    """Whether a plugin must not import a module: it is private, or another plugin's."""
    package, *inner = name.split(".")
    if package == "quaymaster":
        return any(part.startswith("_") for part in inner)
    return package.startswith("quaymaster_") and package != f"quaymaster_{plugin}"


def test_plugins_import_nothing_private_and_no_other_plugin() -> None:
    offenders = [
        f"{path.relative_to(ROOT)} imports {name}"
        for plugin in PLUGINS
        for path in (ROOT / "plugins" / plugin).rglob("*.py")
        for name in imported(path)
        if is_forbidden(name, plugin)
    ]
    assert offenders == []


def test_core_imports_no_plugin() -> None:
    offenders = [
        f"{path.relative_to(CORE)} imports {name}"
        for path in CORE.rglob("*.py")
        for name in imported(path)
        if name.startswith("quaymaster_")
    ]
    assert offenders == []


def test_cel_imports_nothing_of_the_framework() -> None:
    offenders = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in CEL.parents[1].rglob("*.py")
        for name in imported(path)
        if name.partition(".")[0].startswith(("quaymaster", "_quaymaster"))
    ]
    assert offenders == []


def test_only_cel_itself_imports_from_its_modules() -> None:
    offenders = [
        f"{path.relative_to(ROOT)} imports {module}"
        for room in ("framework", "plugins", "tests")
        for path in (ROOT / room).rglob("*.py")
        if not path.is_relative_to(CEL)
        for module, _ in imports(path)
        if module.startswith("kubernetes_cel.")
    ]
    assert offenders == []


def test_core_names_no_plugin_in_its_code() -> None:
    # The API has an object, and upstream a feature gate, of that name as well.
    shared = {"GangScheduling", "NodeAffinity", "NodeDeclaredFeatures"}
    shared |= {"PodGroupPodsCount", "TopologyPlacementGenerator"}
    names = set(PluginRegistry.discover()) - shared
    offenders = [
        f"{path.relative_to(CORE)}:{node.lineno} names {node.value}"
        for path in CORE.rglob("*.py")
        for node in syntax_nodes(path)
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert offenders == []


def test_only_the_engine_puts_rules_and_memory_together() -> None:
    users = {
        path.relative_to(CORE).parts[:2]
        for path in CORE.rglob("*.py")
        if any(name.split(".")[1:3] == ["_core", "memo"] for name in imported(path))
    }
    assert users == {("_core", "memo"), ("_core", "engine")}


def test_filter_and_score_are_called_in_one_place_each() -> None:
    taken = re.compile(r'hooks(?:\[|\.get\()"(filter|score|normalize_score)')
    found = {
        path.relative_to(CORE).as_posix()
        for path in CORE.rglob("*.py")
        if taken.search(path.read_text(encoding="utf-8"))
        and path.relative_to(CORE).parts[0] != "_authors"
    }
    assert found == {"_core/cycle/filter_call.py", "_core/cycle/score_call.py"}


def test_no_array_is_known_by_whose_memory_it_is() -> None:
    # Plugins may compare objects that they froze by identity: see the hookspecs.
    sources = [CORE, CEL, *(ROOT / "plugins" / plugin / "src" for plugin in PLUGINS)]
    offenders = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for source in sources
        for path in source.rglob("*.py")
        for node in syntax_nodes(path)
        if isinstance(node, ast.Attribute) and node.attr == "base"
    ]
    assert offenders == []


def test_every_public_module_says_what_is_public() -> None:
    offenders = []
    for path in CORE.rglob("*.py"):
        inner = path.relative_to(CORE).parts
        is_private = any(part.startswith("_") and part[1] != "_" for part in inner)
        if not is_private and "\n__all__ = [" not in path.read_text(encoding="utf-8"):
            offenders.append(path.name)
    assert offenders == []


def test_every_rule_of_the_parity_format_has_a_test() -> None:
    found: set[int] = set()
    for folder in ("plugins", "framework", "tests"):
        for path in (ROOT / folder).rglob("test_*.py"):
            text = path.read_text(encoding="utf-8")
            for number in re.findall(r"rule[_ ](\d+)", text, re.IGNORECASE):
                found.add(int(number))
    assert sorted(set(range(1, RULES + 1)) - found) == []


CLASSES = {"dict", "int", "kind", "list", "object", "resource", "timedelta"}
"""Names in lower case of classes, or of members of an enum."""


def _is_singleton(part: ast.expr) -> bool:
    """Whether an expression is None, a truth value, a member of an enum or a class."""
    if isinstance(part, ast.Call):
        return ast.unparse(part.func) in {"bool", "type", "label.startswith"}
    if isinstance(part, ast.Attribute):
        is_member = isinstance(part.value, ast.Name) and part.value.id[0].isupper()
        return is_member or not part.attr.islower() or part.attr.startswith("is_")
    if isinstance(part, ast.Name):
        return not part.id.islower() or part.id in CLASSES
    return isinstance(part, ast.Constant | ast.Compare)


def _by_identity(path: Path) -> Iterator[int]:
    """Yield the lines of a file that compare objects by identity."""
    for node in syntax_nodes(path):
        if (
            isinstance(node, ast.Compare)
            and any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops)
            and not any(_is_singleton(part) for part in (node.left, *node.comparators))
        ):
            yield node.lineno


def test_each_comparison_by_identity_says_why_it_may() -> None:
    rooms = [CORE, CEL, *(ROOT / "plugins" / plugin / "src" for plugin in PLUGINS)]
    offenders = []
    for path in (path for room in rooms for path in room.rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        offenders += [
            f"{path.relative_to(ROOT)}:{number}"
            for number in _by_identity(path)
            if "# Identity:" not in "\n".join(lines[max(0, number - 6) : number])
        ]
    assert offenders == []
