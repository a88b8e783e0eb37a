"""The table of fields agrees with the objects that are read."""

import json

import pytest
from msgspec import inspect

from quaymaster.config import Kubernetes
from quaymaster.objects import KINDS
from tests.kit.internals.openapi import (
    Reference,
    field_table,
    find_duplicates,
    find_odd_fields,
    find_wrong,
    path_text,
)

TABLE = field_table(Kubernetes())
# A pod keeps its node beside its spec, and only volumes of the cluster have the other.
ELSEWHERE = ("Pod.nodeName", "azureFile.secretNamespace")


def is_nested(path: str) -> bool:
    """Return whether a field is inside one of the same name, as templates can be."""
    _, *names = path.split(".")
    return len(set(names)) < len(names)


def missing(info: inspect.Type, reference: Reference, path: str) -> list[str]:
    """Return the fields that we read and that the table lacks."""
    if isinstance(info, inspect.UnionType):
        return [
            found for inner in info.types for found in missing(inner, reference, path)
        ]
    if isinstance(info, inspect.VarTupleType):
        inner = reference[0] if isinstance(reference, list) else 0
        return missing(info.item_type, inner, path)
    if isinstance(info, inspect.DictType):
        inner = reference[""] if isinstance(reference, dict) else 0
        return missing(info.value_type, inner, path)
    if not isinstance(info, inspect.StructType):
        return []
    assert isinstance(reference, int), path
    if is_nested(path):
        return []
    fields = TABLE.fields_of(reference)
    found = []
    for field in info.fields:
        where = f"{path}.{field.encode_name}"
        if field.encode_name not in fields:
            found.append(where)
        else:
            found += missing(field.type, fields[field.encode_name], where)
    return found


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_table_has_every_field_that_is_read(kind: str) -> None:
    cls = KINDS[kind]
    structure = TABLE.structure_of(cls.api_version, kind)
    assert structure
    found = missing(inspect.type_info(cls), structure, kind)
    assert [path for path in found if not path.endswith(ELSEWHERE)] == []


def unknown(kind: str, tree: object) -> list[str]:
    api_version, _, name = kind.rpartition(" ")
    found = find_odd_fields(tree, TABLE.structure_of(api_version, name), TABLE)
    return [f"{field.path}{field.hint}" for field in found]


@pytest.mark.parametrize(
    ("kind", "tree", "expected"),
    [
        ("v1 Pod", {"Spec": {}}, ["Spec; did you mean 'spec'?"]),
        (
            "v1 Pod",
            {"spec": {"containers": [{}, {"imagee": "x"}]}},
            ["spec.containers[1].imagee; did you mean 'image'?"],
        ),
        ("v1 Pod", {"spec": {"xyzzy": 1}}, ["spec.xyzzy"]),
        ("v1 Pod", {"metadata": {"labels": {"anything": "x"}}}, []),
        ("v1 Service", {"spec": {"port": []}}, ["spec.port; did you mean 'ports'?"]),
        ("v1 ConfigMap", {"data": {"a": "b"}, "xyzzy": {}}, ["xyzzy"]),
        (
            "resource.k8s.io/v1 ResourceSlice",
            {"spec": {"devices": [{"attributes": {"a/b": {"strng": "x"}}}]}},
            ["spec.devices[0].attributes.a/b.strng; did you mean 'string'?"],
        ),
        (
            "apps/v1 StatefulSet",
            {"spec": {"template": {"spec": {"volumes": [{"emptyDirr": {}}]}}}},
            ["spec.template.spec.volumes[0].emptyDirr; did you mean 'emptyDir'?"],
        ),
        (
            "resource.k8s.io/v1 DeviceClass",
            {"spec": {"config": [{"opaque": {"parameters": {"free": {}}}}]}},
            [],
        ),
        (
            "apiextensions.k8s.io/v1 CustomResourceDefinition",
            {"spec": {"versions": [{"subresources": {"status": {"x": 1}}}]}},
            ["spec.versions[0].subresources.status.x"],
        ),
        ("v1 Pod", {"spec": ["x"], "metadata": None}, []),
        ("example.com/v1 Widget", {"whatever": 1}, []),
    ],
)
def test_fields_that_their_place_does_not_have_are_found(
    kind: str, tree: object, expected: list[str]
) -> None:
    assert unknown(kind, tree) == expected


