"""Plays the defaults and the validation of plugin arguments in a configuration."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from quaymaster.config import ConfigErrors, Kubernetes, parse_config
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.testing import Json, RecordedCase
from tests.upstream.calls import Calls, Play, play_calls

__all__ = ["play"]

_WHERE: Final = re.compile(r"profiles\[0\]\.pluginConfig\[0\]\.args\.?([^:]*): ")


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case about arguments; configurations as a whole are not played."""
    return play_calls(case, _PLAYS)


@cache
def _registry() -> PluginRegistry:
    return PluginRegistry.discover()


def _problems(
    plugin: str, args: Mapping[str, Any], kubernetes: Kubernetes
) -> list[str]:
    """Return the fields with problems when a file has these arguments."""
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}],
    }
    try:
        parse_config(document, _registry(), kubernetes=kubernetes)
    except ConfigErrors as error:
        return [match for line in error.problems for match in _WHERE.findall(str(line))]
    return []


def _validate(calls: Calls, call: Json) -> Json:
    ((kind, fields),) = call["in"][1].items()
    plugin = kind.removesuffix("Args")
    problems = _problems(plugin, _camel(fields), calls.kubernetes)
    if not problems:
        return {"results": [None]}
    errors = [{"field": field} for field in problems]
    # Upstream's function for InterPodAffinity returns one error, the others a list.
    is_single = plugin == "InterPodAffinity"
    return {"results": [errors[0] if is_single else {"errors": errors}]}


def _camel(tree: Any) -> Any:  # noqa: ANN401 - any part of a JSON tree
    """Return a tree with the names of a file instead of Go's names."""
    if isinstance(tree, dict):
        return {name[0].lower() + name[1:]: _camel(part) for name, part in tree.items()}
    return [_camel(item) for item in tree] if isinstance(tree, list) else tree


_PLAYS: Final[Mapping[str, Play]] = {
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
