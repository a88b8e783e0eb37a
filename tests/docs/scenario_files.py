"""Generates the reference page of scenario files from their JSON Schema."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from quaymaster.scenarios import scenario_schema

__all__ = ["PAGE", "Schema", "scenario_page", "section"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "scenario-files.md"

Schema: TypeAlias = Mapping[str, Any]

_INTRO: Final = (
    "# Scenario files\n\n"
    "This page is made from the schema of scenario files: "
    "`python -m tests.docs.reference`.\n\n"
    "`quaymaster scenario schema` prints that schema, for editors; "
    "[Write a scenario](../how-to/write-a-scenario.md) begins with an example.\n\n"
    "A file is YAML or JSON, and begins with "
    "`apiVersion: simulation.quaymaster.io/v1alpha1` and `kind: Scenario`.\n"
    "Durations are written as in Go, such as `90s`, `10m` or `1h30m`; "
    "they count in virtual time.\n"
)


def scenario_page() -> str:
    """Return the page: a section for each part of a file, in the order of their use."""
    definitions: Mapping[str, Schema] = scenario_schema()["$defs"]  # type: ignore[assignment]  # JSON
    sections = [section(name, definition) for name, definition in definitions.items()]
    return "\n".join([_INTRO, *sections])


def section(name: str, record: Schema) -> str:
    """Return the section of one part of a file: a table of its fields."""
    required = record.get("required", ())
    rows = "\n".join(
        f"| `{key}`{' (required)' if key in required else ''} | {_kind(field)} | "
        f"{_default(field)} | {_cell(field.get('description', ''))} |"
        for key, field in record["properties"].items()
    )
    if not rows:
        return f"## {name}\n\n{record['description']}\n"
    return (
        f"## {name}\n\n{record['description']}\n{_one_of(record)}\n"
        f"| field | type | default | what it is |\n| --- | --- | --- | --- |\n{rows}\n"
    )


def _one_of(record: Schema) -> str:
    keys = [f"`{choice['required'][0]}`" for choice in record.get("oneOf", ())]
    return f"Exactly one of {', '.join(keys)}.\n" if keys else ""


def _kind(field: Schema) -> str:
    return " or ".join(dict.fromkeys(_kinds(field)))


def _kinds(field: Schema) -> Iterator[str]:
    if "anyOf" in field:
        limits = {key: field[key] for key in ("minimum", "maximum") if key in field}
        for member in field["anyOf"]:
            if member.get("type") != "null":
                yield from _kinds({**member, **limits})
    elif "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        yield f"[{name}](#{name.lower()})"
    elif "enum" in field:
        yield ", ".join(f"`{value}`" for value in field["enum"])
    elif "const" in field:
        yield f"`{field['const']}`"
    elif field.get("type") == "array":
        yield f"list of {_kind(field['items'])}"
    elif field.get("type") == "object":
        yield "mapping"
    elif "ns|us" in str(field.get("pattern", "")):
        yield "duration"
    else:
        yield f"{_NAMES[str(field.get('type'))]}{_limits(field)}"


_NAMES: Final = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "`true` or `false`",
    "['string', 'number']": "quantity",
    "None": "anything",
}


def _limits(field: Schema) -> str:
    if "minimum" not in field:
        return ""
    least, most = field["minimum"], field.get("maximum")
    return f", {least} or more" if most is None else f", {least} to {most}"


def _default(field: Schema) -> str:
    default = field.get("default")
    if default in (None, "", [], {}) or isinstance(default, dict):
        return ""
    return f"`{_written(default)}`"


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ", ".join(map(_written, value))
    return json.dumps(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
