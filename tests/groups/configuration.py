"""The configuration of the recorded scheduler."""

from functools import cache
from typing import Final

from quaymaster.config import Kubernetes, SchedulerConfig, parse_config
from quaymaster.scheduler import PluginRegistry

__all__ = ["config_for", "registry"]

_DOCUMENT: Final = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 1,
    "percentageOfNodesToScore": 100,
    "profiles": [{"schedulerName": "default-scheduler", "tieBreaker": "name"}],
}


@cache
def registry() -> PluginRegistry:
    """Return the installed plugins."""
    return PluginRegistry.discover()


def config_for(kubernetes: Kubernetes) -> SchedulerConfig:
    """Return the configuration for a Kubernetes with its feature gates."""
    return parse_config(_DOCUMENT, registry(), kubernetes=kubernetes)
