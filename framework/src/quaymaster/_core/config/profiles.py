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
    check_keys,
    resolve_plugins,
    warn_of_ranges,
)
from quaymaster._core.config.tie_breakers import resolve_tie_breaker
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["DEFAULT_NAME", "percentage", "resolve_profiles"]

DEFAULT_NAME = "default-scheduler"
"""The name of an only profile that has no name."""

_QUEUE_SORT = "queueSort"
_ALL = 100


def percentage(value: int) -> int:
    """Return the percentage of nodes of a file, where 0 means the default."""
    return value or _ALL


def resolve_profiles(
    profiles: Sequence[object],
    defaults: EntrySets,
    registry: PluginRegistry,
    findings: Findings,
    kubernetes: Kubernetes,
) -> tuple[ProfileConfig, ...]:
    """Complete and check the profiles of a document.

    Args:
        profiles: The profiles of the document. Elements that are not a
            `ProfileDocument` have mistakes that are already reported.
        defaults: The sets of the default profile.
        registry: The installed plugins.
        findings: Collects mistakes.
        kubernetes: The version of Kubernetes whose defaults they get.
    """
    profiles = profiles or (ProfileDocument(),)
    entries = [
        _ProfileEntry(f"profiles[{index}]", profile, defaults, findings.source)
        for index, profile in enumerate(profiles)
        if isinstance(profile, ProfileDocument)
    ]
    _check_names(entries, findings, is_only=len(profiles) == 1)
    configs = [entry.resolve(registry, findings, kubernetes) for entry in entries]
    _check_queue_sort(entries, configs, findings)
    return tuple(configs)


class _ProfileEntry:
    """A profile of the document, with its path."""

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
        own = self.profile.plugins
        check_keys(own, self.plugins_path, findings, kubernetes)
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
        value = self.profile.percentage_of_nodes_to_score
        return ProfileConfig(
            scheduler_name=self.name,
            percentage_of_nodes_to_score=None if value is None else percentage(value),
            tie_breaker=tie_breaker,
            plugins=plugins,
            plugin_args=args,
            kubernetes=kubernetes,
        )


def _check_names(
    entries: Sequence[_ProfileEntry], findings: Findings, *, is_only: bool
) -> None:
    places: dict[str, str] = {}
    for entry in entries:
        path = join_path(entry.path, "schedulerName")
        name = entry.profile.scheduler_name
        # ``SetDefaults_KubeSchedulerConfiguration`` names an only profile. An empty
        # string is not replaced there: it is a mistake even in an only profile.
        if name is None and is_only:
            continue
        if not name:
            findings.add(path, "required: every profile needs its own name")
        elif name in places:
            findings.add(path, f"{name!r} is the name of {places[name]} already")
        else:
            places[name] = entry.path


def _check_queue_sort(
    entries: Sequence[_ProfileEntry],
    configs: Sequence[ProfileConfig],
    findings: Findings,
) -> None:
    """Check that all profiles sort pods in the same way: they share one queue."""
    for entry, config in zip(entries[1:], configs[1:], strict=True):
        own, first = entry.sets[_QUEUE_SORT], entries[0].sets[_QUEUE_SORT]
        # The whole sets, not only the resulting plugin: ``validateCommonQueueSort``
        # compares ``disabled``, too, so that a profile that disables and enables
        # PrioritySort again is rejected beside one that does neither.
        is_same = own.names_and_weights() == first.names_and_weights()
        if not is_same or _sorter(config) != _sorter(configs[0]):
            path = join_path(entry.plugins_path, _QUEUE_SORT)
            findings.add(path, f"expected the same as in {entries[0].path}")


def _sorter(config: ProfileConfig) -> object:
    plugins = config.plugins[_QUEUE_SORT]
    return plugins, [config.plugin_args.get(plugin.name) for plugin in plugins]
