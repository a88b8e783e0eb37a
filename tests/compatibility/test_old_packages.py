"""A package for an earlier version still works as it did.

The folders beside this file are such packages, each with a configuration, objects, and
the output of its version's ``simulate`` and ``explain``, as JSON. They are never
edited: if one does not work, a promise is broken (docs/explanation/compatibility.md).
Each further version of the contract gets another folder.
"""

import hashlib
import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import attrs
import pytest
from click.testing import CliRunner

from quaymaster.hookspecs import EXTENSION_POINTS
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.cli import app
from tests.kit.packages import install

PACKAGE = Path(__file__).with_name("acme-racks-0.1.0")
VERSION = "0.1"
CONTENT = "ffff39d6d197878c0fbe4a2a70bd6be228de3f1a6057ac6e454657695e13f951"
"""The hash of all files of the package, with their names."""
ABSENT = frozenset(
    {
        "break_tie",
        "explain_filter",
        "explain_post_filter",
        "explain_pre_filter",
        "filter_pod_use",
        "normalize_placement_score",
        "placement_feasible",
        "placement_generate",
        "placement_score",
        "placement_scores",
        "pod_group_post_filter",
        "skips_depend_on",
        "suggest_changes",
        "verify_reserve",
    }
)
"""Hooks that were added to 0.1 after the package was written."""


@attrs.frozen
class Old:
    """The installed package, and the results of a simulation with it.

    Attributes:
        module: The package's module.
        calls: Hook -> the number of its calls.
        observed: Hook -> the number of calls that the package's observer got.
        documents: The output of ``simulate`` and ``explain``, as JSON.
    """

    module: ModuleType
    calls: Counter[str]
    observed: Counter[str]
    documents: dict[str, object]


def run(*arguments: str) -> object:
    """Run a command on the objects with the configuration, and return its JSON."""
    config = ("--config", str(PACKAGE / "scheduler.yaml"), "-o", "json")
    files = (str(PACKAGE / "objects.yaml"), *config)
    result = CliRunner().invoke(app, [*arguments, *files])
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def recorded(document: str) -> object:
    """Return the old version's output."""
    return json.loads((PACKAGE / f"{document}.json").read_text())


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    site = tmp_path_factory.mktemp("site")
    install(PACKAGE, site)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        decisions = run("simulate")
        module = importlib.import_module("acme_racks")
        calls, observed = module.CALLS.copy(), module.TOLD.copy()
        documents = {
            "decisions": decisions,
            "explanation": run("explain", "plain-0"),
        }
        yield Old(module, calls, observed, documents)
    for name in [name for name in sys.modules if name.split(".")[0] == "acme_racks"]:
        del sys.modules[name]


def test_the_package_is_as_it_was_written() -> None:
    content = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            content.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
            content.update(path.read_bytes() + b"\0")
    assert content.hexdigest() == CONTENT, (
        f"nothing edits {PACKAGE.name}: if the framework does not take it as it is, "
        "the framework has broken its promise"
    )


@pytest.mark.long
def test_decisions_are_those_of_the_old_version(old: Old) -> None:
    for part, keys in (
        ("placements", ("pod", "node", "scheduler")),
        ("preempted", ("pod", "by", "node")),
        ("unscheduled", ("pod", "reason", "plugins", "reasons")),
    ):
        found = picked(old.documents["decisions"], part, keys)
        assert found == picked(recorded("decisions"), part, keys)


def picked(document: object, part: str, keys: tuple[str, ...]) -> list[list[object]]:
    assert isinstance(document, dict)
    return [[entry[key] for key in keys] for entry in document[part]]


@pytest.mark.parametrize("document", ["decisions", "explanation"])
def test_a_document_still_has_every_field_of_the_old_one(
    old: Old, document: str
) -> None:
    assert list(missing(recorded(document), old.documents[document], document)) == []


def missing(before: object, found: object, path: str) -> Iterator[str]:
    """Yield the fields that are gone, or have another type."""
    if type(before) is not type(found):
        yield f"{path}: {type(before).__name__} became {type(found).__name__}"
    elif isinstance(before, dict):
        assert isinstance(found, dict)
        for key in before:
            if key not in found:
                yield f"{path}.{key} is gone"
            else:
                yield from missing(before[key], found[key], f"{path}.{key}")
    elif isinstance(before, list) and before:
        assert isinstance(found, list)
        assert found, f"{path} is empty"
        yield from missing(before[0], found[0], f"{path}[0]")


def test_every_hook_of_the_old_version_is_called(old: Old) -> None:
    hooks = {
        hook
        for point in EXTENSION_POINTS
        for hook in point.hooks
        if point.age(hook).since == VERSION
    }
    assert hooks >= ABSENT
    hooks -= ABSENT
    assert hooks - set(old.calls) == set()
    assert set(old.calls) - hooks == {"around filter_nodes"}
    # The constructor is not a hook; the observer gets all other calls.
    assert set(old.observed) == hooks


def test_the_plugins_are_found_with_arguments_and_kinds(old: Old) -> None:
    registry = PluginRegistry.discover()
    plugin = registry["Racks"]
    assert plugin.owner == "acme-racks 0.1.0"
    assert plugin.args_class is old.module.RacksArgs
    kinds = {kind.__name__ for kind in registry.kinds_of(["Racks"])}
    assert kinds == {"Rack", "Shelf"}
