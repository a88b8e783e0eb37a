"""The pages and anchors of the product's names, for links from code on pages.

In docstrings, single backticks are references: to public names, to members of classes,
to hooks, and to arguments. Double ones are for all other code.
"""

import ast
import importlib
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache

from quaymaster.hookspecs import EXTENSION_POINTS
from tests.docs.reference import slug
from tests.kit.front_door import EXPORTS, docstring_of, origin

__all__ = ["API", "HOOKS", "dangling", "destinations"]

API = "docs/reference/api"
HOOKS = "docs/reference/extension-points"

_REFERENCE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_FIELD = re.compile(r"^ {4}(\w+): ", re.MULTILINE)


@cache
def destinations() -> Mapping[str, tuple[str, str]]:
    """Return name, also qualified -> page and anchor."""
    found: dict[str, tuple[str, str]] = {}
    for module, names in EXPORTS.items():
        page = f"{API}/{module}"
        found[module] = (page, f"module-{module}")
        for name in names:
            full = f"{module}.{name}"
            found[name] = found[full] = (page, full)
            entries = set(_members(module, name))
            for member in entries | _fields(module, name):
                place = (page, f"{full}.{member}" if member in entries else full)
                found[f"{name}.{member}"] = found[f"{full}.{member}"] = place
    for point in EXTENSION_POINTS:
        page = f"{HOOKS}/{slug(point)}"
        found[point.spec.__name__] = (page, "")
        for hook in point.hooks:
            found[hook] = (page, hook)
    return found


def _members(module: str, name: str) -> Iterator[str]:
    """Yield the members of a class that have an anchor in its entry."""
    cls = getattr(importlib.import_module(module), name)
    for base in cls.__mro__ if isinstance(cls, type) else ():
        if base.__module__.startswith("quaymaster"):
            yield from (each for each in vars(base) if not each.startswith("_"))


def dangling() -> Iterator[str]:
    """Yield the references in public docstrings that have no destination."""
    for module, names in EXPORTS.items():
        yield from _dangling(module, importlib.import_module(module).__doc__, module)
        for name in names:
            _, statement, _ = origin(module, name)
            place = f"{module}.{name}"
            arguments = _arguments(statement)
            yield from _dangling(place, docstring_of(module, name), name, arguments)
            if isinstance(statement, ast.ClassDef):
                for part in statement.body:
                    if isinstance(part, ast.FunctionDef) and part.name[0] != "_":
                        text = ast.get_docstring(part)
                        arguments = _arguments(part)
                        yield from _dangling(
                            f"{place}.{part.name}", text, name, arguments
                        )


def _dangling(
    place: str, text: str | None, inside: str, arguments: Collection[str] = ()
) -> Iterator[str]:
    for reference in _REFERENCE.findall(text or ""):
        name = " ".join(reference.split())
        spellings = {name, f"{inside}.{name}"}
        if name not in arguments and not spellings & destinations().keys():
            yield f"{place}: `{name}`"


def _fields(module: str, name: str) -> set[str]:
    """Return the fields that a class documents, and those that it declares."""
    cls = getattr(importlib.import_module(module), name)
    fields = set(_FIELD.findall(docstring_of(module, name)))
    for base in cls.__mro__ if isinstance(cls, type) else ():
        fields |= set(vars(base)) | set(vars(base).get("__annotations__", ()))
    return fields


def _arguments(statement: ast.stmt) -> set[str]:
    if not isinstance(statement, ast.FunctionDef):
        return set()
    return {each.arg for each in (*statement.args.args, *statement.args.kwonlyargs)}
