"""A declared kind converts the objects of its other versions."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from quaymaster import ApiObject
from quaymaster.manifests import Loaded, ManifestErrors, load
from quaymaster.objects import ApiValue, Conversion

Reader = Callable[[str], Loaded]


class ShelfSpec(ApiValue, frozen=True, kw_only=True):
    """The fields of v1."""

    places: int = 0


def from_v1beta1(shelf: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**shelf, "spec": {"places": int(shelf["spec"]["size"])}}


class Shelf(ApiObject, frozen=True, kw_only=True):
    """Its places were a text, called size."""

    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Shelf"
    plural: ClassVar[str] = "shelves"
    conversions: ClassVar[Mapping[str, Conversion]] = {
        "acme.example/v1beta1": from_v1beta1,
        "acme.example/v1beta2": lambda shelf: shelf["metadata"]["name"],
    }

    spec: ShelfSpec = ShelfSpec()


def shelf(spec: str, version: str = "v1beta1", name: str = "a") -> str:
    head = f"apiVersion: acme.example/{version}\nkind: Shelf\n"
    return f"{head}metadata: {{name: {name}}}\nspec: {spec}\n"


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    def read(text: str) -> Loaded:
        file = tmp_path / "in.yaml"
        file.write_text(text)
        return load([file], kinds=[Shelf])

    return read


def problem(read: Reader, text: str) -> str:
    with pytest.raises(ManifestErrors) as caught:
        read(text)
    (problem,) = caught.value.problems
    return f"{problem.path}: {problem.message}"


def test_object_of_another_version_is_converted(read: Reader) -> None:
    loaded = read(f"{shelf('{size: 7}')}---\n{shelf('{places: 8}', 'v1', 'b')}")
    places = {obj.name: obj.spec.places for obj in loaded.objects if type(obj) is Shelf}
    assert places == {"a": 7, "b": 8}
    assert loaded.notices == ()


def test_items_of_a_list_are_converted(read: Reader) -> None:
    items = '[{"metadata": {"name": "a"}, "spec": {"size": "3"}}]'
    text = '{"apiVersion": "acme.example/v1beta1", "kind": "ShelfList", "items": %s}'
    (obj,) = read(text % items).objects
    assert isinstance(obj, Shelf)
    assert obj.spec.places == 3


def test_converted_object_is_checked_like_others(read: Reader) -> None:
    text = shelf("{size: 7}") + "places: 1\n"
    assert problem(read, text) == "places: unknown field"


def test_exception_of_a_conversion_is_one_error(read: Reader) -> None:
    found = problem(read, shelf("{size: many}"))
    assert found.startswith(
        ": cannot be converted from acme.example/v1beta1: ValueError: "
        "invalid literal for int() with base 10: 'many' ("
    )
    assert "test_versions_of_declared_kinds.py:" in found


def test_conversion_that_returns_no_object_is_one_error(read: Reader) -> None:
    assert problem(read, shelf("{}", "v1beta2")) == (
        ": cannot be converted from acme.example/v1beta2: "
        "returned str, expected an object"
    )


def test_version_without_a_conversion_is_left_out_with_a_notice(read: Reader) -> None:
    (notice,) = read(shelf("{}", "v1alpha1")).notices
    assert notice.message == (
        "expected 'acme.example/v1' for a Shelf, got 'acme.example/v1alpha1'; "
        "it was left out"
    )
