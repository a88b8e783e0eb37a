"""A profile names the tie breaker for nodes with the same highest total."""

from typing import Any, cast

import pytest

from quaymaster import Handle, hookimpl
from quaymaster.columns import RowArray
from quaymaster.config import (
    ProfileConfig,
    SchedulerConfig,
    config_schema,
    dump_config,
    parse_config,
)
from quaymaster.scheduler import PluginRegistry
from tests.kit.config_mistakes import DEFAULTS, REGISTRY, mistakes
from tests.kit.documents import HEADER


class Lowest:
    """Breaks ties, and does nothing else."""

    def __init__(self, _args: None, _handle: Handle) -> None:
        pass

    @hookimpl
    def break_tie(self, tied: RowArray) -> int:
        return int(tied[0])


WITH_LOWEST = REGISTRY.with_plugin(Lowest)


def config_with(
    profile: dict[str, object], registry: PluginRegistry = WITH_LOWEST
) -> SchedulerConfig:
    document = {**HEADER, "profiles": [profile]}
    return parse_config(document, registry, defaults=DEFAULTS)


def profile_with(
    profile: dict[str, object], registry: PluginRegistry = WITH_LOWEST
) -> ProfileConfig:
    return config_with(profile, registry).profiles[0]


@pytest.mark.parametrize("profile", [{}, {"tieBreaker": None}])
def test_ties_are_broken_at_random_by_default(profile: dict[str, object]) -> None:
    found = profile_with(profile)
    assert (found.tie_breaker, found.tie_breaking_plugin) == ("random", "")


@pytest.mark.parametrize("name", ["random", "name"])
def test_two_tie_breakers_need_no_plugin(name: str) -> None:
    found = profile_with({"tieBreaker": name}, REGISTRY)
    assert (found.tie_breaker, found.tie_breaking_plugin) == (name, "")


def test_plugin_that_breaks_ties_need_not_be_enabled() -> None:
    found = profile_with({"tieBreaker": "Lowest"})
    assert (found.tie_breaker, found.tie_breaking_plugin) == ("Lowest", "Lowest")
    assert not any(
        plugin.name == "Lowest"
        for plugins in found.plugins.values()
        for plugin in plugins
    )


def test_profiles_break_ties_each_in_their_own_way() -> None:
    document = {
        **HEADER,
        "profiles": [
            {"schedulerName": "a", "tieBreaker": "name"},
            {"schedulerName": "b"},
        ],
    }
    found = parse_config(document, REGISTRY, defaults=DEFAULTS)
    assert [profile.tie_breaker for profile in found.profiles] == ["name", "random"]


@pytest.mark.parametrize("name", ["random", "name", "Lowest"])
def test_dumped_configuration_breaks_ties_in_the_same_way(name: str) -> None:
    config = config_with({"tieBreaker": name})
    document = dump_config(config)
    assert parse_config(document, WITH_LOWEST, defaults=DEFAULTS) == config


def test_kube_scheduler_can_read_a_dump_without_a_tie_breaker() -> None:
    document = cast(dict[str, Any], dump_config(config_with({"tieBreaker": "random"})))
    assert "tieBreaker" not in document["profiles"][0]


def test_schema_lists_the_tie_breakers() -> None:
    schema = cast(dict[str, Any], config_schema(WITH_LOWEST))
    field = schema["$defs"]["ProfileDocument"]["properties"]["tieBreaker"]
    assert field["enum"] == ["random", "name", "Lowest"]
    assert field["default"] == "random"
    assert "kube-scheduler does not have this field" in field["description"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param(
            "nmae",
            "expected 'random', 'name' or a plugin with the hook 'break_tie' "
            "(installed: Lowest), got 'nmae'; did you mean 'name'?",
            id="a misspelt word",
        ),
        pytest.param(
            "Lowset",
            "expected 'random', 'name' or a plugin with the hook 'break_tie' "
            "(installed: Lowest), got 'Lowset'; did you mean 'Lowest'?",
            id="a misspelt plugin",
        ),
        pytest.param(
            "",
            "expected 'random', 'name' or a plugin with the hook 'break_tie' "
            "(installed: Lowest), got ''",
            id="nothing",
        ),
        pytest.param(
            "Tide",
            "plugin 'Tide' (tests.kit.config_mistakes:_Tide) has no hook 'break_tie', "
            "so it breaks no ties",
            id="a plugin that breaks no ties",
        ),
        pytest.param(7, "expected a text, got 7", id="a number"),
    ],
)
def test_wrong_tie_breaker_is_one_clear_error(given: object, said: str) -> None:
    document = {**HEADER, "profiles": [{"tieBreaker": given}]}
    lines = mistakes(document, WITH_LOWEST)
    assert lines == [f"s.yaml: profiles[0].tieBreaker: {said}"]


def test_tie_breaker_that_cannot_be_loaded_is_the_usual_error() -> None:
    class Unmarked:
        def break_tie(self) -> int:
            return 0

    registry = REGISTRY.with_plugin(Unmarked)
    document = {**HEADER, "profiles": [{"tieBreaker": "Unmarked"}]}
    (line,) = mistakes(document, registry)
    assert line.startswith("s.yaml: profiles[0].tieBreaker: plugin 'Unmarked'")
    assert "but no @hookimpl" in line


def test_error_for_an_enabled_plugin_that_only_breaks_ties_names_the_right_field() -> (
    None
):
    enabled = {"multiPoint": {"enabled": [{"name": "Lowest"}]}}
    document = {**HEADER, "profiles": [{"plugins": enabled}]}
    (line,) = mistakes(document, WITH_LOWEST)
    assert line.endswith(
        "has no hook of any extension point, so nothing would call it; a plugin "
        "that breaks ties is named in tieBreaker"
    )
