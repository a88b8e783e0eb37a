"""Builds the arguments objects of plugins from ``pluginConfig``."""

from collections.abc import Iterable, Mapping, Sequence

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.config.converter import structure
from quaymaster._core.config.document import API_VERSION, PluginConfig
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.findings import MISSING, BrokenClassError, Findings
from quaymaster._core.config.lookup import usable_plugin
from quaymaster._core.config.naming import join_path, show
from quaymaster._core.config.records import record_fields
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["args_kind", "resolve_args"]


def args_kind(plugin: str) -> str:
    """Return the ``kind`` of a plugin's arguments in a file."""
    return f"{plugin}Args"


def resolve_args(
    configs: Sequence[object],
    path: str,
    enabled: Iterable[str],
    registry: PluginRegistry,
    findings: Findings,
    kubernetes: Kubernetes,
) -> Mapping[str, object]:
    """Build the arguments of a profile's plugins.

    Args:
        configs: The profile's ``pluginConfig``.
        path: Its path: ``profiles[0].pluginConfig``.
        enabled: The plugins that the profile calls; all of them can be loaded.
        registry: The installed plugins.
        findings: Collects mistakes, also those in arguments of other plugins.
        kubernetes: The version of Kubernetes whose defaults they get.

    Returns:
        The arguments of the enabled plugins that have arguments.
    """
    args: dict[str, object] = {}
    places: dict[str, str] = {}
    for index, config in enumerate(configs):
        if not isinstance(config, PluginConfig) or not config.name:
            continue
        at = f"{path}[{index}]"
        if config.name in places:
            message = f"has its arguments in {places[config.name]} already"
            findings.add(f"{at}.name", f"plugin {config.name!r} {message}")
            continue
        places[config.name] = at
        # Also for plugins that are not enabled, whose arguments are dropped at the end:
        # kube-scheduler starts with such a file only if they are valid, too
        # (validatePluginConfig in pkg/scheduler/apis/config/validation/validation.go).
        args[config.name] = _configured(config, at, registry, findings, kubernetes)
    for name in sorted(set(enabled) - set(args)):
        args[name] = _default(registry[name], path, findings, kubernetes)
    return {name: args[name] for name in sorted(enabled) if args[name] is not None}


def _configured(
    config: PluginConfig,
    path: str,
    registry: PluginRegistry,
    findings: Findings,
    kubernetes: Kubernetes,
) -> object | None:
    plugin = usable_plugin(config.name, registry)
    if isinstance(plugin, str):
        findings.add(f"{path}.name", plugin)
        return None
    return _structure(plugin, config.args, f"{path}.args", findings, kubernetes)


def _structure(
    plugin: RegisteredPlugin,
    value: object,
    path: str,
    findings: Findings,
    kubernetes: Kubernetes,
) -> object | None:
    content = {} if value is None else value
    if isinstance(content, Mapping):
        content = _without_header(plugin, content, path, findings)
    if plugin.args_class is None:
        if content:
            findings.add(path, f"plugin {plugin.name!r} takes no arguments")
        return None
    try:
        args, mistakes = structure(content, plugin.args_class)
    except BrokenClassError as error:
        _blame(plugin, error, findings)
        return None
    findings.extend(path, mistakes)
    if mistakes or args is MISSING:
        return None
    try:
        return completed(args, kubernetes)
    except ArgsError as error:
        findings.add(join_path(path, error.path), error.message)
        return None


def _default(
    plugin: RegisteredPlugin, path: str, findings: Findings, kubernetes: Kubernetes
) -> object | None:
    if plugin.args_class is None:
        return None
    try:
        args, mistakes = structure({}, plugin.args_class)
    except BrokenClassError as error:
        _blame(plugin, error, findings)
        return None
    for mistake in mistakes:
        needed = join_path("args", mistake.path)
        findings.add(path, f"plugin {plugin.name!r}: {needed}: {mistake.message}")
    return None if mistakes else completed(args, kubernetes)


def completed(args: object, kubernetes: Kubernetes) -> object:
    """Return arguments with the defaults that differ between versions of Kubernetes.

    A class with such defaults has a method ``completed``.

    Raises:
        ArgsError: A field has a value that this version of Kubernetes does not support.
    """
    complete = getattr(args, "completed", None)
    return args if complete is None else complete(kubernetes)


def _blame(
    plugin: RegisteredPlugin, error: BrokenClassError, findings: Findings
) -> None:
    """Add a mistake of the plugin itself, not of the file."""
    findings.add("", f"{plugin}: {error.problem}", source="")


def _without_header(
    plugin: RegisteredPlugin,
    content: Mapping[object, object],
    path: str,
    findings: Findings,
) -> dict[object, object]:
    fields = record_fields(plugin.args_class) if plugin.args_class else ()
    header = {"apiVersion": API_VERSION, "kind": args_kind(plugin.name)}
    # A class of arguments may have a field of its own called ``kind``. Then the key
    # belongs to the plugin and is not part of the header.
    for key in [field.key for field in fields]:
        header.pop(key, None)
    for key, expected in header.items():
        got = content.get(key)
        if got not in (None, expected):
            message = f"expected {expected!r}, got {show(got)}"
            findings.add(join_path(path, key), message)
    return {key: value for key, value in content.items() if key not in header}
