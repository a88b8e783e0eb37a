"""The configuration of the recorded scheduler."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from quaymaster.config import Kubernetes, SchedulerConfig, parse_config
from quaymaster.preemption import Candidate, best_candidates
from quaymaster.scheduler import PluginRegistry
from quaymaster_default_preemption import DefaultPreemption

__all__ = ["config_for", "registry"]

_DOCUMENT: Final = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 1,
    "percentageOfNodesToScore": 100,
    "profiles": [{"schedulerName": "default-scheduler", "tieBreaker": "name"}],
}


class PreemptionByName(DefaultPreemption):
    """Takes the first node by name among equal candidates, as the recorded scheduler.

    Upstream's choice is random.
    """

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the best candidate with the smallest name of its node."""
        return best_candidates(candidates)[0]


@cache
def registry() -> PluginRegistry:
    """Return the installed plugins, with the ties of the recorded scheduler."""
    name = DefaultPreemption.__name__
    return PluginRegistry.discover().with_plugin(PreemptionByName, name)


def config_for(kubernetes: Kubernetes) -> SchedulerConfig:
    """Return the configuration for a Kubernetes with its feature gates."""
    return parse_config(_DOCUMENT, registry(), kubernetes=kubernetes)
