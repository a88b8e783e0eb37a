"""Builds a profile of one plugin and of the others that a profile needs."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._core.config.kinds import kinds_read
from quaymaster._core.config.load import parse_config
from quaymaster._core.config.tie_breakers import breaks_ties
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.hook_marks import hookimpl
from quaymaster._core.contract.queueing import QueuedPodInfo
from quaymaster._core.contract.status import Status
from quaymaster._core.engine.framework import Framework, FrameworkBuilder
from quaymaster._core.engine.handle import Services
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.runtime.guards import Failed, HookGuards, Watch

__all__ = ["build_alone", "kinds_of"]


class _FirstComeFirstServed:
    """The queue sort of a profile, if the plugin under test has none."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> float:
        return queued.timestamp


class _NoBinder:
    """The binder of a profile, if the plugin under test is none."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def bind(self) -> Status | None:
        return Status.skip()


_STAND_INS = (("queueSort", _FirstComeFirstServed), ("bind", _NoBinder))
"""The points that every profile needs, with their substitutes."""


def kinds_of(*plugins: type) -> Sequence[type[ApiObject]]:
    """Return the kinds of objects that some plugins read, each once.

    Raises:
        PluginLoadError: A class breaks a hookspec, or declares an invalid kind.
        KindError: Two plugins declare one kind with two classes.
    """
    by_name = {plugin.__name__: plugin for plugin in plugins}
    return PluginRegistry.of(by_name).read_by(by_name)


def build_alone(
    plugin: type,
    beside: Iterable[type],
    args: Mapping[str, object] | None,
    services: Services,
    watch: Watch | None = None,
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    failed: Failed | None = None,
    *,
    after: Iterable[type] = (),
) -> Framework:
    """Build a profile of one plugin, as from a configuration file.

    Args:
        plugin: The plugin's class.
        beside: More plugins, which come before it.
        args: The plugin's arguments; None for its defaults.
        services: The parts that plugins may use.
        watch: Observes the calls of hooks, if set.
        kubernetes: The Kubernetes version to simulate.
        failed: Called with plugin, hook, the pod's key and the exception of a hook or
            callback that fails.
        after: More plugins, which come after it.

    Raises:
        PluginLoadError: A class breaks a hookspec.
        KindError: Two plugins declare one kind with two classes.
        ConfigErrors: The arguments are invalid, or the plugin has no hook.
        ProfileError: The plugin cannot be built.
    """
    plugins = {cls.__name__: cls for cls in (*beside, plugin, *after)}
    registry = PluginRegistry.of(plugins)
    names = list(plugins)
    for key, stand_in in _STAND_INS:
        if not any(registry[name].extends(key) for name in plugins):
            registry = registry.with_plugin(stand_in)
            names.append(stand_in.__name__)
    document = _document(names, registry[plugin.__name__], args)
    config = parse_config(
        document, registry, source="PluginHarness", kubernetes=kubernetes
    )
    guards = HookGuards(watches=[watch] if watch else ())
    builder = FrameworkBuilder(
        registry=registry,
        services=services,
        guards=guards if failed is None else replace(guards, failed=failed),
        kinds=kinds_read(config, registry),
    )
    return builder.build(config.profiles[0])


def _document(
    names: Sequence[str],
    plugin: RegisteredPlugin,
    args: Mapping[str, object] | None,
) -> object:
    profile: dict[str, object] = {}
    if breaks_ties(plugin):
        profile["tieBreaker"] = plugin.name
        if not any(point.key for point in plugin.extension_points):
            names = [name for name in names if name != plugin.name]
    profile |= {
        "plugins": {
            "multiPoint": {
                "disabled": [{"name": "*"}],
                "enabled": [{"name": name} for name in names],
            }
        }
    }
    if args is not None:
        profile["pluginConfig"] = [{"name": plugin.name, "args": dict(args)}]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
