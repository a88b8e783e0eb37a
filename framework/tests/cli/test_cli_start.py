"""How much a small simulation does before and besides the simulation itself.

Counts, and not times: they are the same on each machine.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.internals.loading import HEAVY_FOR_SIMULATE

pytestmark = pytest.mark.long

OBJECTS = """\
{apiVersion: v1, kind: Node, metadata: {name: a},
 status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: fits},
 spec: {containers: [{name: c, image: nginx, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: too-large},
 spec: {containers: [{name: c, image: nginx, resources: {requests: {cpu: "9"}}}]}}
"""
PROGRAM = """
import atexit, gc, json, os, sys
from importlib import metadata

visited, searches, search = [], [], metadata.entry_points

def visit(phase, info):
    if phase == "start":
        visited.append(sum(len(gc.get_objects(age)) for age in range(3)))

def entry_points(**criteria):
    searches.append(criteria)
    return search(**criteria)

def attrs_classes(base):
    for kind in type.__subclasses__(base):
        if "__attrs_attrs__" in vars(kind):
            yield f"{kind.__module__}.{kind.__qualname__}"
        yield from attrs_classes(kind)

def report():
    counts = {"visited": visited, "searches": searches, "modules": [*sys.modules]}
    counts["attrs"] = sorted(set(attrs_classes(object)))
    counts["blas"] = os.environ.get("OPENBLAS_NUM_THREADS")
    print(json.dumps(counts), file=sys.stderr)

gc.callbacks.append(visit)
metadata.entry_points = entry_points
atexit.register(report)
from _quaymaster_command import main
main()
"""
MANY_OBJECTS = 25_000
"""More than two collections apart, fewer than what is imported."""
MOST_MODULES = 675
MOST_ATTRS_CLASSES = 142
"""An attrs class takes forty times as long to define as a `msgspec.Struct`. Many of
them once took a fifth of a small simulation."""


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process counts while it simulates a node and two pods."""
    file: Path = tmp_path_factory.mktemp("small") / "small.yaml"
    file.write_text(OBJECTS, encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, "simulate", file],
        capture_output=True,
        check=True,
        env={name: os.environ[name] for name in os.environ if "OPENBLAS" not in name},
        text=True,
    )
    assert "1 of 2 pods placed" in process.stdout
    result: dict[str, Any] = json.loads(process.stderr.splitlines()[-1])
    return result


def test_collector_never_visits_what_is_imported(counts: dict[str, Any]) -> None:
    assert max(counts["visited"], default=0) < MANY_OBJECTS


def test_installed_distributions_are_searched_once(counts: dict[str, Any]) -> None:
    assert len(counts["searches"]) == 1


def test_what_a_small_simulation_does_not_need_is_not_imported(
    counts: dict[str, Any],
) -> None:
    assert [name for name in HEAVY_FOR_SIMULATE if name in counts["modules"]] == []


def test_a_small_simulation_imports_few_modules_of_the_workspace(
    counts: dict[str, Any],
) -> None:
    ours = [name for name in counts["modules"] if name.startswith("quaymaster")]
    assert len(ours) <= MOST_MODULES


def test_a_small_simulation_defines_few_attrs_classes(counts: dict[str, Any]) -> None:
    ours = [name for name in counts["attrs"] if name.startswith("quaymaster")]
    assert len(ours) <= MOST_ATTRS_CLASSES, ours


def test_numpy_starts_no_threads_to_multiply_matrices(counts: dict[str, Any]) -> None:
    assert counts["blas"] == "1"
