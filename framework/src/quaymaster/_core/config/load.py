"""Loads configurations: reads, completes and checks them."""

import functools
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import attrs
from msgspec.structs import replace

from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._core.config.converter import structure
from quaymaster._core.config.document import (
    API_VERSION,
    KIND,
    Document,
    ProfileDocument,
)
from quaymaster._core.config.empty_points import warn_of_empty_points
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.feature_gates import gated
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.header import check_header
from quaymaster._core.config.merge import Entry, EntrySets, entry_sets
from quaymaster._core.config.missing_plugins import leave_out_missing
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.plugin_lists import check_keys
from quaymaster._core.config.points import MULTI_POINT
from quaymaster._core.config.profiles import percentage, resolve_profiles
from quaymaster._core.config.settings_checks import check_settings
from quaymaster._core.config.shipped import file_or_shipped, shipped_files
from quaymaster._core.config.wrapped import read_wrapped
from quaymaster._core.config.yaml_file import read_content, read_yaml
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry

__all__ = [
    "default_config",
    "load_config",
    "parse_config",
    "read_source",
    "shipped_profiles",
]

_DEFAULT_SOURCE = "default profile"


def load_config(
    path: str | Path,
    registry: PluginRegistry | None = None,
    *,
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    without_missing: bool = False,
) -> SchedulerConfig:
    """Read a configuration file.

    A ConfigMap with a configuration, and the machine configuration of Talos, are
    unwrapped, also among other documents.

    Args:
        path: The file; or, if there is no such file, the name of a shipped profile,
            such as ``bin-packing``.
        registry: Where plugins are found by name; by default the installed plugins.
        kubernetes: The version of Kubernetes whose defaults it gets.
        without_missing: As for `parse_config`.

    Raises:
        ConfigErrors: The file cannot be read, or has mistakes.
    """
    source = str(path)
    document, source = read_wrapped(read_source(source), source)
    return parse_config(
        document,
        registry,
        source=source,
        kubernetes=kubernetes,
        without_missing=without_missing,
    )


def default_config(
    registry: PluginRegistry | None = None,
    *,
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
) -> SchedulerConfig:
    """Return the configuration of an empty file: the default profile.

    It is the same object for the same registry, since neither ever changes.

    Args:
        registry: Where plugins are found by name; by default the installed plugins.
        kubernetes: The version of Kubernetes whose defaults it gets.

    Raises:
        ConfigErrors: A plugin of the default profile is not installed.
    """
    registry = installed_plugins() if registry is None else registry
    return _default_config(_Same(registry), kubernetes)


@attrs.frozen
class _Same:
    """A registry as a key: registries are immutable, and compared by identity."""

    registry: PluginRegistry = attrs.field(eq=id)


# Completing the default profile takes longer than a small simulation, so neither a loop
# of `simulate(objects)` nor many harnesses may repeat it.
@functools.lru_cache(maxsize=8)
def _default_config(same: _Same, kubernetes: Kubernetes) -> SchedulerConfig:
    empty = {"apiVersion": API_VERSION, "kind": KIND}
    return parse_config(empty, same.registry, kubernetes=kubernetes)