def wrong(kind: str, tree: object) -> list[str]:
    api_version, _, name = kind.rpartition(" ")
    found = find_wrong(tree, TABLE.structure_of(api_version, name), TABLE)
    return [f"{value.path}: {value.expected}" for value in found]


def container(**fields: object) -> object:
    return {"spec": {"containers": [fields]}}


@pytest.mark.parametrize(
    ("kind", "tree", "expected"),
    [
        (
            "v1 Pod",
            container(env=[{"name": "PORT", "value": 80}]),
            ["spec.containers[0].env[0].value: a string"],
        ),
        (
            "v1 Pod",
            container(args=["a", 1, None], command="sleep"),
            [
                "spec.containers[0].args[1]: a string",
                "spec.containers[0].command: a list",
            ],
        ),
        (
            "v1 Pod",
            container(tty="true", stdin=True),
            ["spec.containers[0].tty: true or false"],
        ),
        (
            "v1 Pod",
            container(livenessProbe={"periodSeconds": 1.5, "httpGet": {"port": [80]}}),
            [
                "spec.containers[0].livenessProbe.periodSeconds: an integer",
                "spec.containers[0].livenessProbe.httpGet.port: an integer or a string",
            ],
        ),
        (
            "v1 Pod",
            container(startupProbe={"periodSeconds": 1 << 31, "timeoutSeconds": 5.0}),
            [
                (
                    "spec.containers[0].startupProbe.periodSeconds: "
                    "an integer from -2147483648 to 2147483647"
                )
            ],
        ),
        ("v1 Pod", {"metadata": [], "spec": None}, ["metadata: an object"]),
        ("v1 Pod", {"metadata": {"labels": ["a"]}}, ["metadata.labels: an object"]),
        (
            "v1 ConfigMap",
            {"data": {"a": 1, "b": "x", "c": None}, "binaryData": {"d": "YQ=="}},
            ["data.a: a string"],
        ),
        (
            "v1 Secret",
            {
                "data": {"a": "aGk=\n", "b": "hi!", "c": "aGk"},
                "stringData": {"d": True},
            },
            [
                "data.b: base64 text",
                "data.c: base64 text",
                "stringData.d: a string",
            ],
        ),
        (
            "autoscaling/v2 HorizontalPodAutoscaler",
            {"spec": {"behavior": {"scaleUp": {"tolerance": "x"}}}},
            ["spec.behavior.scaleUp.tolerance: a quantity such as 500m, 2 or 1.5Gi"],
        ),
        (
            "apiextensions.k8s.io/v1 CustomResourceDefinition",
            {"spec": {"preserveUnknownFields": "false"}},
            ["spec.preserveUnknownFields: true or false"],
        ),
        ("v1 Pod", {"unknown": {"fields": 1}}, []),
        ("example.com/v1 Widget", {"metadata": 1}, []),
    ],
)
def test_values_that_are_not_of_the_type_of_their_field_are_found(
    kind: str, tree: object, expected: list[str]
) -> None:
    assert wrong(kind, tree) == expected


def test_fields_of_any_json_accept_any_value() -> None:
    schema = {
        "default": [1],
        "enum": [1, "a", None, {"b": 2}],
        "maximum": 1.5,
        "items": {"type": "string"},
        "additionalProperties": False,
        "example": {"x": 1},
    }
    version = {"name": "v1", "schema": {"openAPIV3Schema": schema}}
    kind = "apiextensions.k8s.io/v1 CustomResourceDefinition"
    assert wrong(kind, {"spec": {"versions": [version]}}) == []


def test_duplicate_keys_are_found() -> None:
    text = '{"a": 1, "b": [{"c": {"d": 1, "d": 2}}], "a": 3, "a": 4}'
    tree, found = find_duplicates(text.encode())
    assert tree == json.loads(text)
    assert sorted(map(path_text, found)) == ["a", "b[0].c.d"]
