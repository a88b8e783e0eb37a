"""The rules of the layout: who imports whom, and who knows whose name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from quaymaster.scheduler import PluginRegistry
from tests.kit.sources import CORE, ROOT, imports, parsed

PLUGINS = sorted(path.name for path in (ROOT / "plugins").iterdir() if path.is_dir())
RULES = 36


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, and the names with their modules."""
    for module, name in imports(path):
        yield module
        if name:
            yield f"{module}.{name}"


@pytest.mark.parametrize("plugin", PLUGINS)
def test_plugin_imports_nothing_private_and_no_other_plugin(plugin: str) -> None:
    own = f"quaymaster_{plugin}"
    for path in (ROOT / "plugins" / plugin).rglob("*.py"):
        for name in imported(path):
            package, *inner = name.split(".")
            if package == "quaymaster":
                assert not any(part.startswith("_") for part in inner), (path, name)
            elif package.startswith("quaymaster_"):
                assert package == own, (path, name)


def test_core_imports_no_plugin() -> None:
    for path in CORE.rglob("*.py"):
        assert not any(name.startswith("quaymaster_") for name in imported(path)), path


def test_core_names_no_plugin_in_its_code() -> None:
    # The API has an object, and upstream a feature gate, of that name as well.
    shared = {"NodeAffinity", "NodeDeclaredFeatures"}
    names = set(PluginRegistry.discover()) - shared
    for path in CORE.rglob("*.py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Constant) and node.value in names:
                pytest.fail(f"{path.name}:{node.lineno} names {node.value}")


def test_only_the_engine_puts_rules_and_memory_together() -> None:
    users = {
        path.relative_to(CORE).parts[:2]
        for path in CORE.rglob("*.py")
        if any(name.split(".")[1:3] == ["_core", "memo"] for name in imported(path))
    }
    assert users == {("_core", "memo"), ("_core", "engine")}


def test_filter_and_score_are_called_in_one_place_each() -> None:
    taken = re.compile(r'hooks(?:\[|\.get\()"(filter|score|normalize)')
    found = {
        path.relative_to(CORE).as_posix()
        for path in CORE.rglob("*.py")
        if taken.search(path.read_text(encoding="utf-8"))
        and path.relative_to(CORE).parts[0] != "_authors"
    }
    assert found == {"_core/cycle/filter_call.py", "_core/cycle/score_call.py"}


def test_no_array_is_known_by_whose_memory_it_is() -> None:
    # What a plugin knows again is an object that it froze: see the hookspecs.
    sources = [CORE, *(ROOT / "plugins" / plugin / "src" for plugin in PLUGINS)]
    for path in (path for source in sources for path in source.rglob("*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and node.attr == "base":
                pytest.fail(f"{path}:{node.lineno} asks for the base of an array")


def test_every_public_module_says_what_is_public() -> None:
    for path in CORE.rglob("*.py"):
        inner = path.relative_to(CORE).parts
        is_private = any(part.startswith("_") and part[1] != "_" for part in inner)
        text = path.read_text(encoding="utf-8")
        assert is_private or "\n__all__ = [" in text, path


def test_every_rule_of_the_parity_format_has_a_test() -> None:
    found: set[int] = set()
    for folder in ("plugins", "framework/tests", "tests"):
        for path in (ROOT / folder).rglob("test_*.py"):
            text = path.read_text(encoding="utf-8")
            for number in re.findall(r"rule[_ ](\d+)", text, re.IGNORECASE):
                found.add(int(number))
    assert sorted(set(range(1, RULES + 1)) - found) == []


CLASSES = {"int", "kind", "list", "object", "resource", "timedelta"}
"""Names in lower case that stand for classes, or for members of an enum."""


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


def test_each_comparison_by_identity_says_why_it_may() -> None:
    rooms = [CORE]
    rooms += [ROOT / "plugins" / plugin / "src" for plugin in PLUGINS]
    for path in (path for room in rooms for path in room.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Compare):
                continue
            if not any(isinstance(one, ast.Is | ast.IsNot) for one in node.ops):
                continue
            if any(_is_singleton(part) for part in (node.left, *node.comparators)):
                continue
            above = "\n".join(lines[max(0, node.lineno - 6) : node.lineno])
            assert "# Identity:" in above, f"{path}:{node.lineno}"