def parse_config(
    document: object,
    registry: PluginRegistry | None = None,
    *,
    source: str = "configuration",
    defaults: object = None,
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    without_missing: bool = False,
) -> SchedulerConfig:
    """Check and complete a configuration that has been read already.

    Args:
        document: The content of the file.
        registry: Where plugins are found by name; by default the installed plugins.
        source: The file's name, for messages.
        defaults: The configuration whose first profile is merged under every profile;
            by default the shipped profile of that version of Kubernetes.
        kubernetes: The version of Kubernetes whose defaults it gets. The document may
            set further feature gates.
        without_missing: Whether to leave out plugins that are not installed, with a
            warning for each. Where a profile needs a plugin, as in ``queueSort``, the
            default one takes their place.

    Raises:
        ConfigErrors: The document or the defaults have mistakes.
    """
    registry = installed_plugins() if registry is None else registry
    findings = Findings(source)
    # Before all other checks: what is left out must neither be reported as unknown nor
    # count as the only plugin of queueSort.
    settings = leave_out_missing(
        _document(document, findings), registry, findings, is_allowed=without_missing
    )
    check_settings(settings, findings)
    warn_of_empty_points(document, findings)
    # Before the profiles are resolved, since gates decide which extension points exist
    # and which plugins the default profile has.
    chosen, kubernetes = kubernetes, gated(kubernetes, settings, findings)
    profiles = resolve_profiles(
        settings.profiles,
        _default_sets(defaults, kubernetes),
        registry,
        findings,
        kubernetes,
    )
    if findings.problems:
        raise ConfigErrors(findings.problems)
    return SchedulerConfig(
        parallelism=settings.parallelism,
        percentage_of_nodes_to_score=percentage(settings.percentage_of_nodes_to_score),
        pod_initial_backoff_seconds=settings.pod_initial_backoff_seconds,
        pod_max_backoff_seconds=settings.pod_max_backoff_seconds,
        leader_election=settings.leader_election,
        client_connection=settings.client_connection,
        limits_requests=_limits_requests(document),
        extenders=settings.extenders,
        enable_profiling=settings.enable_profiling,
        enable_contention_profiling=settings.enable_contention_profiling,
        delay_cache_until_active=settings.delay_cache_until_active,
        profiles=profiles,
        own_gates=frozenset(kubernetes.feature_gates).difference(chosen.feature_gates),
        warnings=findings.warnings,
    )


def _limits_requests(document: object) -> bool:
    """Whether a valid document limits the rate of calls; 0 is not a limit."""
    if not isinstance(document, Mapping):
        return False
    limits = document.get("clientConnection")
    return isinstance(limits, Mapping) and bool(
        limits.get("qps") or limits.get("burst")
    )


def shipped_profiles() -> Mapping[str, Traversable]:
    """Return the configuration files of the framework, by name."""
    return shipped_files(resources.files("quaymaster") / "_profiles")


def _document(document: object, findings: Findings) -> Document:
    """Build the document, and collect the mistakes in its parts."""
    check_header(document, findings, api_version=API_VERSION, kind=KIND, hint=_hint)
    result, mistakes = structure(document, Document)
    findings.extend("", mistakes)
    if not isinstance(result, Document):
        raise ConfigErrors(findings.problems)
    return result


def _hint(got: object) -> str:
    group = API_VERSION.partition("/")[0]
    if isinstance(got, str) and got.startswith(f"{group}/"):
        return f"; Kubernetes has removed {got.removeprefix(f'{group}/')}"
    return ""


def _default_sets(defaults: object, kubernetes: Kubernetes) -> EntrySets:
    if defaults is None:
        return _shipped_sets(kubernetes)
    return _sets_of(defaults, "defaults", kubernetes)


@functools.cache
def _shipped_sets(kubernetes: Kubernetes) -> EntrySets:
    text = shipped_profiles()[kubernetes.default_profile].read_bytes()
    tree = read_yaml(text, _DEFAULT_SOURCE)
    sets = _sets_of(tree, _DEFAULT_SOURCE, kubernetes)
    added = [
        Entry(name, None, f"the feature gate {gate}", _DEFAULT_SOURCE)
        for name, gate in kubernetes.gated_plugins.items()
        if kubernetes.enabled(gate)
    ]
    everywhere = sets[MULTI_POINT]
    enabled = (*everywhere.enabled, *added)
    return {**sets, MULTI_POINT: replace(everywhere, enabled=enabled)}


def _sets_of(defaults: object, source: str, kubernetes: Kubernetes) -> EntrySets:
    findings = Findings(source)
    profiles = _document(defaults, findings).profiles or (ProfileDocument(),)
    path = "profiles[0].plugins"
    check_keys(profiles[0].plugins, path, findings, kubernetes)
    if findings.problems:
        raise ConfigErrors(findings.problems)
    return entry_sets(profiles[0].plugins, path, source)


def read_source(source: str) -> bytes:
    """Read a configuration file, or the shipped profile of that name.

    Raises:
        ConfigErrors: It cannot be read.
    """
    return read_content(file_or_shipped(source, shipped_profiles(), "profile"), source)
