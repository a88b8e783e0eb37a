"""Generates the reference page and the JSON Schemas of the results of commands.

``python -m tests.docs.reference`` writes them; a test checks that they are up to date.
"""

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import msgspec

from quaymaster.config import config_schema
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.cli import RESULTS, DocumentPart

__all__ = [
    "PAGE",
    "SCHEMAS",
    "config_schema_text",
    "result_schemas",
    "results_page",
]

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "results.md"
SCHEMAS: Final = PAGE.with_suffix("")
"""The folder of the schemas."""

Schema: TypeAlias = dict[str, Any]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = "#/$defs/{name}"
_ATTRIBUTE: Final = re.compile(r"^    (\w+): (.*(?:\n {6,}.*)*)", re.MULTILINE)
_INTRO: Final = (
    "# Results\n\n"
    "This page is made from the types of results: `python -m tests.docs.reference`.\n\n"
    "Commands print their results as JSON with `-o json`, and the same as YAML with "
    "`-o yaml`.\n"
    "Each result has a JSON Schema. A result has all keys of its schema, except for "
    "those that may be missing, and no other key.\n"
    "Minor versions may add keys, and then the schemas have them, too.\n\n"
    "| command | result | schema |\n| --- | --- | --- |\n"
)
_OTHERS: Final = (
    "`config show -o json` prints a KubeSchedulerConfiguration; "
    "`quaymaster config schema` prints its schema.\n"
    "`snapshot` writes objects of Kubernetes.\n"
    "`sweep` and `tune` write tables.\n"
)
_NAMES: Final = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "`true` or `false`",
    "null": "`null`",
}


def result_schemas() -> Mapping[str, str]:
    """Return file name -> text of the JSON Schema of each result."""
    return {
        f"{result.name}.schema.json": json.dumps(_schema(result.type), indent=2) + "\n"
        for result in RESULTS
    }


def config_schema_text() -> str:
    """Return the JSON Schema of configurations that is installed for editors."""
    return json.dumps(config_schema(PluginRegistry.discover(), others=True)) + "\n"


def results_page() -> str:
    """Return the page: all results, then a section for each type of object."""
    types = [result.type for result in RESULTS]
    schemas, definitions = _components(types)
    rows = "".join(
        f"| `{result.command}` | {_kind(schema)} | "
        f"[{result.name}]({SCHEMAS.name}/{result.name}.schema.json) |\n"
        for result, schema in zip(RESULTS, schemas, strict=True)
    )
    order = dict.fromkeys(name for schema in schemas for name in _used(schema))
    for name in list(order):
        order |= dict.fromkeys(_reachable(name, definitions))
    sections = [_section(name, definitions[name]) for name in order]
    return "\n".join([_INTRO + rows, _OTHERS, *sections])


def _schema(kind: object) -> Schema:
    [schema], definitions = _components([kind])
    return {"$schema": _DIALECT, **schema, "$defs": definitions}


def _components(kinds: Iterable[object]) -> tuple[list[Schema], dict[str, Schema]]:
    schemas, definitions = msgspec.json.schema_components(
        kinds, ref_template=_REFERENCE
    )
    classes = {part.__name__: part for part in _subclasses(DocumentPart)}
    for name, definition in definitions.items():
        _describe(definition, classes.get(name))
    return list(schemas), definitions


def _subclasses(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _describe(definition: Schema, part: type[msgspec.Struct] | None) -> None:
    """Replace a docstring by its first paragraphs, and describe the keys."""
    description = inspect.cleandoc(definition.get("description", ""))
    text, _, attributes = description.partition("\n\nAttributes:\n")
    definition["description"] = _plain(text.partition("\n\nThe order")[0])
    if part is None:
        return
    described = {name: _plain(line) for name, line in _ATTRIBUTE.findall(attributes)}
    for field in msgspec.structs.fields(part):
        properties = cast("dict[str, Schema]", definition["properties"])
        properties[field.encode_name]["description"] = described.pop(field.name)
    assert not described, f"{part.__name__} has no {', '.join(described)}"


def _plain(text: str) -> str:
    return " ".join(text.replace("``", "").split())


def _section(name: str, definition: Schema) -> str:
    head = f"## {name}\n\n{definition['description']}\n"
    if "properties" not in definition:
        values = ", ".join(f"`{value}`" for value in definition["enum"])
        return f"{head}\nOne of {values}.\n"
    required = definition["required"]
    rows = "".join(
        f"| `{key}`{'' if key in required else ' (may be missing)'} | {_kind(schema)} |"
        f" {schema['description']} |\n"
        for key, schema in definition["properties"].items()
    )
    return f"{head}\n| key | type | what it is |\n| --- | --- | --- |\n{rows}"


def _kind(schema: Schema) -> str:
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_kind, schema["anyOf"])))
    if "$ref" in schema:
        name = _name(schema)
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema["type"] == "array":
        return f"list of {_kind(schema['items'])}"
    if schema["type"] == "object":
        return f"mapping of text to {_kind(schema['additionalProperties'])}"
    return _NAMES[schema["type"]]


def _name(schema: Schema) -> str:
    name: str = schema["$ref"].rpartition("/")[2]
    return name


def _used(schema: object) -> Iterator[str]:
    """Yield the names of the types that a schema refers to."""
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield _name(dict(schema))
        for value in schema.values():
            yield from _used(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _used(value)


def _reachable(name: str, definitions: Mapping[str, Schema]) -> dict[str, None]:
    """Return a type and all types that it refers to, in the order of their use."""
    names = {name: None}
    waiting = [name]
    while waiting:
        for used in _used(definitions[waiting.pop(0)]):
            if used not in names:
                names[used] = None
                waiting.append(used)
    return names
