"""Generates the pages of the public modules for the site, from the sources.

Signatures are copied from the source, with the names of their types. Docstrings become
Markdown. Hooks have their own pages and are not repeated here.
"""

import ast
import enum
import functools
import importlib
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import attrs

from quaymaster.hookspecs import EXTENSION_POINTS
from tests.docs.reference import prose, slug
from tests.docs.references import destinations
from tests.kit.front_door import EXPORTS, docstring_of, origin
from tests.kit.sources import parsed

__all__ = [
    "api_page",
    "api_pages",
    "constructor_of",
    "definition_of",
    "signature_of",
]

_SPECS = {point.spec: slug(point) for point in EXTENSION_POINTS}
_REFERENCE = re.compile(r"(?<!`)`(\w+)`(?!`)")
_SHARED = [
    name
    for name, count in Counter(chain.from_iterable(EXPORTS.values())).items()
    if count > 1
]
"""Names of different objects in several public modules, such as Workload."""
_SIMPLE = (str, int, float, bool, type(None))


@functools.cache
def api_pages() -> Mapping[str, str]:
    """Return module -> its page."""
    return {module: api_page(module) for module in EXPORTS}


def api_page(module: str) -> str:
    """Return the page of a module: its docstring, then each name in order."""
    text = _linked(inspect.getdoc(importlib.import_module(module)) or "", module)
    entries = "\n".join(_entry(module, name) for name in EXPORTS[module])
    opening = _directive("py:module", module, "", 3)
    return f"# `{module}`\n\n{opening}\n{text}\n\n{entries}"


def _entry(module: str, name: str) -> str:
    path, statement, _ = origin(module, name)
    text = _plain_entry(module, name, statement)
    for other in _SHARED:
        owner = _owner(path, other)
        if owner:
            text = _qualified(text, other, f"{owner}.{other}")
    return text


@functools.cache
def _owner(path: Path, name: str) -> str:
    """Return the public module whose name of several a file means, or empty."""
    source = next(
        (
            statement.module or ""
            for statement in ast.walk(parsed(path))
            if isinstance(statement, ast.ImportFrom)
            and any(alias.name == name for alias in statement.names)
        ),
        "",
    )
    if not source:
        return ""
    meant, _, _ = origin(source, name)
    return next(
        module
        for module, names in EXPORTS.items()
        if name in names and origin(module, name)[0] == meant
    )


def _qualified(text: str, name: str, full: str) -> str:
    """Write a name in full in the signatures: Sphinx shows its last part."""
    word = re.compile(rf"(?<![\w.]){name}(?!\w)")
    return "\n".join(
        word.sub(full, line) if line.lstrip("`").startswith("{py:") else line
        for line in text.splitlines()
    )


def _plain_entry(module: str, name: str, statement: ast.stmt) -> str:
    if isinstance(statement, ast.ClassDef):
        return _class(module, getattr(importlib.import_module(module), name), statement)
    text = prose(docstring_of(module, name))
    if isinstance(statement, ast.FunctionDef):
        return _directive("py:function", name + signature_of(statement), text, 6)
    if isinstance(statement, ast.AnnAssign):
        kind = ast.unparse(statement.annotation)
        options = {} if kind in ("TypeAlias", "Final") else {"type": kind}
        return _directive("py:data", name, text, 6, options)
    return _directive("py:data", name, text, 6)


def _class(module: str, cls: type, statement: ast.ClassDef) -> str:
    name = cls.__name__
    full = f"{module}.{name}"
    text = docstring_of(module, name)
    if cls in _SPECS:
        first = text.partition("\n")[0]
        page = f"../extension-points/{_SPECS[cls]}.md"
        return _directive("py:class", name, f"{first} [Its hooks]({page}).", 6)
    members = "\n".join([_linked(text, full), "", *_members(cls, full)])
    kind = "py:exception" if issubclass(cls, BaseException) else "py:class"
    return _directive(kind, name + constructor_of(cls, statement), members, 6)


def _members(cls: type, full: str) -> Iterator[str]:
    """Yield the members of the class and of its bases in the product, each once."""
    seen: set[str] = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("quaymaster"):
            continue
        body = definition_of(base).body
        methods = {
            part.name: part for part in body if isinstance(part, ast.FunctionDef)
        }
        for name, method in methods.items():
            if name not in seen and _is_shown(method):
                seen.add(name)
                text = _linked(inspect.getdoc(getattr(cls, name)) or "", full)
                yield _method(method, text + _given(base, method))
        if issubclass(base, enum.Enum):
            yield from _values(body)


def _given(cls: type, method: ast.FunctionDef) -> str:
    """Return the members of a method's result, if no module exports its class."""
    result = method.returns
    if not isinstance(result, ast.Name) or result.id in destinations():
        return ""
    given: type | None = getattr(sys.modules[cls.__module__], result.id, None)
    if given is None or not getattr(given, "_is_protocol", False):
        return ""
    methods = "\n".join(
        f"- `{part.name}{signature_of(part, bound=True)}`: "
        + " ".join(prose(ast.get_docstring(part) or "").split("\n\n")[0].split())
        for part in definition_of(given).body
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_")
    )
    about = prose(inspect.getdoc(given) or "")
    return f"\n\n**{result.id}**: {about}\n\n{methods}"


