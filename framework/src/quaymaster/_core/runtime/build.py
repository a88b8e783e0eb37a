"""Build a profile: load, construct and register its plugins, then compile the calls.

Errors in plugins are reported here, before the first pod, as far as possible.
"""

import logging
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Mapping,
    Sequence,
)
from functools import cached_property
from typing import Final

import pluggy

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.raised import describe_exception, is_from_outside
from quaymaster._core.config.kinds import plugin_names
from quaymaster._core.config.model import EnabledPlugin, ProfileConfig
from quaymaster._core.contract.cluster_events import ClusterEventWithHint, EventResource
from quaymaster._core.contract.declarations import (
    PodUse,
    Scope,
    gates_groups,
    opens_gates_itself,
)
from quaymaster._core.contract.extension_points import EXTENSION_POINTS, ExtensionPoint
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.status import Status
from quaymaster._core.registry.plugin_checks import unmarked_hooks
from quaymaster._core.registry.registered import PluginClass
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.runtime.calls import Implementations
from quaymaster._core.runtime.deprecated import warn_of_deprecated_hooks
from quaymaster._core.runtime.events import event_problem
from quaymaster._core.runtime.guards import HookGuards
from quaymaster._core.runtime.lifecycle import Lifecycle
from quaymaster._core.runtime.manager import HookManager
from quaymaster._core.runtime.profile import Call, HookFunction, Profile

__all__ = ["REJECTING_HOOKS", "ProfileError", "build_profile"]

_log = logging.getLogger(__name__)

_SILENT_GUARDS: Final = HookGuards()

_HOOKS = [hook for point in EXTENSION_POINTS for hook in point.hooks]
_LIFECYCLE_HOOKS = ("start", "close")
REJECTING_HOOKS = ("pre_enqueue", "pre_filter", "filter", "reserve", "permit")
"""The hooks by which a plugin can reject a pod."""
_FAILING_HOOKS = (*REJECTING_HOOKS, "pre_bind", "bind", "placement_feasible")
"""Those, and the hooks by which a plugin can reject a pod that has a node, or a group.
For all others, kube-scheduler ignores the events (``shouldHaveEnqueueExtensions``,
v1.37, ``pkg/scheduler/framework/runtime/framework.go``)."""
_NO_REJECTIONS = (
    "events_to_register returned events, but the plugin rejects no pods (it has none "
    f"of {', '.join(_FAILING_HOOKS)}), so they requeue nothing: register none, and "
    "call handle.activate for pods that may fit now"
)
_SLEEPS = (
    "events_to_register is empty, so no event requeues the pods that it rejects: "
    "unless it calls handle.changed() or handle.activate(), they wait minutes for the "
    "flush, and with Kubernetes 1.36 pods that its pre_enqueue rejects wait for ever"
)
_NARROW_HOOKS = ("pre_filter", "filter", "pre_score")


class ProfileError(QuaymasterError):
    """A profile whose plugins cannot be loaded, built or called.

    Attributes:
        profile: The profile's scheduler name.
        plugin: The plugin at fault.
    """

    def __init__(self, profile: str, plugin: str, problem: str) -> None:
        super().__init__(f"profile '{profile}': {plugin}: {problem}")
        self.profile = profile
        self.plugin = plugin


def build_profile(
    config: ProfileConfig,
    registry: PluginRegistry,
    make_handle: Callable[[str, PluginClass], Handle],
    guards: HookGuards = _SILENT_GUARDS,
    followed: Collection[EventResource] = (),
) -> Profile:
    """Build the plugins of one profile and compile its plans.

    Args:
        config: The profile, with all defaults set.
        registry: Loads plugins by name.
        make_handle: Returns the handle of a plugin, by its name and its class.
        guards: Compiles the hooks, and reports those that fail or take long.
        followed: The resources of declared kinds that have events.

    Raises:
        ProfileError: A plugin cannot be imported or built, implements a hook with a
            wrong signature, or has a hook that does not exist. The plugins built
            before it are closed.
    """
    builder = _Builder(config, registry, make_handle, guards, followed)
    try:
        return builder.build()
    except BaseException:
        # Also after Ctrl-C: plugins may have opened files or started threads.
        builder.lifecycle().close()
        raise


