"""``plugins check`` finds imports that no dependency of a package provides."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app
from tests.kit.packages import MakeDistribution

Findings: TypeAlias = Callable[..., list[str]]

NEEDY = """
import attrs
{imports}
from quaymaster import hookimpl

@attrs.frozen(kw_only=True)
class GatesArgs:
    zone: str

class Gates:
    Args = GatesArgs
    reads = ()

    def __init__(self, args, handle):
        pass

    @hookimpl
    def filter(self):
        {inside}
        return None
"""
SDK = "quaymaster>=0.1,<0.2"


@pytest.fixture
def findings(make_distribution: MakeDistribution) -> Findings:
    """Returns the findings about imports; the arguments are missing for the others."""

    def found(imports: str = "", inside: str = "", *requires: str) -> list[str]:
        code = NEEDY.format(imports=imports, inside=inside)
        make_distribution(
            "acme-gates",
            {"Gates": "acme_gates:Gates"},
            requires=[SDK, *requires],
            module="acme_gates",
            code=code,
        )
        result = CliRunner().invoke(app, ["plugins", "check", "acme-gates"])
        return [line for line in result.stdout.splitlines() if "[imports]" in line]

    return found


@pytest.mark.parametrize(
    "imports",
    ["import pytest", "from pytest import fixture", "if True:\n    import pytest"],
)
def test_import_that_no_dependency_provides_is_an_error(
    imports: str, findings: Findings
) -> None:
    (line,) = findings(imports)
    assert line.startswith("error: [imports] acme_gates.py:")
    assert line.endswith(
        "imports 'pytest', which no dependency provides; expected 'pytest' in the "
        "dependencies"
    )


def test_dependency_of_an_extra_does_not_provide_an_import(findings: Findings) -> None:
    assert findings("import pytest", "", "pytest; extra == 'dev'")


@pytest.mark.parametrize(
    ("imports", "inside", "requires"),
    [
        pytest.param("import pytest", "", ["pytest>=8"], id="declared"),
        pytest.param("import pluggy", "", ["pytest>=8"], id="of a dependency"),
        pytest.param("import numpy", "", [], id="of the framework"),
        pytest.param("import click", "", ["Quaymaster[cli]"], id="other spelling"),
        pytest.param("import json, acme_gates", "", [], id="standard library"),
        pytest.param("", "import pytest", [], id="later"),
        pytest.param(
            "try:\n    import pytest\nexcept ImportError:\n    pytest = None",
            "",
            [],
            id="tried",
        ),
        pytest.param(
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pytest",
            "",
            [],
            id="for type checkers",
        ),
    ],
)
def test_other_imports_are_no_findings(
    imports: str, inside: str, requires: list[str], findings: Findings
) -> None:
    assert not findings(imports, inside, *requires)


@pytest.mark.parametrize(
    ("imports", "inside", "use", "expected"),
    [
        (
            "from quaymaster._core.contract.cycle_state import StateKey",
            "",
            "_core.contract.cycle_state.StateKey",
            "'quaymaster.StateKey'",
        ),
        (
            "import quaymaster._core.contract.cycle_state as states",
            "key = states.StateKey",
            "_core.contract.cycle_state.StateKey",
            "'quaymaster.StateKey'",
        ),
        (
            "import quaymaster._core.contract.cycle_state",
            "key = quaymaster._core.contract.cycle_state.StateKey",
            "_core.contract.cycle_state.StateKey",
            "'quaymaster.StateKey'",
        ),
        ("import quaymaster._core", "", "_core", "a public name"),
        ("from quaymaster import _core", "", "_core", "a public name"),
        ("import quaymaster", "core = quaymaster._core", "_core", "a public name"),
        (
            "from importlib import import_module",
            "import_module('quaymaster._core.state.arrays')",
            "_core.state.arrays",
            "a public name",
        ),
        (
            "try:\n    import quaymaster._base.errors\nexcept ImportError:\n    pass",
            "",
            "_base.errors",
            "a public name",
        ),
        (
            "",
            "from quaymaster._core.contract.clock import Clock",
            "_core.contract.clock.Clock",
            "'quaymaster.scheduler.Clock'",
        ),
    ],
)
def test_private_name_of_the_framework_is_an_error(
    imports: str, inside: str, use: str, expected: str, findings: Findings
) -> None:
    (line,) = findings(imports, inside)
    assert line.startswith("error: [imports] acme_gates.py:")
    assert f"uses 'quaymaster.{use}', which is private" in line
    assert f"expected {expected}" in line


def test_public_and_own_private_names_are_no_findings(findings: Findings) -> None:
    assert not findings(
        "import quaymaster\nimport quaymaster.objects\n"
        "from quaymaster import __version__",
        "self._core = quaymaster.hookimpl._name, quaymaster.objects.Pod",
    )
