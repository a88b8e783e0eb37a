"""Coverage: the cases that can be compared while some plugins are missing.

A case is covered unless a missing plugin affected its decisions. In a covered case, the
missing plugins' values are removed from the record; all others must agree.
"""

from collections.abc import Collection, Iterator, Set
from typing import TypeAlias

from tests.parity.cases import Case, Json

__all__ = [
    "UPSTREAM_PLUGINS",
    "missing_plugins",
    "needed_plugins",
    "projected",
    "projected_profiles",
]

UPSTREAM_PLUGINS = frozenset(
    {
        "DefaultBinder",
        "DefaultPreemption",
        "DynamicResources",
        "ImageLocality",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeDeclaredFeatures",
        "NodeName",
        "NodePorts",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "NodeUnschedulable",
        "NodeVolumeLimits",
        "PodTopologySpread",
        "PrioritySort",
        "SchedulingGates",
        "TaintToleration",
        "VolumeBinding",
        "VolumeRestrictions",
        "VolumeZone",
    }
)
"""The plugins of kube-scheduler 1.36's default profile."""

_Plugins: TypeAlias = "Json | list[str]"

_PREEMPTION = "DefaultPreemption"
_POST_FILTERS = frozenset({"DynamicResources", _PREEMPTION})
_VOLUMES = "VolumeBinding"
_POST_FILTER_FIELDS = ("postFilter", "fitErrorWithPostFilter")
_VOLUME_FIELDS = ("volumes", "volumesByNode")


def missing_plugins(installed: Collection[str]) -> frozenset[str]:
    """Return the upstream plugins that are not installed."""
    return UPSTREAM_PLUGINS.difference(installed)


def needed_plugins(case: Case, missing: Set[str]) -> frozenset[str]:
    """Return the missing plugins that affected a case; a covered case has none."""
    expect = case.expect or {}
    found = set(_only_scores(expect.get("profiles", {}), missing))
    for entry in expect.get("pods", ()):
        found.update(_plugins_with_a_say(entry, case.apply_preemption, missing))
    return frozenset(found.intersection(missing))


def projected(entry: Json, missing: Set[str]) -> Json:
    """Return one pod's record without the values of missing plugins."""
    entry = dict(entry)
    if missing & _POST_FILTERS:
        for field in _POST_FILTER_FIELDS:
            entry.pop(field, None)
    if _VOLUMES in missing:
        for field in _VOLUME_FIELDS:
            entry.pop(field, None)
    if "preFilter" in entry:
        parts = ("skip", "nodesPlugins", "plugins")
        entry["preFilter"] = _without(entry["preFilter"], parts, missing)
    if "score" in entry:
        parts = ("skip", "raw", "weighted")
        entry["score"] = _without(entry["score"], parts, missing)
    if "filterByPlugin" in entry:
        entry["filterByPlugin"] = {
            node: _left(answers, missing)
            for node, answers in entry["filterByPlugin"].items()
        }
    return entry


def projected_profiles(profiles: Json, missing: Set[str]) -> Json:
    """Return the recorded plugin lists and weights without the missing plugins."""
    return {
        name: {point: _left(plugins, missing) for point, plugins in lists.items()}
        for name, lists in profiles.items()
    }


def _without(record: Json, parts: Collection[str], missing: Set[str]) -> Json:
    return {
        key: _left(value, missing) if key in parts else value
        for key, value in record.items()
    }


def _left(value: _Plugins, missing: Set[str]) -> _Plugins:
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if key not in missing}
    return [item for item in value if item not in missing]


def _only_scores(profiles: Json, missing: Set[str]) -> Iterator[str]:
    """The score plugins of profiles that have no other ones.

    A profile whose plugins score zero for all nodes still has score plugins.
    """
    for lists in profiles.values():
        if missing >= set(lists["score"]):
            yield from lists["score"]


def _plugins_with_a_say(
    entry: Json, apply_preemption: bool, missing: Set[str]
) -> Iterator[str]:
    yield from _in_filters(entry)
    for plugin, scores in entry.get("score", {}).get("weighted", {}).items():
        if any(scores):
            yield plugin
    if any(field in entry for field in _VOLUME_FIELDS):
        yield _VOLUMES
    if apply_preemption and _changes_something(entry):
        yield _PREEMPTION
    yield from _in_dry_runs(entry, missing)
    yield from _in_errors(entry, missing)


def _in_filters(entry: Json) -> Iterator[str]:
    yield entry.get("preEnqueue", {}).get("plugin", "")
    pre_filter = entry.get("preFilter", {})
    yield pre_filter.get("plugin", "")
    for plugin, status in pre_filter.get("plugins", {}).items():
        if status["code"] != "Skip":
            yield plugin
    for status in entry.get("filter", {}).values():
        yield status.get("plugin", "")
    for answers in entry.get("filterByPlugin", {}).values():
        yield from answers


def _changes_something(entry: Json) -> bool:
    """Whether preemption may have removed pods or nominations."""
    post_filter = entry.get("postFilter")
    if post_filter is None:
        return False
    return post_filter["code"] == "Success" or "nominatedPods" in entry


def _in_dry_runs(entry: Json, missing: Set[str]) -> Iterator[str]:
    """Yield the missing plugins that did not skip the pod in dry runs."""
    if entry.get("postFilter", {}).get("dryRun"):
        skipped = entry.get("preFilter", {}).get("skip", ())
        yield from missing - set(skipped)


def _in_errors(entry: Json, missing: Set[str]) -> Iterator[str]:
    reasons = entry.get("reserve", {}).get("reasons", ())
    text = "\n".join([entry.get("error", ""), *reasons])
    for plugin in missing:
        if f'"{plugin}"' in text:
            yield plugin
