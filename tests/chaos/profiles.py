"""The two profiles of the histories; their queue sorts differ."""

import functools
from collections.abc import Mapping, Sequence

import attrs

from quaymaster.config import ProfileConfig, SchedulerConfig, parse_config
from quaymaster.registry import PluginRegistry
from tests.chaos.plugins import (
    ByName,
    Doorman,
    FirstWitness,
    LastWitness,
    Saboteur,
)

__all__ = ["SCHEDULERS", "installed"]

SCHEDULERS = ("default-scheduler", "by-name")
_VOLUMES = {
    "name": "VolumeBinding",
    "args": {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "VolumeBindingArgs",
        "bindTimeoutSeconds": 30,
    },
}


@functools.cache
def installed(profiles: int) -> tuple[PluginRegistry, SchedulerConfig]:
    """The installed plugins with those of the histories, and the first profiles."""
    registry = PluginRegistry.discover()
    for plugin in (ByName, Doorman, FirstWitness, LastWitness, Saboteur):
        registry = registry.with_plugin(plugin)
    honest = {
        "reserve": _enabled("FirstWitness", "Doorman", "LastWitness"),
        "permit": _enabled("Doorman"),
        "preBind": _enabled("Doorman"),
        "postBind": _enabled("FirstWitness"),
    }
    other = {
        **honest,
        "filter": _enabled("Saboteur"),
        "score": _enabled("Saboteur"),
    }
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {"schedulerName": name, "plugins": plugins, "pluginConfig": [_VOLUMES]}
            for name, plugins in zip(SCHEDULERS, (honest, other), strict=True)
        ][:profiles],
    }
    config = parse_config(document, registry, source="tests.chaos")
    return registry, attrs.evolve(
        config, profiles=tuple(map(_sorted_apart, config.profiles))
    )


def _sorted_apart(profile: ProfileConfig) -> ProfileConfig:
    """Another queue sort for the other profile, which files may not ask for."""
    if profile.scheduler_name == SCHEDULERS[0]:
        return profile
    sort = attrs.evolve(profile.plugins["queueSort"][0], name="ByName")
    return attrs.evolve(profile, plugins={**profile.plugins, "queueSort": (sort,)})


def _enabled(*names: str) -> Mapping[str, Sequence[Mapping[str, str]]]:
    return {"enabled": [{"name": name} for name in names]}
