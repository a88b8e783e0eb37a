"""Generates the reference page of all signatures, as stubs, from the sources."""

import ast
import enum
import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from quaymaster.hookspecs import EXTENSION_POINTS
from tests.docs.api import constructor_of, definition_of, signature_of
from tests.kit.front_door import EXPORTS, origin

__all__ = ["SIGNATURES", "signatures_page"]

SIGNATURES = Path(__file__).parents[2] / "docs" / "reference" / "signatures.md"

_INTRO = """\
# Signatures

This page is made from the sources: `python -m tests.docs.reference`.

It has what you pass to each public name, and what you get.
[Public modules](modules.md) describes each name in a sentence; `help(NAME)` says more.
Hooks have [pages of their own](extension-points/README.md).
A class with `(*, ...)` is created with keywords; fields with `= ...` have a default.
Attributes with `: ...` have a type that type checkers infer.
"""

_WIDTH = 88
_QUOTED = re.compile(r"(: |-> |\[|\| )'([A-Z][^']*)'")
"""A type in quotes, for type checkers alone."""
_ATTRIBUTE = re.compile(r"^    (\w+): ", re.MULTILINE)
_CLASS = re.compile(r"[A-Z]\w*")
_DEFAULT = re.compile(r" ?= ?")
_PRIVATE = re.compile(r"(?<![\w'])_\w")
_SPECS = {point.spec for point in EXTENSION_POINTS}
_EXPORTED = {name for names in EXPORTS.values() for name in names}


def signatures_page() -> str:
    """Return the page: a block of Python for each public module."""
    return "\n".join([_INTRO, *map(_section, EXPORTS)])


def _section(module: str) -> str:
    stubs = "\n\n".join(filter(None, (_stub(module, name) for name in EXPORTS[module])))
    return f"## `{module}`\n\n```python\n{stubs}\n```\n"


def _stub(module: str, name: str) -> str:
    _, statement, _ = origin(module, name)
    if isinstance(statement, ast.ClassDef):
        cls: type = getattr(importlib.import_module(module), name)
        return "" if cls in _SPECS else "\n".join(_class(cls, statement))
    if isinstance(statement, ast.FunctionDef):
        return "\n".join(_wrapped("def ", name, signature_of(statement)))
    if isinstance(statement, ast.AnnAssign):
        return f"{name}: {ast.unparse(statement.annotation)}"
    return f"{name} = ..."


def _class(cls: type, statement: ast.ClassDef) -> Iterator[str]:
    yield from _wrapped("class ", cls.__name__, constructor_of(cls, statement), ":")
    members = [f"    {line}" for line in _members(cls)]
    yield from members or ["    ..."]


def _members(cls: type) -> Iterator[str]:
    """Yield the members of the class and of its bases in the product, each once."""
    seen = {field.name for field in attrs.fields(cls)} if attrs.has(cls) else set()
    seen |= {*getattr(cls, "__struct_fields__", ())}
    for base in cls.__mro__:
        if not base.__module__.startswith("quaymaster"):
            continue
        definition = definition_of(base)
        body = definition.body
        # Other public classes show their own attributes.
        if base is cls or base.__name__ not in _EXPORTED:
            yield from _attributes(definition, seen)
        for part in body:
            if isinstance(part, ast.FunctionDef) and part.name not in seen:
                seen.add(part.name)
                if not part.name.startswith("_"):
                    yield from _member(part)
        if issubclass(base, enum.Enum):
            yield from _values(body)


def _attributes(definition: ast.ClassDef, seen: set[str]) -> Iterator[str]:
    """Yield the attributes that the docstring lists, but for the properties."""
    section = (ast.get_docstring(definition) or "").partition("\nAttributes:\n")[2]
    types = _types_of_attributes(definition)
    properties = {
        part.name for part in definition.body if isinstance(part, ast.FunctionDef)
    }
    for name in _ATTRIBUTE.findall(section.partition("\n\n")[0]):
        if name not in seen and name not in properties:
            seen.add(name)
            yield f"{name}: {_unquoted(types.get(name, '...'))}"


