"""The version decides which fields exist, the gates which of them are dropped."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from quaymaster.config import Kubernetes
from quaymaster.manifests import Loaded, ManifestErrors, NoticeReason, load
from tests.kit.field_objects import FieldPlace, field_places, object_with
from tests.kit.internals.objects import wire
from tests.kit.internals.openapi import field_table

OLD, NEW = field_table(Kubernetes("1.36")), field_table(Kubernetes("1.37"))
BOTH = sorted(OLD.kinds.keys() & NEW.kinds.keys())
UNKNOWN = "unknown field; known since 1.37"


def new_fields(kind: str) -> Iterator[FieldPlace]:
    """Return the fields of a kind that 1.37 has and 1.36 does not."""
    for place in field_places(NEW, kind, through=OLD):
        if place.field not in OLD.fields_of(place.structure):
            yield place


def disabled_fields(version: str, kind: str) -> Iterator[tuple[FieldPlace, str]]:
    """Return the fields of a kind that a version drops, with their gates."""
    table = field_table(Kubernetes(version))
    for place in field_places(table, kind, through=table):
        gate = table.gate_of(place.structure, place.field)
        if gate:
            yield place, gate


@pytest.fixture(autouse=True)
def _only_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    """The objects here have one field each, so most of them are not valid."""
    for name in ("pod_problems", "template_problems"):
        monkeypatch.setattr(wire, name, lambda *_, **__: ())


WITH_NEW = [kind for kind in BOTH if any(new_fields(kind))]
WITH_DISABLED = [
    (table.kubernetes.version, kind)
    for table in (OLD, NEW)
    for kind in sorted(table.kinds)
    if any(disabled_fields(table.kubernetes.version, kind))
]


def load_tree(folder: Path, tree: object, version: str) -> Loaded:
    path = folder / "a.json"
    path.write_text(json.dumps(tree))
    return load([path], kubernetes=Kubernetes(version))


def errors(folder: Path, tree: object, version: str) -> list[tuple[str, str]]:
    with pytest.raises(ManifestErrors) as caught:
        load_tree(folder, tree, version)
    return [(problem.path, problem.message) for problem in caught.value.problems]


def dropped(folder: Path, tree: object, version: str) -> list[tuple[str, str]]:
    return [
        (notice.path, notice.message)
        for notice in load_tree(folder, tree, version).notices
        if notice.reason is NoticeReason.DROPPED_FIELDS
    ]


def because_of(gate: str, version: str) -> str:
    return f"dropped, as the feature gate {gate} is off in Kubernetes {version}"


def test_workloads_pods_nodes_and_devices_have_new_fields() -> None:
    expected = {"v1 Pod", "v1 Node", "apps/v1 Deployment", "batch/v1 Job"}
    assert expected | {"resource.k8s.io/v1 ResourceSlice"} <= {*WITH_NEW}


@pytest.mark.parametrize("kind", WITH_NEW)
def test_field_that_is_new_in_1_37_loads_there(kind: str, tmp_path: Path) -> None:
    for place in new_fields(kind):
        load_tree(tmp_path, object_with(NEW, kind, place), "1.37")


@pytest.mark.parametrize("kind", WITH_NEW)
def test_field_that_is_new_in_1_37_is_unknown_in_1_36(
    kind: str, tmp_path: Path
) -> None:
    for place in new_fields(kind):
        tree = object_with(NEW, kind, place)
        assert errors(tmp_path, tree, "1.36") == [(place.path, UNKNOWN)]


@pytest.mark.parametrize(("version", "kind"), WITH_DISABLED)
def test_field_whose_gate_is_off_is_dropped_with_a_warning(
    version: str, kind: str, tmp_path: Path
) -> None:
    for place, gate in disabled_fields(version, kind):
        tree = object_with(field_table(Kubernetes(version)), kind, place)
        path = place.path.replace("dataSourceRef.namespace", "dataSourceRef")
        finding = (path, because_of(gate, version))
        assert dropped(tmp_path, tree, version) == [finding]


def test_field_that_1_37_has_removed_is_known_until_then(tmp_path: Path) -> None:
    tree = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "a"},
        "spec": {"devices": [{"nodeAllocatableResourceMappings": {"cpu": {}}}]},
    }
    path = "spec.devices[0].nodeAllocatableResourceMappings"
    hint = "known until 1.36; did you mean 'nodeAllocatableResources'?"
    assert errors(tmp_path, tree, "1.37") == [(path, f"unknown field; {hint}")]
    gate = "DRANodeAllocatableResources"
    assert dropped(tmp_path, tree, "1.36") == [(path, because_of(gate, "1.36"))]


@pytest.mark.parametrize(
    ("version", "meant"),
    [("1.36", "nodeAllocatableResourceMappings"), ("1.37", "nodeAllocatableResources")],
)
def test_only_fields_of_the_version_are_suggested(
    version: str, meant: str, tmp_path: Path
) -> None:
    tree = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "a"},
        "spec": {"devices": [{"nodeAllocatableResourc": {}}]},
    }
    (finding,) = errors(tmp_path, tree, version)
    assert finding[1] == f"unknown field; did you mean {meant!r}?"
