"""Generates the module that type checkers check.

``python -m tests.hook_types.generate`` writes it; a test checks that it is up to date.
"""

import ast
import inspect
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from quaymaster import hookspecs
from quaymaster.hookspecs import EXTENSION_POINTS
from quaymaster.scheduler import PluginRegistry
from tests.kit.front_door import EXPORTS

__all__ = [
    "MODULE",
    "HookTypes",
    "calls_of",
    "formatted",
    "hook_types",
    "import_lines",
    "module_text",
]

MODULE: Final = Path(__file__).with_name("built_in.py")

_HEADER: Final = '''"""Made by ``python -m tests.hook_types.generate``."""

'''


@attrs.frozen
class HookTypes:
    """The types of a hookspec.

    Attributes:
        arguments: Name -> type, as they are written.
        answer: The type of the result.
    """

    arguments: Mapping[str, str]
    answer: str


def hook_types() -> Mapping[str, HookTypes]:
    """Return hook -> its types, for all hooks."""
    found = {}
    for node in ast.walk(_specs()):
        if isinstance(node, ast.FunctionDef) and _is_spec(node):
            assert node.returns is not None
            arguments = {
                arg.arg: ast.unparse(arg.annotation)
                for arg in node.args.args
                if arg.annotation is not None
            }
            found[node.name] = HookTypes(arguments, ast.unparse(node.returns))
    return found


def calls_of(plugin: type) -> Iterator[str]:
    """Yield lines that call each hook of a plugin as the framework may.

    Args:
        plugin: The plugin's class.
    """
    types = hook_types()
    for hook in (hook for point in EXTENSION_POINTS for hook in point.hooks):
        function: Callable[..., Any] | None = getattr(plugin, hook, None)
        if function is None:
            continue
        signature = inspect.signature(function)
        taken = [name for name in signature.parameters if name != "self"]
        call = f"plugin.{hook}({', '.join(f'{name}=given.{name}' for name in taken)})"
        # Type checkers reject a use of the result of a function that returns nothing.
        is_silent = signature.return_annotation is None
        yield call if is_silent else f"_{hook}: {types[hook].answer} = {call}"


def module_text() -> str:
    """Return the formatted module."""
    registry = PluginRegistry.discover()
    plugins = [registry[name].load() for name in sorted(registry)]
    given: dict[str, str] = {}
    for types in hook_types().values():
        for name, kind in types.arguments.items():
            assert given.setdefault(name, kind) == kind, f"{name} has two types"
    text = _HEADER + "\n".join(import_lines(plugins)) + "\n\n\n"
    text += "class Given(Protocol):\n"
    text += '    """The arguments that the framework passes to hooks."""\n\n'
    text += "".join(f"    {name}: {kind}\n" for name, kind in given.items())
    for plugin in plugins:
        check = _package(plugin).replace("quaymaster", "check", 1)
        text += f"\n\ndef {check}(plugin: {plugin.__name__}, given: Given) -> None:\n"
        text += "".join(f"    {line}\n" for line in calls_of(plugin))
    return formatted(text)


def _specs() -> ast.Module:
    return ast.parse(
        Path(inspect.getfile(hookspecs.FilterPlugin)).read_text(encoding="utf-8")
    )


def _is_spec(node: ast.FunctionDef) -> bool:
    return any(
        isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "hookspec"
        for decorator in node.decorator_list
    )


def import_lines(plugins: Iterable[type]) -> Iterator[str]:
    """Yield the imports of the specs and of the plugins; the formatter removes some."""
    public = {name: module for module, names in EXPORTS.items() for name in names}
    for node in _specs().body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = public.get(alias.name, node.module)
                yield f"from {module} import {alias.name}"
    for plugin in plugins:
        yield f"from {_package(plugin)} import {plugin.__name__}"


def _package(plugin: type) -> str:
    return plugin.__module__.partition(".")[0]


def formatted(text: str, path: Path = MODULE) -> str:
    """Format the text of a module, without the imports that it does not use."""
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent))
    assert ruff is not None, "ruff comes with the dev extra"
    name = ["--stdin-filename", str(path)]
    for command in (
        ["check", "--fix", "--exit-zero", "--quiet", "--select", "I,F401"],
        ["format", "--quiet"],
    ):
        text = subprocess.run(
            [ruff, *command, *name, "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return text


if __name__ == "__main__":
    MODULE.write_text(module_text(), encoding="utf-8")
