"""Every gate with different defaults in two versions has a rule or a reason for none.

`tests.gates.generate` reads upstream's releases; support of a new one begins there.
"""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from quaymaster.config import KUBERNETES_VERSIONS
from tests.gates.generate import CHANGED, RELEASES, SCHEDULER, changed_gates
from tests.gates.sources import Gate, gates_of
from tests.gates.verdicts import APPLIES, DOES_NOT_APPLY
from tests.kit.internals.versions import RELEASES as OURS
from tests.kit.sources import ROOT

GATES: Final[dict[str, Any]] = json.loads(CHANGED.read_text(encoding="utf-8"))
BY_VERSION: Final[dict[str, Any]] = json.loads(SCHEDULER.read_text(encoding="utf-8"))

SOURCE = """
var defaultVersionedKubernetesFeatureGates = map[...]featuregate.VersionedSpecs{
	Early: {
		{Version: version.MustParse("1.35"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.37"), Default: true, PreRelease: featuregate.Beta},
	},

	// A comment.
	genericfeatures.Commented: {
		{Version: version.MustParse("1.36"), Default: true, PreRelease: featuregate.GA, LockToDefault: false}, // LockToDefault: true in 1.38
	},

	Locked: {
		{Version: version.MustParse("1.36"), PreRelease: featuregate.GA, Default: true, LockToDefault: true},
	},

	Careful: {
		{Version: version.MustParse("1.37"), Default: false, PreRelease: featuregate.Beta},
		{Version: version.MustParse("1.37"), Default: true, PreRelease: featuregate.Beta, MinCompatibilityVersion: version.MustParse("1.37")},
	},
}
"""  # noqa: E501 - lines of Go


def test_every_changed_gate_has_a_verdict() -> None:
    assert not APPLIES.keys() & DOES_NOT_APPLY.keys()
    assert APPLIES.keys() | DOES_NOT_APPLY.keys() == GATES.keys()


def test_gates_that_do_not_apply_say_why() -> None:
    assert [gate for gate, why in DOES_NOT_APPLY.items() if len(why.split()) < 4] == []


@pytest.mark.parametrize("gate", sorted(APPLIES))
def test_gate_that_applies_is_implemented_and_tested(gate: str) -> None:
    rule = APPLIES[gate]
    assert gate in (ROOT / rule.implemented).read_text(encoding="utf-8")
    file, _, test = rule.tested.partition("::")
    assert gate in source_of(ROOT / file, test)


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_gates_of_the_scheduler_are_those_that_it_reads(version: str) -> None:
    """Other gates belong to the API server and to controllers."""
    release, gates = OURS[version], BY_VERSION[version]
    ours = {
        gate: (release.feature_gates.get(gate), gate in release.locked)
        for gate in gates
    }
    assert ours == {
        gate: (entry["default"], entry.get("locked", False))
        for gate, entry in gates.items()
    }


def test_data_is_about_the_versions_that_are_played() -> None:
    assert tuple(f"1.{minor}" for minor, _ in RELEASES) == KUBERNETES_VERSIONS
    assert tuple(BY_VERSION) == KUBERNETES_VERSIONS


@pytest.mark.parametrize(
    ("minor", "expected"),
    [
        (
            36,
            {
                "Early": Gate(default=False, stage="Alpha", is_locked=False),
                "Commented": Gate(default=True, stage="GA", is_locked=False),
                "Locked": Gate(default=True, stage="GA", is_locked=True),
            },
        ),
        (
            37,
            {
                "Early": Gate(default=True, stage="Beta", is_locked=False),
                "Commented": Gate(default=True, stage="GA", is_locked=False),
                "Locked": Gate(default=True, stage="GA", is_locked=True),
                "Careful": Gate(default=False, stage="Beta", is_locked=False),
            },
        ),
    ],
)
def test_gates_are_read_as_a_binary_reports_them(
    minor: int, expected: dict[str, Gate]
) -> None:
    """Read the special lines of the Go file: comments, and compatibility."""
    assert gates_of(SOURCE, minor) == expected


def test_gates_are_changed_if_they_are_new_gone_or_have_another_default() -> None:
    on = Gate(default=True, stage="Beta", is_locked=False)
    off = Gate(default=False, stage="Alpha", is_locked=False)
    old, new = {"flipped": off, "gone": on, "same": on}, {"flipped": on, "same": on}
    assert list(changed_gates(old, {**new, "new": off})) == ["flipped", "gone", "new"]


@cache
def source_of(file: Path, test: str) -> str:
    """Return the source of a test, and of the names of its module that it uses."""
    text = file.read_text(encoding="utf-8")
    nodes = {name: node for node in ast.parse(text).body for name in _names(node)}
    assert test in nodes, f"{file} has no {test}"
    wanted, seen, parts = [test], set(), []
    while wanted:
        name = wanted.pop()
        node = nodes.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        parts.append(_with_decorators(text, node))
        wanted += [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return "\n".join(parts)


def _names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module assigns or defines."""
    if isinstance(node, ast.FunctionDef):
        yield node.name
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (each.id for each in targets if isinstance(each, ast.Name))


def _with_decorators(text: str, node: ast.stmt) -> str:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else ()
    first = min([node.lineno, *(each.lineno for each in decorators)])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
