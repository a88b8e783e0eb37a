"""A case's configuration, loaded as users load theirs."""

import functools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import attrs
import yaml

from quaymaster.config import SchedulerConfig, parse_config, shipped_profiles
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER
from tests.parity.cases import Case
from tests.parity.coverage import missing_plugins

__all__ = ["load_configuration"]

_PREEMPTION: Final = "DefaultPreemption"
_EMPTY: Final = {**HEADER}


def load_configuration(
    case: Case, registry: PluginRegistry, dropped: Counter[str]
) -> SchedulerConfig:
    """Load a case's configuration, or the default one if it has none.

    As in the recorder, all nodes are tried, also by preemption, whatever the
    configuration sets.

    Args:
        case: The case.
        registry: The installed plugins.
        dropped: Counts the entries whose plugin is not installed; they are left out.

    Raises:
        ConfigErrors: Something is wrong with the configuration.
    """
    missing = missing_plugins(registry)
    document = (
        _EMPTY if case.config is None else _without(case.config, missing, dropped)
    )
    config = parse_config(
        document,
        registry,
        source=case.case_id,
        defaults=_defaults(case.kubernetes.default_profile, missing),
        kubernetes=case.kubernetes,
    )
    profiles = tuple(
        attrs.evolve(
            profile,
            percentage_of_nodes_to_score=None,
            plugin_args=_trying_all_nodes(profile.plugin_args),
        )
        for profile in config.profiles
    )
    return attrs.evolve(config, profiles=profiles, percentage_of_nodes_to_score=100)


@functools.lru_cache(maxsize=2)
def _defaults(profile: str, missing: frozenset[str]) -> dict[str, object] | None:
    """Return the default profile without missing plugins; None if none is missing."""
    text = shipped_profiles()[profile].read_text(encoding="utf-8")
    dropped: Counter[str] = Counter()
    left = _without(yaml.safe_load(text), missing, dropped)
    return left if dropped else None


def _without(
    config: Mapping[str, Any], missing: Collection[str], dropped: Counter[str]
) -> dict[str, object]:
    profiles = [
        {
            **profile,
            "pluginConfig": list(
                _left(profile.get("pluginConfig") or (), missing, dropped)
            ),
            "plugins": {
                point: {
                    switch: list(_left(entries or (), missing, dropped))
                    for switch, entries in lists.items()
                }
                for point, lists in (profile.get("plugins") or {}).items()
            },
        }
        for profile in config.get("profiles") or ()
    ]
    return {**config, "profiles": profiles} if profiles else dict(config)


def _trying_all_nodes(plugin_args: Mapping[str, Any]) -> Mapping[str, Any]:
    args = plugin_args.get(_PREEMPTION)
    if args is None:
        return plugin_args
    evolved = attrs.evolve(args, min_candidate_nodes_percentage=100)
    return {**plugin_args, _PREEMPTION: evolved}


def _left(
    entries: Collection[Mapping[str, Any]],
    missing: Collection[str],
    dropped: Counter[str],
) -> Iterator[Mapping[str, Any]]:
    for entry in entries:
        if entry["name"] in missing:
            dropped[entry["name"]] += 1
        else:
            yield entry
