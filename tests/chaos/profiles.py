"""The two profiles of the histories; their queue sorts may differ."""

import functools
from collections.abc import Mapping, Sequence

import attrs

from quaymaster.config import (
    Kubernetes,
    ProfileConfig,
    SchedulerConfig,
    parse_config,
)
from quaymaster.scheduler import PluginRegistry
from tests.chaos.plugins import (
    Doorman,
    FirstWitness,
    LastWitness,
    Saboteur,
    Spreading,
)
from tests.chaos.sorts import ByApp, ByCreation, ByName
from tests.kit.documents import HEADER

__all__ = ["DEVICE_SECONDS", "SCHEDULERS", "installed"]

DEVICE_SECONDS = 30
"""The seconds that a pod waits for its devices to become ready."""

SCHEDULERS = ("default-scheduler", "by-name")
_PLUGINS: Sequence[type] = (
    ByApp,
    ByCreation,
    ByName,
    Doorman,
    FirstWitness,
    LastWitness,
    Saboteur,
    Spreading,
)
_VOLUMES = {
    "name": "VolumeBinding",
    "args": {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "VolumeBindingArgs",
        "bindTimeoutSeconds": 30,
    },
}
_DEVICES = {
    "name": "DynamicResources",
    "args": {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "DynamicResourcesArgs",
        "bindingTimeout": f"{DEVICE_SECONDS}s",
    },
}


@functools.cache
def installed(
    sorts: tuple[str, ...], version: str = "1.36"
) -> tuple[PluginRegistry, SchedulerConfig]:
    """Return the installed plugins with those of the histories, and some profiles.

    Args:
        sorts: The queue sort of each profile; at most two.
        version: The version of Kubernetes.
    """
    registry = PluginRegistry.discover()
    for plugin in _PLUGINS:
        registry = registry.with_plugin(plugin)
    honest = {
        "reserve": _enabled("FirstWitness", "Doorman", "LastWitness"),
        "permit": _enabled("Doorman"),
        "preBind": _enabled("Doorman"),
        "postBind": _enabled("FirstWitness"),
        "score": {"enabled": [{"name": "Spreading", "weight": 2}]},
    }
    other = {
        **honest,
        "filter": _enabled("Saboteur"),
        "score": _enabled("Saboteur"),
    }
    document = {
        **HEADER,
        "profiles": [
            {
                "schedulerName": name,
                "plugins": plugins,
                "pluginConfig": [_VOLUMES, _DEVICES],
            }
            for name, plugins in zip(SCHEDULERS, (honest, other), strict=True)
        ][: len(sorts)],
    }
    config = parse_config(
        document, registry, source="tests.chaos", kubernetes=Kubernetes(version)
    )
    return registry, attrs.evolve(
        config, profiles=tuple(map(_sorted_by, config.profiles, sorts))
    )


def _sorted_by(profile: ProfileConfig, name: str) -> ProfileConfig:
    """Replace the queue sort of one profile, which a file cannot do."""
    sort = attrs.evolve(profile.plugins["queueSort"][0], name=name)
    return attrs.evolve(profile, plugins={**profile.plugins, "queueSort": (sort,)})


def _enabled(*names: str) -> Mapping[str, Sequence[Mapping[str, str]]]:
    return {"enabled": [{"name": name} for name in names]}