def _types_of_attributes(definition: ast.ClassDef) -> Mapping[str, str]:
    """Return the types of attributes, as far as the class and __init__ write them."""
    body = definition.body
    created = next(
        (
            part
            for part in body
            if isinstance(part, ast.FunctionDef) and part.name == "__init__"
        ),
        None,
    )
    parameters: dict[str, str] = {}
    if created is not None:
        arguments = created.args
        parameters = {
            each.arg: ast.unparse(each.annotation)
            for each in (*arguments.args, *arguments.kwonlyargs)
            if each.annotation is not None
        }
        body = [*body, *created.body]
    types: dict[str, str] = {}
    for part in body:
        if isinstance(part, ast.AnnAssign):
            types[ast.unparse(part.target)] = ast.unparse(part.annotation)
        elif isinstance(part, ast.Assign):
            kind = _type_of(part.value, parameters)
            types |= {ast.unparse(target): kind for target in part.targets if kind}
    return {name.removeprefix("self."): kind for name, kind in types.items()}


def _type_of(value: ast.expr, parameters: Mapping[str, str]) -> str:
    """Return the type of what __init__ assigns; empty if the source does not say it."""
    if isinstance(value, ast.Name):
        return parameters.get(value.id, "")
    if isinstance(value, ast.Constant) and value.value is not None:
        return type(value.value).__name__
    is_class = isinstance(value, ast.Call) and _CLASS.fullmatch(ast.unparse(value.func))
    return is_class[0] if is_class else ""


def _member(method: ast.FunctionDef) -> Iterator[str]:
    marks = {ast.unparse(mark).split(".")[-1] for mark in method.decorator_list}
    if marks & {"property", "cached_property"}:
        result = f": {ast.unparse(method.returns)}" if method.returns else ""
        yield f"{method.name}{_unquoted(result)}"
        return
    yield from (f"@{mark}" for mark in ("classmethod", "staticmethod") if mark in marks)
    signature = signature_of(method, bound="staticmethod" not in marks)
    yield from _wrapped("def ", method.name, signature)


def _values(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
            if isinstance(target, ast.Name) and not target.id.startswith("_"):
                yield f"{target.id} = ..."


def _wrapped(keyword: str, name: str, signature: str, end: str = "") -> Iterator[str]:
    """Yield one line, or a line for each argument if one is too long."""
    signature = _unquoted(signature)
    if not signature:
        yield f"{keyword}{name}{end}"
        return
    close = _closing(signature)
    arguments = [*map(_spaced, _split(signature[1:close]))]
    line = f"{keyword}{name}({', '.join(arguments)}{signature[close:]}{end}"
    if len(line) <= _WIDTH - 4:
        yield line
        return
    yield f"{keyword}{name}("
    yield from (f"    {argument}," for argument in arguments)
    yield f"{signature[close:]}{end}"


def _unquoted(signature: str) -> str:
    """Return a signature whose types are not quoted; texts stay as they are."""
    return _QUOTED.sub(r"\1\2", signature)


def _spaced(argument: str) -> str:
    """Return an argument with spaces around the sign before its default."""
    name, colon, rest = argument.partition(": ")
    kind, equals, default = _DEFAULT.sub(" = ", rest, count=1).partition(" = ")
    shown = "..." if _PRIVATE.search(default) else default
    return name + colon + kind + equals + shown


def _closing(signature: str) -> int:
    """Return the position of the parenthesis that ends the arguments."""
    depth = 0
    for at, letter in enumerate(signature):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return at
    raise ValueError(signature)


def _split(arguments: str) -> Iterator[str]:
    """Yield each argument; commas within brackets belong to a type or a default."""
    depth = start = 0
    for at, letter in enumerate(arguments):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            yield arguments[start:at].strip()
            start = at + 1
    if arguments[start:].strip():
        yield arguments[start:].strip()
