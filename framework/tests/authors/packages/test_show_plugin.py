"""``plugins show`` and ``plugins kinds`` describe installed plugins and kinds."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from quaymaster.hookspecs import Deprecation, ExtensionPoint, HookAge
from tests.kit.internals.cli import app
from tests.kit.packages import MakeDistribution
from tests.kit.results import checked_result

LANES = '''
from typing import ClassVar
import attrs
from quaymaster import ApiObject, Change, PodUse, Scope, hookimpl, on_node
from quaymaster.config import integer

class Lane(ApiObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Lane"
    plural: ClassVar[str] = "lanes"

@attrs.frozen(kw_only=True)
class Step:
    width: int
    names: tuple[str, ...] = ("a",)

@attrs.frozen(kw_only=True)
class LanesArgs:
    is_open: bool = True
    steps: tuple[Step, ...] = ()
    limits: dict[str, int] = attrs.field(factory=dict)
    first_step: Step | None = None

class Lanes:
    """Keeps pods in lanes.

    And more.
    """

    Args = LanesArgs
    kinds = (Lane,)
    scope = Scope.NODE
    pod_use = PodUse.NONE

    def __init__(self, args, handle):
        pass

    @hookimpl
    def events_to_register(self):
        return [on_node(Change.ADD | Change.UPDATE, lambda pod, old, new: None)]

    @hookimpl
    def filter(self):
        return None

    @hookimpl
    def filter_nodes(self):
        return None

    @hookimpl(wrapper=True)
    def score(self):
        return (yield)
'''


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plugins", *arguments])


def document(*arguments: str) -> Any:  # noqa: ANN401 - JSON has any form
    result = run(*arguments, "-o", "json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    checked_result(f"plugins-{arguments[0]}", document)
    return document


@pytest.fixture(autouse=True)
def lanes(make_distribution: MakeDistribution) -> None:
    make_distribution(
        "acme-lanes",
        {"Lanes": "acme_lanes:Lanes"},
        module="acme_lanes",
        code=LANES,
    )


def test_origin_and_summary_of_a_plugin_are_shown() -> None:
    shown = document("show", "Lanes")
    expected = {
        "name": "Lanes",
        "summary": "Keeps pods in lanes.",
        "distribution": "acme-lanes",
        "version": "1.0",
        "origin": "acme_lanes:Lanes",
        "scope": "node",
        "podUse": "none",
    }
    assert {key: shown[key] for key in expected} == expected


def test_hooks_are_shown_with_their_twins() -> None:
    assert [tuple(hook.values()) for hook in document("show", "Lanes")["hooks"]] == [
        ("events_to_register", None, None, False, "0.1", None),
        ("filter", "filter", "filter_nodes", False, "0.1", None),
        ("score", "score", None, True, "0.1", None),
    ]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::quaymaster.hookspecs.DeprecatedHookWarning")
def test_a_deprecated_hook_is_shown_with_its_replacement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    going = Deprecation(since="0.3", until="0.5", instead="use 'score'")
    age = HookAge(since="0.1", deprecated=going)
    stays = HookAge(since="0.1")
    monkeypatch.setattr(
        ExtensionPoint, "age", lambda _point, hook: age if hook == "filter" else stays
    )
    text = "deprecated since 0.3, gone in 0.5; use 'score' instead"
    assert document("show", "Lanes")["hooks"][1]["deprecated"] == text
    assert f"0.1 ({text})" in " ".join(run("show", "Lanes").stdout.split())


def test_arguments_are_shown_with_types_and_defaults() -> None:
    arguments = document("show", "Lanes")["arguments"]
    assert [tuple(argument.values()) for argument in arguments] == [
        ("isOpen", "true or false", "true", False),
        ("steps", "list of mapping", "[]", False),
        ("steps[].width", "integer", None, True),
        ("steps[].names", "list of text", '["a"]', False),
        ("limits", "mapping to integer", "{}", False),
        ("firstStep", "mapping", None, False),
        ("firstStep.width", "integer", None, True),
        ("firstStep.names", "list of text", '["a"]', False),
    ]


def test_events_are_shown_with_their_restrictions() -> None:
    shown = document("show", "Lanes")
    assert shown["events"] == "list"
    event = {"resource": "Node", "actions": ["Add", "Update"], "hint": True}
    assert shown["registered"] == [event]


@pytest.mark.long
def test_kinds_of_a_plugin_are_shown_and_listed() -> None:
    lane = {"kind": "Lane", "apiVersion": "acme.example/v1"}
    assert document("show", "Lanes")["kinds"] == [lane]
    by_name = {plugin["name"]: plugin for plugin in document("list")}
    assert by_name["Lanes"]["kinds"] == ["Lane"]
    assert by_name["NodePorts"]["kinds"] == []


def test_table_agrees_with_the_document() -> None:
    result = run("show", "Lanes")
    rows = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert rows[0] == "Lanes: Keeps pods in lanes."
    assert "DISTRIBUTION acme-lanes 1.0" in rows
    assert "KINDS Lane (acme.example/v1)" in rows
    assert "filter filter filter_nodes 0.1" in rows
    assert "score (wrapper) score - 0.1" in rows
    assert "steps[].width integer (required)" in rows
    assert "Node Add, Update yes" in rows


@pytest.mark.long
def test_every_built_in_plugin_can_be_shown() -> None:
    names = run("list", "-o", "name").stdout.split()
    assert len(names) > 20
    for name in names:
        assert document("show", name)["hooks"], name


def test_checks_that_a_plugin_need_not_pass_are_shown() -> None:
    left_out = document("show", "InterPodAffinity")["contractOptOuts"]
    assert left_out["events"].startswith("as upstream's")
    assert document("show", "Lanes")["contractOptOuts"] == {}


def test_error_for_an_unknown_plugin_lists_the_installed_ones() -> None:
    result = run("show", "Lane")
    assert "unknown plugin 'Lane' (installed: DefaultBinder," in str(result.exception)
    assert "did you mean 'Lanes'?" in str(result.exception)


@pytest.mark.long
def test_kinds_are_listed_with_the_plugins_that_declare_them(
    make_distribution: MakeDistribution,
) -> None:
    ports = LANES.replace("Lane", "Port").replace("lanes", "ports")
    make_distribution(
        "acme-ports",
        {"Port": "acme_ports:Port", "Gone": "acme_ports:Gone"},
        group="quaymaster.kinds",
        module="acme_ports",
        code=ports,
    )
    result = run("kinds")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[1:] == [
        ["Lane", "acme.example/v1", "Lanes", "acme-lanes", "1.0"],
        ["Port", "acme.example/v1", "-", "acme-ports", "1.0"],
    ]
    assert "warning: kind 'Gone' (acme-ports 1.0)" in result.stderr
    assert run("kinds", "-o", "name").stdout.split() == ["Lane", "Port"]
    assert document("kinds")[1]["plugin"] is None
