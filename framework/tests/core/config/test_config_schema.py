"""The JSON Schema that editors use to check configurations."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, ClassVar

import attrs
import pytest

from quaymaster import hookimpl
from quaymaster.config import (
    ConfigErrors,
    config_schema,
    dump_config,
    integer,
    one_of,
    parse_config,
)
from quaymaster.hookspecs import EXTENSION_POINTS
from quaymaster.objects import NodeAffinity
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER
from tests.kit.plugins import Bind, Sort


@attrs.frozen(kw_only=True)
class Buoy:
    """Marks the way.

    Attributes:
        name: What it is
            called.
    """

    name: str


@attrs.frozen(kw_only=True)
class TideArgs:
    """How the tide comes in.

    Attributes:
        height: In ``metres``.
        mode: Springs or neaps.
    """

    height: int = attrs.field(default=3, validator=integer(1, 9))
    mode: str = attrs.field(default="neap", validator=one_of("neap", "spring"))
    wait: timedelta = timedelta(minutes=2)
    buoys: tuple[Buoy, ...] = ()
    added_affinity: NodeAffinity | None = None


class Tide:
    Args: ClassVar[type] = TideArgs

    @hookimpl
    def filter(self) -> None: ...


REGISTRY = PluginRegistry.of({"Sort": Sort, "Bind": Bind, "Tide": Tide})
ALL = {
    "multiPoint": {"enabled": [{"name": "Sort"}, {"name": "Bind"}, {"name": "Tide"}]}
}


def schema() -> dict[str, Any]:
    return dict(config_schema(REGISTRY))


Part = Mapping[str, Any]

TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def complaints(value: object, part: Part, root: Part) -> Iterator[str]:
    """Check a value against the part of JSON Schema that is used here."""
    wrong = list(complaints_about_type(value, part))
    yield from wrong
    if wrong:
        return
    yield from complaints_about_value(value, part)
    if isinstance(value, list):
        for item in value:
            yield from complaints(item, part.get("items", {}), root)
    if isinstance(value, Mapping):
        yield from complaints_about_fields(value, part, root)
    yield from complaints_of_others(value, part, root)


def complaints_about_type(value: object, part: Part) -> Iterator[str]:
    names = part.get("type", list(TYPES))
    for name in [names] if isinstance(names, str) else names:
        is_bool = isinstance(value, bool)
        if isinstance(value, TYPES[name]) and is_bool <= (name == "boolean"):
            return
    yield f"{value!r} is not {names}"


def complaints_about_value(value: object, part: Part) -> Iterator[str]:
    if "const" in part and value != part["const"]:
        yield f"{value!r} is not {part['const']!r}"
    if "enum" in part and value not in part["enum"]:
        yield f"{value!r} is not in {part['enum']}"
    if isinstance(value, str) and not re.search(part.get("pattern", ""), value):
        yield f"{value!r} does not match {part['pattern']}"
    if isinstance(value, int | float) and not (
        part.get("minimum", value) <= value <= part.get("maximum", value)
    ):
        yield f"{value!r} is out of range"


def complaints_about_fields(
    value: Mapping[str, object], part: Part, root: Part
) -> Iterator[str]:
    for key in part.get("required", ()):
        if key not in value:
            yield f"{key} is missing"
    others = part.get("additionalProperties", True)
    for key, item in value.items():
        if key in part.get("properties", {}):
            yield from complaints(item, part["properties"][key], root)
        elif isinstance(others, Mapping):
            yield from complaints(item, others, root)
        elif not others:
            yield f"{key} is unknown"


def complaints_of_others(value: object, part: Part, root: Part) -> Iterator[str]:
    if "$ref" in part:
        name = str(part["$ref"]).removeprefix("#/$defs/")
        yield from complaints(value, root["$defs"][name], root)
    for other in part.get("allOf", ()):
        yield from complaints(value, other, root)
    if "anyOf" in part and all(
        list(complaints(value, other, root)) for other in part["anyOf"]
    ):
        yield f"{value!r} is none of {part['anyOf']}"
    if "if" in part and not list(complaints(value, part["if"], root)):
        yield from complaints(value, part["then"], root)


def is_valid(document: object) -> bool:
    root = schema()
    return not list(complaints(document, root, root))


def with_args(**args: object) -> dict[str, object]:
    config = [{"name": "Tide", "args": args}]
    return HEADER | {"profiles": [{"plugins": ALL, "pluginConfig": config}]}


def test_the_schema_names_its_dialect() -> None:
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(HEADER, id="nothing but the header"),
        pytest.param(HEADER | {"percentageOfNodesToScore": 0}, id="a setting"),
        pytest.param(
            HEADER | {"leaderElection": {"leaseDuration": "1m0.5s"}}, id="a duration"
        ),
        pytest.param(HEADER | {"profiles": [{"plugins": ALL}]}, id="a profile"),
        pytest.param(
            HEADER
            | {"profiles": [{"plugins": {"filter": {"disabled": [{"name": "*"}]}}}]},
            id="a star",
        ),
        pytest.param(with_args(), id="no arguments"),
        pytest.param(
            with_args(kind="TideArgs", height=4, mode="spring"), id="some arguments"
        ),
        pytest.param(
            with_args(
                addedAffinity={
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
                        ]
                    }
                }
            ),
            id="an API object",
        ),
    ],
)
def test_configurations_that_load_are_valid(document: dict[str, object]) -> None:
    parse_config(document, REGISTRY, defaults=HEADER | {"profiles": [{"plugins": ALL}]})

    assert is_valid(document)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({}, id="no header"),
        pytest.param(HEADER | {"kind": "Pod"}, id="another kind"),
        pytest.param(HEADER | {"profles": []}, id="an unknown field"),
        pytest.param(HEADER | {"percentageOfNodesToScore": 101}, id="out of range"),
        pytest.param(HEADER | {"parallelism": "4"}, id="a text for a number"),
        pytest.param(
            HEADER | {"leaderElection": {"leaseDuration": "15"}}, id="no duration"
        ),
        pytest.param(
            HEADER | {"profiles": [{"plugins": {"filtr": {}}}]},
            id="an unknown extension point",
        ),
        pytest.param(
            HEADER
            | {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "Tied"}]}}}]},
            id="an unknown plugin",
        ),
        pytest.param(
            HEADER
            | {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "Bind"}]}}}]},
            id="a plugin at the wrong point",
        ),
        pytest.param(with_args(height="4"), id="a wrong type in arguments"),
        pytest.param(with_args(height=10), id="out of range in arguments"),
        pytest.param(with_args(mode="slow"), id="no choice of the arguments"),
        pytest.param(with_args(heigth=4), id="an unknown field in arguments"),
        pytest.param(with_args(buoys=[{}]), id="a required field in arguments"),
        pytest.param(with_args(kind="BuoyArgs"), id="another plugin's arguments"),
        pytest.param(
            with_args(addedAffinity={"required": {}}), id="no field of an API object"
        ),
    ],
)
def test_configurations_that_do_not_load_are_invalid(
    document: dict[str, object],
) -> None:
    with pytest.raises(ConfigErrors):
        parse_config(
            document, REGISTRY, defaults=HEADER | {"profiles": [{"plugins": ALL}]}
        )

    assert not is_valid(document)


def test_a_dumped_configuration_is_valid() -> None:
    defaults = HEADER | {"profiles": [{"plugins": ALL}]}
    config = parse_config(with_args(height=5), REGISTRY, defaults=defaults)

    assert is_valid(dump_config(config))


def test_every_extension_point_is_described() -> None:
    profile = schema()["$defs"]["ProfileDocument"]["properties"]["plugins"]

    for point in EXTENSION_POINTS:
        if point.key:
            assert profile["properties"][point.key]["description"]
    assert profile["properties"]["filter"]["description"] == (
        "Reject the nodes that cannot run a pod."
    )


def test_descriptions_and_defaults_come_from_the_arguments_class() -> None:
    (described,) = (
        rule["then"]["properties"]["args"]
        for rule in schema()["$defs"]["PluginConfig"]["allOf"]
        if rule["if"]["properties"]["name"]["const"] == "Tide"
    )

    assert described["description"] == "How the tide comes in."
    assert described["properties"]["height"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "default": 3,
        "description": "In metres.",
    }
    assert described["properties"]["wait"]["default"] == "2m0s"
    assert schema()["$defs"]["Buoy"]["properties"]["name"]["description"] == (
        "What it is called."
    )


def test_schema_for_others_suggests_installed_plugins_and_allows_more() -> None:
    root = dict(config_schema(REGISTRY, others=True))
    enabled = {"multiPoint": {"enabled": [{"name": "Tide"}, {"name": "Ebb"}]}}
    config = [{"name": "Ebb", "args": {"level": 1}}]
    document = HEADER | {"profiles": [{"plugins": enabled, "pluginConfig": config}]}
    assert not list(complaints(document, root, root))
    assert not is_valid(document)
    wrong = with_args(height="no number")
    assert list(complaints(wrong, root, root))


def test_a_plugin_that_cannot_be_loaded_is_left_out() -> None:
    broken = REGISTRY.with_plugin(
        print,  # type: ignore[arg-type] # what the test is about
        "Broken",
    )

    assert config_schema(broken) == config_schema(REGISTRY)
