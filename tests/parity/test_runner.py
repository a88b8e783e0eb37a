"""The parity runner itself: what it compares, covers and prints."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import pytest

from quaymaster.scheduler import PluginRegistry
from tests.parity.__main__ import main
from tests.parity.cases import Case, Json, read_cases
from tests.parity.compare import FRAMEWORK
from tests.parity.coverage import needed_plugins
from tests.parity.emit import emitted
from tests.parity.report import FamilyReport, check_cases

_FILE = FilePath(__file__).parent / "data" / "node_affinity.jsonl.gz"
_INSTALLED = PluginRegistry.discover()
_FIT = "NodeResourcesFit"


def _write(
    path: FilePath, change: Callable[[Json], None] = lambda record: None
) -> None:
    """Write the first case of a family after a change."""
    with gzip.open(_FILE, "rt", encoding="utf-8") as lines:
        record = json.loads(next(lines))
    change(record)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def _without(plugin: str) -> PluginRegistry:
    return PluginRegistry(
        installed for installed in _INSTALLED.values() if installed.name != plugin
    )


def _check(path: FilePath, change: Callable[[Json], None]) -> FamilyReport:
    _write(path, change)
    (report,) = check_cases(read_cases(path), _INSTALLED, ["twin"])
    return report


def _set(*keys: str | int, to: object) -> Callable[[Json], None]:
    """Return a change of one value in a record, by its keys and indices."""

    def change(record: Json) -> None:
        found: Any = record
        for key in keys[:-1]:
            found = found[key]
        found[keys[-1]] = to

    return change


_FIRST = ("expect", "pods", 0)
_REJECTED = {"code": "Unschedulable"}
_CHANGES = {
    "outcome": (_set(*_FIRST, "outcome", to="gated"), FRAMEWORK),
    "winner": (_set(*_FIRST, "winner", to="node-05"), FRAMEWORK),
    "feasible nodes": (_set(*_FIRST, "feasible", to=["node-00"]), FRAMEWORK),
    "total": (_set(*_FIRST, "score", "total", 3, to=7), FRAMEWORK),
    "raw score": (_set(*_FIRST, "score", "raw", _FIT, 0, to=7), _FIT),
    "weighted scores": (_set(*_FIRST, "score", "weighted", _FIT, to=[5] * 10), _FIT),
    "skipped filters": (_set(*_FIRST, "preFilter", "skip", to=[]), FRAMEWORK),
    "answer of a pre_filter": (
        _set(*_FIRST, "preFilter", "plugins", _FIT, to=_REJECTED),
        _FIT,
    ),
    "answer of a filter": (
        _set(*_FIRST, "filterByPlugin", to={"node-03": {_FIT: _REJECTED}}),
        _FIT,
    ),
    "answer of all filters": (
        _set(*_FIRST, "filter", to={"node-03": _REJECTED}),
        FRAMEWORK,
    ),
    "message": (_set(*_FIRST, "fitError", to="no"), FRAMEWORK),
    "pods at the end": (
        _set("expect", "finalPodsByNode", "node-00", to=["default/x"]),
        FRAMEWORK,
    ),
}


@pytest.mark.parametrize("changed", _CHANGES)
def test_every_changed_answer_is_a_difference(tmp_path: FilePath, changed: str) -> None:
    change, subject = _CHANGES[changed]
    tally = _check(tmp_path / "cases.jsonl.gz", change).tally
    assert set(tally.differed) == {subject}


@pytest.mark.long
def test_check_exits_with_1_on_a_difference(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl.gz"
    _write(path)
    assert main(["check", str(path)]) == 0
    _write(path, _set(*_FIRST, "winner", to="node-05"))
    assert main(["check", str(path), "--path", "twin"]) == 1
    assert "node_affinity-1 pods[0] default/p0 winner" in capsys.readouterr().out


def test_a_family_without_its_plugin_is_not_covered() -> None:
    registry = _without("NodeAffinity")
    (report,) = check_cases(read_cases(_FILE), registry, ["twin"])
    assert report.covered < report.cases
    assert "NodeAffinity" not in report.tally.compared
    assert not report.tally.differences
    assert "not covered" in next(report.lines(0))


def test_scores_of_missing_plugins_count_unless_they_are_zeros() -> None:
    case = next(read_cases(_FILE))
    assert needed_plugins(case, frozenset({"DynamicResources"})) == frozenset()
    assert needed_plugins(case, frozenset({"TaintToleration"})) == {"TaintToleration"}


def test_emitted_records_are_those_of_upstream_where_they_say_something() -> None:
    case = next(read_cases(_FILE))
    for ours, theirs in zip(
        emitted(case, _INSTALLED, "scalar")["pods"], _entries(case), strict=True
    ):
        assert ours.items() <= theirs.items()


def test_fields_that_missing_plugins_have_a_part_in_are_not_emitted() -> None:
    case = next(read_cases(_FILE))
    registry = _without("ImageLocality")
    (first, *_) = emitted(case, registry, "twin")["pods"]
    assert {"winner", "feasible"} < set(first)
    assert not {"preFilter", "score"} & set(first)
    (first, *_) = emitted(case, registry, "twin", partial=True)["pods"]
    assert {"preFilter", "score"} < set(first)


def test_of_a_case_that_is_not_covered_only_the_id_is_emitted() -> None:
    case = next(read_cases(_FILE))
    written = emitted(case, _without("TaintToleration"), "twin")
    assert written == {"id": case.case_id}


def test_emit_prints_one_line_per_case(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl.gz"
    _write(path)
    assert main(["emit", str(path)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["id"] == "node_affinity-1"


def _entries(case: Case) -> list[Json]:
    assert case.expect is not None
    entries: list[Json] = case.expect["pods"]
    return entries
