"""Plays the defaults and the validation of plugin arguments in a configuration."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from quaymaster.config import ConfigErrors, Kubernetes, dump_config, parse_config
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.config import (
    EntrySets,
    PluginRef,
    PluginSet,
    default_sets,
    entry_sets,
    merge_sets,
)
from tests.kit.internals.testing import CallNotPlayedError, Json, RecordedCase
from tests.upstream.calls import Calls, Play, play_calls
from tests.upstream.configurations import complete, validate, with_names_of_a_file

__all__ = ["play"]

_DEFAULTED: Final = "a file's weight of 0 becomes 1 before validation, also upstream"
_ONE_PROBLEM: Final = "one problem is reported for each value, and upstream has two"
_WHERE: Final = re.compile(r"profiles\[0\]\.pluginConfig\[0\]\.args\.?([^:]*): ")


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case of the packages v1, validation and scheme."""
    return play_calls(case, _PLAYS, _NOT_PLAYED)


@cache
def _registry() -> PluginRegistry:
    return PluginRegistry.discover()


def _document(profiles: Sequence[Json]) -> Json:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": profiles,
    }


def _problems(
    plugin: str, args: Mapping[str, Any], kubernetes: Kubernetes
) -> list[str]:
    """Return the fields with problems when a file has these arguments."""
    document = _document([{"pluginConfig": [{"name": plugin, "args": args}]}])
    try:
        parse_config(document, _registry(), kubernetes=kubernetes)
    except ConfigErrors as error:
        return [match for line in error.problems for match in _WHERE.findall(str(line))]
    return []


def _validate(calls: Calls, call: Json) -> Json:
    ((kind, fields),) = call["in"][1].items()
    plugin = kind.removesuffix("Args")
    _check_comparable(fields)
    problems = _problems(plugin, with_names_of_a_file(fields), calls.kubernetes)
    if not problems:
        return {"results": [None]}
    errors = [{"field": field} for field in problems]
    # Upstream's function for InterPodAffinity returns one error, the others a list.
    is_single = plugin == "InterPodAffinity"
    return {"results": [errors[0] if is_single else {"errors": errors}]}


def _check_comparable(fields: Json) -> None:
    """Check that a file with these arguments has as many problems as upstream finds.

    Raises:
        CallNotPlayedError: It has others.
    """
    strategy = fields.get("ScoringStrategy") or {}
    resources = [*(strategy.get("Resources") or ()), *(fields.get("Resources") or ())]
    if any(not resource.get("Weight") for resource in resources):
        raise CallNotPlayedError(_DEFAULTED)
    names = fields.get("IgnoredResources") or ()
    groups = fields.get("IgnoredResourceGroups") or ()
    if any(name.endswith("/") or not name for name in (*names, *groups)):
        raise CallNotPlayedError(_ONE_PROBLEM)


def _lower_first(name: str) -> str:
    return name[0].lower() + name[1:]


def _defaulted(calls: Calls, call: Json) -> Json:
    """Complete the arguments of a plugin, as a file with them is."""
    ((kind, fields),) = call["in"][0].items()
    plugin = kind.removesuffix("Args")
    document = _document([{"pluginConfig": [{"name": plugin, "args": fields}]}])
    try:
        config = parse_config(document, _registry(), kubernetes=calls.kubernetes)
    except ConfigErrors:
        text = "a configuration file cannot have these arguments"
        raise CallNotPlayedError(text) from None
    dumped: Json = dump_config(config)
    listed = {entry["name"]: entry for entry in dumped["profiles"][0]["pluginConfig"]}
    args = dict(listed[plugin]["args"])
    del args["apiVersion"], args["kind"]  # Go's types leave them out
    return {"results": [], "in": [{kind: args}]}


def _merge(_calls: Calls, call: Json) -> Json:
    _, defaults, custom = call["in"]
    merged = merge_sets(_sets(defaults), _sets(custom))
    return {"results": [_sets_tree(merged)]}


def _default_plugins(calls: Calls, _call: Json) -> Json:
    return {"results": [_sets_tree(default_sets(calls.kubernetes))]}


def _sets(tree: Json | None) -> EntrySets:
    plugins = {
        _lower_first(point): PluginSet(
            enabled=tuple(
                PluginRef(name=plugin["Name"], weight=plugin.get("Weight"))
                for plugin in lists.get("Enabled", ())
            ),
            disabled=tuple(
                PluginRef(name=plugin["Name"]) for plugin in lists.get("Disabled", ())
            ),
        )
        for point, lists in (tree or {}).items()
    }
    return entry_sets(plugins, "plugins", "record")


def _sets_tree(sets: EntrySets) -> Json:
    return {
        point[0].upper() + point[1:]: {
            "Enabled": [
                {"Name": entry.name, "Weight": entry.weight} for entry in lists.enabled
            ],
            "Disabled": [{"Name": entry.name} for entry in lists.disabled],
        }
        for point, lists in sets.items()
    }


_GO_TYPES: Final = "converts between two of Go's types for a configuration"
_NOT_PLAYED: Final[Mapping[str, str]] = {
    "scheme.Decode": _GO_TYPES,
    "v1.Convert_v1_KubeSchedulerConfiguration_To_config_KubeSchedulerConfiguration": (
        _GO_TYPES
    ),
}
"""Call -> why it has no counterpart."""

_PLAYS: Final[Mapping[str, Play]] = (
    {
        f"validation.Validate{plugin}Args": _validate
        for plugin in (
            "DefaultPreemption",
            "DynamicResources",
            "InterPodAffinity",
            "NodeAffinity",
            "NodeResourcesBalancedAllocation",
            "NodeResourcesFit",
            "PodTopologySpread",
            "VolumeBinding",
        )
    }
    | {
        f"v1.SetObjectDefaults_{plugin}Args": _defaulted
        for plugin in (
            "DefaultPreemption",
            "DynamicResources",
            "InterPodAffinity",
            "NodeAffinity",
            "NodeResourcesBalancedAllocation",
            "NodeResourcesFit",
            "PodTopologySpread",
            "VolumeBinding",
        )
    }
    | {
        "v1.getDefaultPlugins": _default_plugins,
        "v1.mergePlugins": _merge,
        "v1.SetDefaults_KubeSchedulerConfiguration": complete,
        "v1.SetObjectDefaults_KubeSchedulerConfiguration": complete,
        "validation.ValidateKubeSchedulerConfiguration": validate,
    }
)
