"""From pluggy's implementations to plain functions.

A generic multicall costs more than many hooks themselves (measured: 12 to 18 times a
direct call). So each hook of each plugin is taken out of the plugin manager once, when
the profile is built, as a function of all the hook's arguments by position.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import pluggy

from quaymaster._runtime.guards import Guard
from quaymaster._runtime.profile import HookFunction

__all__ = ["compile_hook", "wrapper_names"]


def wrapper_names(manager: pluggy.PluginManager, hook: str) -> set[str]:
    """The names of the plugins that wrap a hook instead of implementing it."""
    return {
        impl.plugin_name
        for impl in getattr(manager.hook, hook).get_hookimpls()
        if impl.wrapper or impl.hookwrapper
    }


def compile_hook(
    manager: pluggy.PluginManager,
    hook: str,
    plugin: str,
    wrappers: Sequence[str],
    guards: Sequence[Guard] = (),
) -> HookFunction | None:
    """Take one plugin's implementation of a hook out of the manager.

    Args:
        manager: The profile's plugin manager.
        hook: The hook's name.
        plugin: The plugin's name.
        wrappers: The plugins whose wrappers go around each call, in profile order.
        guards: What goes around all that, the innermost first.

    Returns:
        A function of the hook's arguments by position; None if the plugin does not
        implement this hook.
    """
    caller: pluggy.HookCaller = getattr(manager.hook, hook)
    impl = next(
        (
            impl
            for impl in caller.get_hookimpls()
            if impl.plugin_name == plugin and not (impl.wrapper or impl.hookwrapper)
        ),
        None,
    )
    if impl is None or caller.spec is None:
        return None
    offered = caller.spec.argnames
    function: HookFunction
    if wrappers:
        function, wanted = _with_wrappers(manager, hook, plugin, wrappers, offered)
    else:
        function, wanted = impl.function, impl.argnames
    for guard in guards:
        function = guard.around(plugin, hook, offered, wanted, function)
        wanted = offered
    return _adapt(function, wanted, offered)


def _adapt(
    function: Callable[..., Any], wanted: Sequence[str], offered: Sequence[str]
) -> HookFunction:
    if list(wanted) == list(offered):
        return function
    return _adapter(tuple(wanted), tuple(offered))(function)


@functools.cache
def _adapter(
    wanted: tuple[str, ...], offered: tuple[str, ...]
) -> Callable[[Callable[..., Any]], HookFunction]:
    # A generated lambda adds 0.03 us to a call; picking arguments at run time, 0.3 us.
    # The names are Python identifiers that pluggy checked against the hookspec.
    call = f"lambda {', '.join(offered)}: function({', '.join(wanted)})"
    adapter: Callable[[Callable[..., Any]], HookFunction]
    adapter = eval(f"lambda function: {call}")
    return adapter


def _with_wrappers(
    manager: pluggy.PluginManager,
    hook: str,
    plugin: str,
    wrappers: Sequence[str],
    offered: Sequence[str],
) -> tuple[HookFunction, Sequence[str]]:
    keep = {plugin, *wrappers}
    others = [
        instance for name, instance in manager.list_name_plugin() if name not in keep
    ]
    caller = manager.subset_hook_caller(hook, others)

    return lambda *args: caller(**dict(zip(offered, args, strict=True))), offered
