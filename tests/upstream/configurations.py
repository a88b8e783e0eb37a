"""Plays the validation of whole configurations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from quaymaster import Pod, QueuedPodInfo, Status, hookimpl
from quaymaster.config import ConfigErrors, dump_config, parse_config
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.testing import CallNotPlayedError, Json
from tests.upstream.calls import Calls

__all__ = ["complete", "validate", "with_names_of_a_file"]

_INVALID: Final = "an invalid file, which upstream completes before it validates"
_EMPTY: Final = "a file's empty value gets its default before validation, also upstream"
_PLACE: Final = re.compile(r"configuration: ([^:\s]+): ")
_PLACES: Final = (
    (re.compile(r"^extenders\[\d+\]\.bindVerb$"), "extenders"),
    (re.compile(r"((?:pluginConfig|enabled)\[\d+\])\.name$"), r"\1"),
)
"""Our more exact place -> upstream's."""
_NAMES: Final = {"uRLPrefix": "urlPrefix", "hTTPTimeout": "httpTimeout", "qPS": "qps"}
_DEFAULTED: Final = ("resourceName", "resourceNamespace", "resourceLock")


class _CustomPlugin:
    """A plugin of upstream's tests, which is never called."""

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[float]:
        return (queued.timestamp,)

    @hookimpl
    def bind(self, pod: Pod) -> Status | None:
        return None


def validate(calls: Calls, call: Json) -> Json:
    """Play ValidateKubeSchedulerConfiguration on a file with the same contents.

    Upstream validates what is left of a file after its defaults have been completed.
    So the default plugins are switched off in each profile.
    """
    ((_, fields),) = call["in"][0].items()
    document = with_names_of_a_file(fields)
    document["kind"] = "KubeSchedulerConfiguration"
    election = document.get("leaderElection") or {}
    if any(name in election and not election[name] for name in _DEFAULTED):
        raise CallNotPlayedError(_EMPTY)
    for profile in document.get("profiles") or ():
        _switch_defaults_off(profile.setdefault("plugins", {}))
    try:
        parse_config(document, _registry(document), kubernetes=calls.kubernetes)
    except ConfigErrors as error:
        places = dict.fromkeys(_place(str(problem)) for problem in error.problems)
        return {"results": [{"errors": [{"field": place} for place in places]}]}
    return {"results": [None]}


def complete(calls: Calls, call: Json) -> Json:
    """Play SetDefaults_KubeSchedulerConfiguration on a file with the same contents.

    What is left out: the plugins, which are expanded here; the share of nodes without
    a setting (all nodes here); and limits of calls, which need a setting here.
    """
    ((kind, fields),) = call["in"][0].items()
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        **fields,
        "kind": "KubeSchedulerConfiguration",
    }
    try:
        registry = _registry(document)
        config = parse_config(document, registry, kubernetes=calls.kubernetes)
    except ConfigErrors:
        raise CallNotPlayedError(_INVALID) from None
    dumped: Json = dump_config(config)
    for name in ("apiVersion", "kind"):
        del dumped[name]
    if "percentageOfNodesToScore" not in fields:
        del dumped["percentageOfNodesToScore"]
    for name in ("qps", "burst"):
        del dumped["clientConnection"][name]
    originals = fields.get("profiles") or [{}]
    for profile, original in zip(dumped["profiles"], originals, strict=True):
        del profile["plugins"]
        profile["pluginConfig"] = _in_order_of(original, profile["pluginConfig"])
    return {"results": [], "in": [{kind: dumped}]}


def _in_order_of(original: Json, completed: Sequence[Json]) -> list[Json]:
    """Sort plugin arguments as upstream does: those of the file, then the others.

    Arguments of the file are left out: upstream completes them when it decodes them.
    """
    names = [entry["name"] for entry in original.get("pluginConfig") or ()]
    if not _installed().keys() >= set(names):
        raise CallNotPlayedError("arguments of a plugin that is not installed")
    entries: list[Json] = [{"name": name} for name in names]
    return entries + [entry for entry in completed if entry["name"] not in names]


def _switch_defaults_off(plugins: Json) -> None:
    """Keep the default plugins without which a profile cannot be built.

    Upstream checks for them later, when it makes a framework (framework.go).
    """
    plugins.setdefault("multiPoint", {})["disabled"] = [{"name": "*"}]
    for point, name in (("queueSort", "PrioritySort"), ("bind", "DefaultBinder")):
        plugins.setdefault(point, {}).setdefault("enabled", [{"name": name}])


def _place(problem: str) -> str:
    match = _PLACE.match(problem)
    assert match is not None, problem
    place = match[1]
    if "unknown" in problem and ".args." in place:
        # In Go, these are arguments of another plugin's type.
        return place.partition(".args.")[0] + ".args"
    for pattern, name in _PLACES:
        place = pattern.sub(name, place)
    return place


def _registry(document: Json) -> PluginRegistry:
    installed = _installed()
    custom = dict.fromkeys(_plugins_of(document), _CustomPlugin)
    return PluginRegistry.of({**custom, **installed})


@cache
def _installed() -> Mapping[str, type]:
    registry = PluginRegistry.discover()
    return {name: registry[name].load() for name in registry}


def _plugins_of(document: Json) -> Iterator[str]:
    for profile in document.get("profiles") or ():
        for point in (profile.get("plugins") or {}).values():
            for entry in point.get("enabled") or ():
                yield entry["name"]
        for entry in profile.get("pluginConfig") or ():
            yield entry["name"]


def with_names_of_a_file(tree: Any) -> Any:  # noqa: ANN401 - any part of a JSON tree
    """Return a tree with the names of a file instead of Go's names."""
    if isinstance(tree, dict):
        return {
            _name_of(name): with_names_of_a_file(part) for name, part in tree.items()
        }
    is_list: Sequence[Any] | None = tree if isinstance(tree, list) else None
    return tree if is_list is None else list(map(with_names_of_a_file, is_list))


def _name_of(name: str) -> str:
    lower = name[0].lower() + name[1:]
    return _NAMES.get(lower, lower)
