"""Completes and checks the profiles of a document."""

from collections.abc import Sequence

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.config.args import resolve_args
from quaymaster._core.config.document import ProfileDocument
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.merge import EntrySets, entry_sets, merge_sets
from quaymaster._core.config.model import TIE_BREAKERS, ProfileConfig
from quaymaster._core.config.naming import join_path
from quaymaster._core.config.plugin_lists import (
    check_idle_plugins,
    check_keys,
    resolve_plugins,
    warn_of_ranges,
)
from quaymaster._core.config.tie_breakers import resolve_tie_breaker
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["DEFAULT_NAME", "percentage", "resolve_profiles"]

DEFAULT_NAME = "default-scheduler"
"""The name of a profile that is the only one and has none."""

_QUEUE_SORT = "queueSort"
_ALL = 100


def percentage(given: int) -> int:
    """The percentage of nodes that a file asks for, where 0 asks for the default."""
    return given or _ALL


def resolve_profiles(
    profiles: Sequence[object],
    defaults: EntrySets,
    registry: PluginRegistry,
    findings: Findings,
    kubernetes: Kubernetes,
) -> tuple[ProfileConfig, ...]:
    """Complete and check the profiles of a document.

    Args:
        profiles: What the document has. What is no `ProfileDocument` was wrong, which
            has been noted.
        defaults: What the default profile enables.
        registry: The installed plugins.
        findings: Where mistakes are noted.
        kubernetes: The Kubernetes to complete them for.
    """
    profiles = profiles or (ProfileDocument(),)
    given = [
        _Given(f"profiles[{index}]", profile, defaults, findings.source)
        for index, profile in enumerate(profiles)
        if isinstance(profile, ProfileDocument)
    ]
    _check_names(given, findings, is_only=len(profiles) == 1)
    made = [one.resolve(registry, findings, kubernetes) for one in given]
    _check_queue_sort(given, made, findings)
    return tuple(made)


class _Given:
    """A profile of the document, at its place there."""

    def __init__(
        self, path: str, profile: ProfileDocument, defaults: EntrySets, source: str
    ) -> None:
        self.path = path
        self.profile = profile
        self.plugins_path = join_path(path, "plugins")
        own = entry_sets(profile.plugins, self.plugins_path, source)
        self.sets = merge_sets(defaults, own)

    @property
    def name(self) -> str:
        name = self.profile.scheduler_name
        return DEFAULT_NAME if name is None else name

    def resolve(
        self, registry: PluginRegistry, findings: Findings, kubernetes: Kubernetes
    ) -> ProfileConfig:
        given = self.profile.plugins
        check_keys(given, self.plugins_path, findings, kubernetes)
        if kubernetes.since("1.37"):
            check_idle_plugins(given, self.plugins_path, registry, findings)
        plugins = resolve_plugins(
            self.sets, self.plugins_path, registry, findings, kubernetes
        )
        enabled = {plugin.name for point in plugins.values() for plugin in point}
        tie_breaker = resolve_tie_breaker(
            self.profile.tie_breaker,
            join_path(self.path, "tieBreaker"),
            registry,
            findings,
        )
        if tie_breaker not in TIE_BREAKERS:
            enabled.add(tie_breaker)
        warn_of_ranges(enabled, registry, findings)
        args = resolve_args(
            self.profile.plugin_config,
            join_path(self.path, "pluginConfig"),
            enabled,
            registry,
            findings,
            kubernetes,
        )
        asked = self.profile.percentage_of_nodes_to_score
        return ProfileConfig(
            scheduler_name=self.name,
            percentage_of_nodes_to_score=None if asked is None else percentage(asked),
            tie_breaker=tie_breaker,
            plugins=plugins,
            plugin_args=args,
            kubernetes=kubernetes,
        )


def _check_names(given: Sequence[_Given], findings: Findings, *, is_only: bool) -> None:
    places: dict[str, str] = {}
    for one in given:
        path = join_path(one.path, "schedulerName")
        name = one.profile.scheduler_name
        if name is None and is_only:
            continue
        if not name:
            findings.add(path, "required: every profile needs its own name")
        elif name in places:
            findings.add(path, f"{name!r} is the name of {places[name]} already")
        else:
            places[name] = one.path


def _check_queue_sort(
    given: Sequence[_Given], made: Sequence[ProfileConfig], findings: Findings
) -> None:
    """All profiles share one queue, so they must sort it in the same way."""
    for one, config in zip(given[1:], made[1:], strict=True):
        says = one.sets[_QUEUE_SORT].says() == given[0].sets[_QUEUE_SORT].says()
        if not says or _sorter(config) != _sorter(made[0]):
            path = join_path(one.plugins_path, _QUEUE_SORT)
            findings.add(path, f"expected the same as in {given[0].path}")


def _sorter(config: ProfileConfig) -> object:
    plugins = config.plugins[_QUEUE_SORT]
    return plugins, [config.plugin_args.get(plugin.name) for plugin in plugins]
