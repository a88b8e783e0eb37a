"""Profiles are completed as upstream does, from upstream's own default profile."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from quaymaster import hookimpl
from quaymaster.config import (
    ConfigErrors,
    ProfileConfig,
    default_config,
    load_config,
    parse_config,
    shipped_profiles,
)
from quaymaster.hookspecs import EXTENSION_POINTS
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER

DATA = Path(__file__).parent / "data"

# Upstream's plugins in the order of its default profile, with their extension points.
UPSTREAM = json.loads((DATA / "upstream_plugins.json").read_text())


@attrs.frozen(kw_only=True)
class FitArgs:
    """The arguments that the parity cases give to NodeResourcesFit."""

    scoring_strategy: object = None
    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()


def stand_in(name: str, keys: Sequence[str], args: type | None = None) -> type:
    """Return a class that implements some extension points and does nothing."""
    hooks = {point.key: point.hook for point in EXTENSION_POINTS}
    methods: dict[str, Any] = {hooks[key]: make_hook() for key in keys}
    return type(name, (), methods | ({"Args": args} if args else {}))


def make_hook() -> object:
    @hookimpl
    def hook(self: object) -> None: ...

    return hook


REGISTRY = PluginRegistry.of(
    {
        name: stand_in(name, keys, FitArgs if name == "NodeResourcesFit" else None)
        for name, keys in UPSTREAM["plugins"].items()
    }
)
DEFAULTS = {
    **HEADER,
    "profiles": [
        {
            "plugins": {
                "multiPoint": {
                    "enabled": [
                        {"name": name, "weight": UPSTREAM["weights"].get(name)}
                        for name in UPSTREAM["plugins"]
                    ]
                }
            }
        }
    ],
}


def names(profile: ProfileConfig, key: str) -> list[str]:
    return [plugin.name for plugin in profile.plugins[key]]


def read_cases() -> list[dict[str, Any]]:
    """Return upstream's results for 150 configurations, or its errors."""
    with gzip.open(DATA / "upstream_profiles.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def as_upstream_shows(profile: ProfileConfig) -> dict[str, object]:
    recorded = (
        *("preEnqueue", "preFilter", "filter", "postFilter"),
        *("preScore", "score", "reserve"),
    )
    shown: dict[str, object] = {key: names(profile, key) for key in recorded}
    weights = {plugin.name: plugin.weight for plugin in profile.plugins["score"]}
    return shown | {"weights": weights}


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: str(case["id"]))
def test_profiles_are_equal_to_upstreams(case: Mapping[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(ConfigErrors):
            parse_config(case["config"], REGISTRY, defaults=DEFAULTS)
        return

    config = parse_config(case["config"], REGISTRY, defaults=DEFAULTS)

    assert {
        profile.scheduler_name: as_upstream_shows(profile)
        for profile in config.profiles
    } == {name: {"weights": {}} | shown for name, shown in case["profiles"].items()}


def test_a_bare_name_is_a_shipped_profile_unless_there_is_such_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "default" in shipped_profiles()

    assert load_config("default", REGISTRY) == default_config(REGISTRY)

    Path("default").write_text(json.dumps(HEADER | {"parallelism": 3}))
    assert load_config("default", REGISTRY).parallelism == 3