class _Builder:
    def __init__(
        self,
        config: ProfileConfig,
        registry: PluginRegistry,
        make_handle: Callable[[str, PluginClass], Handle],
        guards: HookGuards,
        followed: Collection[EventResource],
    ) -> None:
        self._followed = followed
        self._config = config
        self._registry = registry
        self._make_handle = make_handle
        self._guards = guards
        self._manager = HookManager()
        # For hooks whose failure is an error here, or is reported by a second call.
        self._quiet = HookGuards(watches=guards.watches)
        self._plugins: dict[str, object] = {}

    def build(self) -> Profile:
        for name in plugin_names(self._config):
            self._plugins[name] = self._construct(name)
            self._register(name)
        warn_of_deprecated_hooks(self._manager, self._registry.describe)
        sign = self._sign(self._quiet)
        cacheable = [name for name in sign if self._is_cacheable(name)]
        return Profile(
            name=self._config.scheduler_name,
            config=self._config,
            plugins=self._plugins,
            lifecycle=self.lifecycle(),
            plans={
                point.key: tuple(self._calls(point))
                for point in EXTENSION_POINTS
                if point.key
            },
            events={name: self._events(name) for name in self._plugins},
            sign=sign,
            sign_telling=self._sign(self._guards),
            break_tie=self._break_tie(),
            # Trials with other pods read what PreFilter wrote into the cycle state, so
            # of plugins with such hooks only Skips are cached.
            remembered=[name for name in cacheable if not self._has_trials(name)],
            skipping=[name for name in cacheable if self._has_trials(name)],
            skips=self._skips(cacheable),
            placement_feasible=self._placement_feasible(),
        )

    def lifecycle(self) -> Lifecycle:
        """Return the ``start`` and ``close`` hooks of the plugins built so far."""
        hooks = Implementations(self._manager, _LIFECYCLE_HOOKS)
        starts, closes = (
            [
                function
                for name in self._plugins
                if (function := hooks.compile(hook, name, guards=self._guards))
            ]
            for hook in _LIFECYCLE_HOOKS
        )
        return Lifecycle(starts, closes)

    @cached_property
    def _implementations(self) -> Implementations:
        """The implementations of hooks; valid once all plugins are registered."""
        return Implementations(self._manager, _HOOKS)

    def _construct(self, name: str) -> object:
        try:
            make = self._registry.load(name)
            handle = self._make_handle(name, make)
            return make(self._config.plugin_args.get(name), handle)
        except QuaymasterError:
            raise
        except BaseException as error:
            if is_from_outside(error):
                raise
            problem = f"could not be built: {describe_exception(error)}"
            raise self._error(name, problem) from error

    def _register(self, name: str) -> None:
        try:
            self._manager.register(self._plugins[name], name)
        except (pluggy.PluginValidationError, ValueError) as error:
            problem = " ".join(str(error).split())
            raise self._error(name, problem) from error
        for problem in unmarked_hooks(self._plugins[name]):
            raise self._error(name, problem)

    def _calls(self, point: ExtensionPoint) -> Iterable[Call]:
        enabled = self._config.plugins.get(point.key, ())
        wrappers = self._wrappers(point, enabled)
        for plugin in enabled:
            hooks = self._hooks(point, plugin.name, wrappers)
            if point.hook in hooks:
                use = self._pod_use(plugin.name, wrappers[point.hook])
                scope = self._scope(plugin.name)
                instance = self._plugins[plugin.name]
                is_alone = not wrappers[point.hook]
                yield Call(
                    plugin=plugin.name,
                    weight=plugin.weight,
                    hooks=hooks,
                    pod_use=use,
                    scope=scope,
                    gates_groups=is_alone and gates_groups(instance),
                    opens_gates_itself=is_alone and opens_gates_itself(instance),
                )
            elif not any(plugin.name in names for names in wrappers.values()):
                problem = f"is enabled at {point.key} but has no hook {point.hook!r}"
                raise self._error(plugin.name, problem)

    def _wrappers(
        self, point: ExtensionPoint, enabled: Sequence[EnabledPlugin]
    ) -> Mapping[str, Sequence[str]]:
        wrappers = {}
        # Wrappers run in profile order, and only at points where they are enabled.
        names = [plugin.name for plugin in enabled]
        for hook in point.hooks:
            wrapping = self._implementations.wrapper_names(hook)
            wrappers[hook] = [name for name in names if name in wrapping]
        return wrappers

    def _hooks(
        self, point: ExtensionPoint, plugin: str, wrappers: Mapping[str, Sequence[str]]
    ) -> Mapping[str, HookFunction]:
        hooks: dict[str, HookFunction] = {}
        for hook in point.hooks:
            function = self._implementations.compile(
                hook, plugin, wrappers[hook], self._guards
            )
            if function is not None:
                hooks[hook] = function
        for scalar, twin in point.twins.items():
            # The scalar hook defines the result: it judges nominated nodes and verifies
            # the twin.
            if twin in hooks and scalar not in hooks:
                raise self._error(plugin, f"has {twin!r} without {scalar!r}")
            # A wrapper around the scalar hook must run for every single call.
            if wrappers[scalar]:
                hooks.pop(twin, None)
        return hooks

    def _pod_use(self, plugin: str, wrappers: Sequence[str]) -> PodUse:
        """Return the plugin's declaration; PODS if wrappers may read pods."""
        use = getattr(self._plugins[plugin], "pod_use", PodUse.PODS)
        if not isinstance(use, PodUse):
            expected = f"expected a PodUse, got {use!r}"
            raise self._error(plugin, f"pod_use: {expected}")
        return PodUse.PODS if wrappers else use

    def _scope(self, plugin: str) -> Scope:
        scope = getattr(self._plugins[plugin], "scope", Scope.CLUSTER)
        if not isinstance(scope, Scope):
            raise self._error(plugin, f"scope: expected a Scope, got {scope!r}")
        return scope

    def _has_trials(self, plugin: str) -> bool:
        """Whether a plugin has hooks for trials with other pods."""
        return self._has(plugin, ("add_pod", "remove_pod"))

    def _is_cacheable(self, plugin: str) -> bool:
        """Whether answers of a plugin may be cached.

        They may not if a wrapper must run for every call. If a plugin reads all nodes,
        only its scores may be cached.
        """
        scope = self._scope(plugin)
        # Its answers may change with anything, so no revision shows when.
        if scope is Scope.CLUSTER:
            return False
        if scope is Scope.NODES and self._has(plugin, _NARROW_HOOKS):
            return False
        return not self._is_wrapped(plugin)

    def _is_wrapped(self, plugin: str) -> bool:
        """Whether a wrapper must run for every call of a plugin."""
        return any(
            self._implementations.wrapper_names(hook)
            for hook in (*_NARROW_HOOKS, "score", "normalize_score")
            if self._has(plugin, (hook,))
        )

    def _has(self, plugin: str, hooks: Sequence[str]) -> bool:
        return any(self._implementations.has(hook, plugin) for hook in hooks)

    def _events(self, name: str) -> Sequence[ClusterEventWithHint] | None:
        register = self._implementations.compile(
            "events_to_register", name, guards=self._quiet
        )
        if register is None:
            return None
        events: Sequence[ClusterEventWithHint] | Status = register()
        if isinstance(events, Status):
            problem = f"events_to_register failed: {events.message}"
            raise self._error(name, problem) from events.error
        for event in events:
            problem = event_problem(event, self._followed)
            if problem:
                raise self._error(name, f"events_to_register {problem}")
        if events and not self._has(name, _FAILING_HOOKS):
            raise self._error(name, _NO_REJECTIONS)
        # Allowed, as upstream allows it, but mostly a mistake that only shows as pods
        # that wait for minutes.
        sleeps = not events and self._has(name, REJECTING_HOOKS)
        if sleeps and not opens_gates_itself(self._plugins[name]):
            _log.warning("%s: %s", self._registry.describe(name), _SLEEPS)
        return events

    def _sign(self, guards: HookGuards) -> Mapping[str, HookFunction]:
        hooks = {
            name: self._implementations.compile("sign_pod", name, guards=guards)
            for name in self._plugins
        }
        return {name: sign for name, sign in hooks.items() if sign is not None}

    def _skips(self, cacheable: Container[str]) -> Mapping[str, HookFunction]:
        """Return the ``skips_depend_on`` of plugins that run in each attempt.

        Plugins whose answers are cached by signature do not need it. A wrapper must run
        for every call, so wrapped plugins have none.
        """
        hooks: dict[str, HookFunction] = {}
        for name in self._plugins:
            if name in cacheable or self._is_wrapped(name):
                continue
            hook = self._implementations.compile(
                "skips_depend_on", name, guards=self._guards
            )
            if hook is not None:
                hooks[name] = hook
        return hooks

    def _placement_feasible(self) -> Sequence[tuple[str, HookFunction]]:
        """Return this hook of every plugin, wherever the profile enables the plugin.

        Mirrors the end of ``NewFramework`` (Kubernetes v1.37,
        ``pkg/scheduler/framework/runtime/framework.go``).
        """
        if not self._config.kubernetes.enabled("GenericWorkload"):
            return ()
        hook = "placement_feasible"
        wrapping = self._implementations.wrapper_names(hook)
        wrappers = [name for name in self._plugins if name in wrapping]
        compiled = (
            (name, self._implementations.compile(hook, name, wrappers, self._guards))
            for name in self._plugins
        )
        return [(name, function) for name, function in compiled if function is not None]

    def _break_tie(self) -> HookFunction | None:
        name = self._config.tie_breaking_plugin
        if not name:
            return None
        hook = "break_tie"
        wrapping = self._implementations.wrapper_names(hook)
        wrappers = [plugin for plugin in self._plugins if plugin in wrapping]
        function = self._implementations.compile(hook, name, wrappers, self._guards)
        if function is None:
            problem = f"is the tie breaker but has no hook {hook!r}"
            raise self._error(name, problem)
        return function

    def _error(self, plugin: str, problem: str) -> ProfileError:
        where = self._registry.describe(plugin)
        return ProfileError(self._config.scheduler_name, where, problem)
