"""Describes an installed plugin."""

import inspect
from collections.abc import Iterator, Mapping, Sequence

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.packages.arguments import Argument, arguments_of
from quaymaster._authors.packages.events import (
    EventsDeclaration,
    declared_events,
    registered_events,
)
from quaymaster._authors.testing.contract.subject import declared_opt_outs
from quaymaster._core.contract.cluster_events import ActionType, ClusterEventWithHint
from quaymaster._core.contract.declarations import PodUse, Scope, Write
from quaymaster._core.contract.extension_points import EXTENSION_POINTS
from quaymaster._core.contract.hook_marks import HookAge
from quaymaster._core.registry.access import (
    declares_access,
    reads_of_plugin,
    writes_of_plugin,
)
from quaymaster._core.registry.kinds import kinds_of_plugin
from quaymaster._core.registry.plugin_checks import is_wrapper, marked_hooks
from quaymaster._core.registry.registered import RegisteredPlugin

__all__ = ["EventDescription", "HookDescription", "PluginDescription", "describe"]


@attrs.frozen(kw_only=True)
class HookDescription:
    """A hook that a plugin implements.

    Attributes:
        name: The hook.
        point: The key of its extension point, or the field of a profile that names its
            plugin; empty for hooks of the whole plugin.
        twin: Its batch twin, if the plugin has that, too; or empty.
        wraps: Whether it is a wrapper around the hooks of other plugins.
        age: Since which version the hook exists, and until when.
    """

    name: str
    point: str
    twin: str
    wraps: bool
    age: HookAge


@attrs.frozen(kw_only=True)
class EventDescription:
    """The changes of one resource that a plugin registers for.

    Attributes:
        resource: The resource, as upstream names it.
        actions: Upstream's names of the actions.
        has_hint: Whether a queueing hint filters them.
    """

    resource: str
    actions: tuple[str, ...]
    has_hint: bool


@attrs.frozen(kw_only=True)
class PluginDescription:
    """One installed plugin.

    Attributes:
        plugin: Its name and its distribution.
        summary: The first line of its docstring.
        scope: The scope that it declares; None if that depends on its arguments.
        pod_use: Its `PodUse`; None likewise.
        hooks: Its hooks, in the order of the calls.
        arguments: Its arguments for a configuration file.
        declaration: How it declares its events, in a word.
        events: The events that it registers for.
        kinds: The kinds of objects that it declares.
        reads: The kinds of Kubernetes that it reads beside nodes and pods; None if it
            declares neither what it reads nor what it writes.
        writes: Its writes to the cluster; None likewise.
        opt_outs: The checks of the contract suite that it may fail -> why.
    """

    plugin: RegisteredPlugin
    summary: str
    scope: Scope | None
    pod_use: PodUse | None
    hooks: Sequence[HookDescription]
    arguments: Sequence[Argument]
    declaration: EventsDeclaration
    events: Sequence[EventDescription]
    kinds: Sequence[type[ApiObject]]
    reads: Sequence[type[ApiObject]] | None
    writes: Sequence[Write] | None
    opt_outs: Mapping[str, str]


def describe(plugin: RegisteredPlugin) -> PluginDescription:
    """Describe a plugin.

    Args:
        plugin: The plugin. If it registers events, it is built with default arguments.

    Raises:
        PluginLoadError: It cannot be used.
    """
    plugin_class = plugin.load()
    scope: object = getattr(plugin_class, "scope", Scope.CLUSTER)
    pod_use: object = getattr(plugin_class, "pod_use", PodUse.PODS)
    return PluginDescription(
        plugin=plugin,
        summary=(inspect.getdoc(plugin_class) or "")
        .partition("\n\n")[0]
        .replace("\n", " "),
        scope=scope if isinstance(scope, Scope) else None,
        pod_use=pod_use if isinstance(pod_use, PodUse) else None,
        hooks=tuple(_hooks(plugin_class)),
        arguments=arguments_of(plugin.args_class),
        declaration=declared_events(plugin),
        events=tuple(map(_event, registered_events(plugin) or ())),
        kinds=kinds_of_plugin(plugin_class),
        reads=_reads(plugin_class) if declares_access(plugin_class) else None,
        writes=writes_of_plugin(plugin_class)
        if declares_access(plugin_class)
        else None,
        opt_outs=declared_opt_outs(plugin_class),
    )


def _reads(plugin: type) -> Sequence[type[ApiObject]]:
    usual = {Node, Pod, *kinds_of_plugin(plugin)}
    return tuple(kind for kind in reads_of_plugin(plugin) if kind not in usual)


def _hooks(plugin: type) -> Iterator[HookDescription]:
    own = frozenset(marked_hooks(plugin))
    for point in EXTENSION_POINTS:
        twins: Mapping[str, str] = point.twins
        # A twin is listed with its scalar hook; a wrapper may be around the twin alone.
        beside = {twin for scalar, twin in twins.items() if scalar in own}
        for name in point.hooks:
            if name in own and name not in beside:
                twin = twins.get(name, "")
                yield HookDescription(
                    name=name,
                    point=point.key or point.field,
                    twin=twin if twin in own else "",
                    wraps=is_wrapper(getattr(plugin, name)),
                    age=point.age(name),
                )


def _event(registered: ClusterEventWithHint) -> EventDescription:
    event = registered.event
    return EventDescription(
        resource=event.resource.value,
        actions=tuple(_actions(event.action)),
        has_hint=registered.hint is not None,
    )


def _actions(action: ActionType) -> Iterator[str]:
    """Yield upstream's names of the actions; all updates together have one name."""
    if action == ActionType.ALL:
        yield action.label
        return
    all_updates = action & ActionType.UPDATE == ActionType.UPDATE
    for single in ActionType:
        if single & action and not (all_updates and single & ActionType.UPDATE):
            yield single.label
    if all_updates:
        yield ActionType.UPDATE.label
