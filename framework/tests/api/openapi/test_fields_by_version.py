"""Which fields are known depends on the version, and dropped ones on the gates."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from quaymaster.config import Kubernetes
from quaymaster.manifests import Loaded, ManifestErrors, NoticeReason, load
from tests.kit.field_objects import fields_below, object_with
from tests.kit.internals.openapi import field_table

OLD, NEW = Kubernetes("1.36"), Kubernetes("1.37")
TABLES = {kubernetes: field_table(kubernetes) for kubernetes in (OLD, NEW)}
KINDS = sorted(TABLES[OLD].kinds & TABLES[NEW].kinds)


def load_tree(folder: Path, tree: object, kubernetes: Kubernetes) -> Loaded:
    path = folder / "a.json"
    path.write_text(json.dumps(tree))
    return load([path], kubernetes=kubernetes)


def problems(folder: Path, tree: object, kubernetes: Kubernetes) -> list[str]:
    with pytest.raises(ManifestErrors) as caught:
        load_tree(folder, tree, kubernetes)
    return [f"{one.path}: {one.message}" for one in caught.value.problems]


def dropped(folder: Path, tree: object, kubernetes: Kubernetes) -> list[str]:
    return [
        f"{notice.path}: {notice.message}"
        for notice in load_tree(folder, tree, kubernetes).notices
        if notice.reason is NoticeReason.DROPPED_FIELDS
    ]


@cache
def only_in(having: Kubernetes, lacking: Kubernetes, kind: str) -> list[Any]:
    """The objects of a kind that have a field which one of the versions lacks."""
    table, other = TABLES[having], TABLES[lacking]
    return [
        (*object_with(table, kind, structure, field, way), structure, field)
        for structure, field, way in fields_below(table, structure_of(table, kind))
        if field not in other.fields_of(structure)
        and all(known_way(other, kind, way[:n]) for n in range(1, len(way)))
    ]