def _is_shown(method: ast.FunctionDef) -> bool:
    if method.name.startswith("__"):
        return ast.get_docstring(method) is not None and method.name != "__init__"
    return not method.name.startswith("_")


def _method(method: ast.FunctionDef, text: str) -> str:
    marks = {ast.unparse(mark).split(".")[-1] for mark in method.decorator_list}
    if marks & {"property", "cached_property"}:
        options = {"type": ast.unparse(method.returns)} if method.returns else {}
        return _directive("py:property", method.name, text, 5, options)
    options = {mark: "" for mark in ("classmethod", "staticmethod") if mark in marks}
    bound = "staticmethod" not in marks
    signature = method.name + signature_of(method, bound=bound)
    return _directive("py:method", signature, text, 5, options)


def _values(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the members of an enum, with the string after each."""
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.Assign) and isinstance(
            target := statement.targets[0], ast.Name
        ):
            text = ""
            if isinstance(following, ast.Expr) and isinstance(
                following.value, ast.Constant
            ):
                text = prose(str(following.value.value))
            if not target.id.startswith("_"):
                yield _directive("py:attribute", target.id, text, 5)


def constructor_of(cls: type, statement: ast.ClassDef) -> str:
    """Return the arguments that create an object; empty for protocols and enums."""
    if getattr(cls, "_is_protocol", False) or issubclass(cls, enum.Enum):
        return ""
    if attrs.has(cls):
        return _fields(
            f"{field.alias or field.name}: {_annotation(cls, field.name)}"
            + _default(field.default)
            for field in attrs.fields(cls)
            if field.init
        )
    if hasattr(cls, "__struct_fields__"):
        return _fields(
            ast.unparse(part).strip()
            for base in reversed(cls.__mro__)
            if base.__module__.startswith("quaymaster")
            for part in definition_of(base).body
            if isinstance(part, ast.AnnAssign) and "ClassVar" not in ast.unparse(part)
        )
    for base in cls.__mro__:
        if base.__module__.startswith("quaymaster"):
            for part in definition_of(base).body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    return signature_of(part, bound=True).partition(" -> ")[0]
    return ""


def _linked(docstring: str, inside: str) -> str:
    """Return a docstring as Markdown, with links to members of a class or package."""

    def link(found: re.Match[str]) -> str:
        full = f"{inside}.{found[1]}"
        kind = "mod" if full in EXPORTS else "obj"
        is_documented = full in destinations()
        return f"{{py:{kind}}}`{found[1]} <{full}>`" if is_documented else found[0]

    return prose(_REFERENCE.sub(link, docstring))


def _fields(fields: Iterator[str]) -> str:
    listed = ", ".join(fields)
    return f"(*, {listed})" if listed else "()"


def _annotation(cls: type, name: str) -> str:
    for base in cls.__mro__:
        for part in definition_of(base).body if "quaymaster" in base.__module__ else ():
            if (
                isinstance(part, ast.AnnAssign)
                and isinstance(part.target, ast.Name)
                and part.target.id == name
            ):
                return ast.unparse(part.annotation)
    raise LookupError(name)


def _default(value: object) -> str:
    if value is attrs.NOTHING:
        return ""
    if isinstance(value, enum.Enum):
        return f" = {type(value).__name__}.{value.name}"
    return f" = {value!r}" if isinstance(value, _SIMPLE) else " = ..."


def definition_of(cls: type) -> ast.ClassDef:
    """Return the statement that defines a class."""
    path = Path(inspect.getsourcefile(cls) or "")
    return next(
        node
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__
    )


def signature_of(function: ast.FunctionDef, *, bound: bool = False) -> str:
    """Return arguments and result; without the first argument if it is bound."""
    arguments = function.args
    if bound:
        spare = arguments.posonlyargs or arguments.args
        arguments = ast.arguments(
            posonlyargs=arguments.posonlyargs[1:],
            args=arguments.args if arguments.posonlyargs else spare[1:],
            vararg=arguments.vararg,
            kwonlyargs=arguments.kwonlyargs,
            kw_defaults=arguments.kw_defaults,
            kwarg=arguments.kwarg,
            defaults=arguments.defaults,
        )
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"({ast.unparse(arguments)}){result}"


def _directive(
    name: str,
    argument: str,
    text: str,
    ticks: int,
    options: Mapping[str, str] | None = None,
) -> str:
    fence = "`" * ticks
    given = {**(options or {}), **({"no-contents-entry": ""} if ticks == 5 else {})}
    lines = [f":{key}: {value}".rstrip() for key, value in given.items()]
    head = "\n".join([f"{fence}{{{name}}} {argument}", *lines])
    return f"{head}\n\n{text}\n{fence}\n"
