"""Kinds of plugins and packages are found; wrong ones are reported."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

import msgspec
import pytest

from quaymaster import ApiObject, Node, hookimpl
from quaymaster.errors import KindError, PluginLoadError
from quaymaster.manifests import load
from quaymaster.objects import ApiValue, PodTemplateSpec, Quantity
from quaymaster.scheduler import PluginRegistry
from tests.kit.kinds import Gangs, PodGroup
from tests.kit.packages import MakeDistribution

KIND = """
from typing import ClassVar
from quaymaster import ApiObject

class Lane(ApiObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Lane"
    plural: ClassVar[str] = "lanes"
"""


class Thing(ApiObject, frozen=True, kw_only=True):
    """A valid kind with a field of each supported type."""

    api_version: ClassVar[str] = "acme.example/v1beta2"
    kind: ClassVar[str] = "Thing"
    plural: ClassVar[str] = "things"
    namespaced: ClassVar[bool] = False

    size: Quantity = Quantity(0)
    share: float = 0.5
    mode: Literal["", "Fast", "Slow"] = ""
    port: int | str = 0
    template: PodTemplateSpec | None = None
    parts: tuple[dict[str, int], ...] = ()
    anything: object = None


class Part(msgspec.Struct):
    size: int = 0


def kind(**attributes: object) -> type:
    """Return a class that is valid except for some attributes."""
    right = {"api_version": "a.example/v1", "kind": "Odd", "plural": "odds"}
    made = type("Odd", (ApiObject,), {**right, **attributes})
    assert isinstance(made, type)
    return made


def field(annotation: object, default: object = None) -> type:
    return kind(__annotations__={"part": annotation}, part=default)


def plugin(kinds: object) -> type:
    return type("Odd", (), {"kinds": kinds, "score": hookimpl(lambda self: 0)})


VERSION = "expected a group and a version such as example.com/v1"
WRONG: Sequence[tuple[str, object, str]] = (
    ("no class", "PodGroup", "expected a class derived from ApiObject, got 'PodGroup'"),
    ("no object", int, "expected a class derived from ApiObject, got <class 'int'>"),
    ("no kind", kind(kind=""), "Odd.kind: expected a name such as PodGroup, got ''"),
    (
        "no version",
        kind(api_version=""),
        f"Odd.api_version: {VERSION}, got ''",
    ),
    (
        "a group that is no domain",
        kind(api_version="Apps/v1"),
        f"Odd.api_version: {VERSION}, got 'Apps/v1'",
    ),
    (
        "no plural",
        kind(plural=""),
        "Odd.plural: expected a name in lower case such as podgroups, got ''",
    ),
    (
        "conversions that are no mapping",
        kind(conversions=("x",)),
        "Odd.conversions: expected a mapping of versions to functions, got ('x',)",
    ),
    (
        "a conversion from another group",
        kind(conversions={"b.example/v1": dict}),
        "Odd.conversions: expected another version of a.example, got 'b.example/v1'",
    ),
    (
        "a conversion that is no function",
        kind(conversions={"a.example/v2": 7}),
        "Odd.conversions['a.example/v2']: expected a function, got 7",
    ),
    (
        "a kind of Kubernetes",
        kind(kind="StorageClass", api_version="storage.k8s.io/v1beta1"),
        "Odd.kind: expected a kind of your own, but Kubernetes itself has StorageClass",
    ),
    (
        "a list",
        field(list[str], ()),
        "Odd.part: expected tuple[..., ...], as objects never change",
    ),
    (
        "what may change",
        field(Part | None),
        "Odd.part: expected a frozen class, such as of ApiValue",
    ),
    ("what JSON has not", field(Path | None), "Odd.part: nothing in JSON is a Path"),
    ("what only Python has", field(bytes, b""), "Odd.part: nothing in an object is a"),
    (
        "a map by numbers",
        field(dict[int, str] | None),
        "Odd.part: expected a map by strings, as JSON has it",
    ),
    (
        "a name that nobody knows",
        field("Misspelt"),
        "Odd.metadata: its fields cannot be read: name 'Misspelt' is not defined",
    ),
    (
        "no default",
        kind(__annotations__={"part": int}),
        "Odd.part: expected a default, for objects that leave it out",
    ),
    (
        "metadata of its own",
        kind(__annotations__={"metadata": ApiValue}, metadata=ApiValue()),
        "Odd.metadata: expected ObjectMeta, as every object has it",
    ),
)


@pytest.mark.parametrize(
    ("declared", "problem"),
    [pytest.param(*case[1:], id=case[0]) for case in WRONG],
)
def test_wrong_kind_is_an_error_of_one_line(declared: object, problem: str) -> None:
    with pytest.raises(PluginLoadError) as caught:
        PluginRegistry.of({"Odd": plugin((declared,))}).load("Odd")
    assert caught.value.problem.startswith(f"kinds: {problem}")


@pytest.mark.parametrize(
    "declared", [PodGroup, "PodGroup", {PodGroup}], ids=["a class", "a text", "a set"]
)
def test_kinds_are_given_as_a_tuple(declared: object) -> None:
    error = PluginRegistry.of({"Odd": plugin(declared)})["Odd"].error
    assert error is not None
    assert error.problem == f"kinds: expected a tuple of classes, got {declared!r}"


def test_kinds_may_have_fields_of_many_types() -> None:
    registry = PluginRegistry.of({"Odd": plugin((Thing, Node))})
    assert registry.kinds_of(["Odd"]) == (Thing, Node)


def test_two_classes_with_one_plural_are_an_error() -> None:
    registry = PluginRegistry.of(
        {
            "One": plugin((kind(kind="Ox", plural="oxen"),)),
            "Two": plugin((kind(kind="Cow", plural="oxen"),)),
        }
    )
    with pytest.raises(KindError, match=r"^oxen of a\.example is declared by two"):
        registry.kinds_of(["One", "Two"])


def test_same_name_in_another_group_is_another_kind() -> None:
    service = kind(kind="Service", plural="services", api_version="serving.example/v1")
    assert PluginRegistry.of({"Odd": plugin((service,))}).kinds_of(["Odd"])


def test_only_kinds_of_requested_plugins_count() -> None:
    registry = PluginRegistry.of({"Gangs": Gangs, "Odd": plugin((Thing,))})
    assert registry.kinds_of(["Gangs"]) == (PodGroup,)
    assert registry.kinds_of([]) == ()


def test_package_offers_kinds_by_entry_points(
    make_distribution: MakeDistribution,
) -> None:
    make_distribution(
        "acme-lanes",
        {"Lane": "acme_lanes:Lane"},
        group="quaymaster.kinds",
        module="acme_lanes",
        code=KIND,
    )
    registry = PluginRegistry.discover().with_plugin(Gangs)
    assert [cls.__name__ for cls in registry.kinds_of([])] == ["Lane"]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("raise SystemExit(3)", "could not be imported: SystemExit: 3"),
        ("import no_such_module", "could not be imported: ModuleNotFoundError: "),
        ("class Lane: pass", "expected a class derived from ApiObject, got <class"),
        (KIND.replace("lanes", ""), "Lane.plural: expected a name in lower case"),
    ],
    ids=[
        "module that ends the process",
        "a module that fails",
        "no kind",
        "a kind that is wrong",
    ],
)
def test_package_with_a_wrong_kind_is_named(
    make_distribution: MakeDistribution, code: str, problem: str
) -> None:
    make_distribution(
        "acme-lanes",
        {"Lane": "acme_lanes:Lane"},
        group="quaymaster.kinds",
        version="2.0",
        module="acme_lanes",
        code=code,
    )
    registry = PluginRegistry.discover()
    with pytest.raises(KindError) as caught:
        registry.kinds_of([])
    where = "kind 'Lane' (acme-lanes 2.0), entry point 'acme_lanes:Lane': "
    assert str(caught.value).startswith(where + problem)


def test_program_that_loads_manifests_gets_errors_of_wrong_kinds(
    tmp_path: Path,
) -> None:
    with pytest.raises(KindError, match=r"Odd\.plural"):
        load([tmp_path], kinds=[kind(plural="Odds")])
