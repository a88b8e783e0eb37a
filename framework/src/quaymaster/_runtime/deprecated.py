"""Warns of plugins that implement deprecated hooks."""

import warnings
from collections.abc import Iterable

import pluggy

from quaymaster._contract.hook_marks import DeprecatedHookWarning
from quaymaster._contract.hookspecs import EXTENSION_POINTS

__all__ = ["warn_of_deprecated_hooks"]


def warn_of_deprecated_hooks(
    callers: Iterable[pluggy.HookCaller], name: str, described: str
) -> None:
    """Warn of the deprecated hooks that a plugin implements, or wraps.

    A warning belongs to the line of the hook, and is shown once in a process, however
    often the plugin is built.

    Args:
        callers: The hooks of the plugin, as pluggy has registered them.
        name: The plugin's name in its profile.
        described: The plugin, for messages.
    """
    ages = {hook: point.age(hook) for point in EXTENSION_POINTS for hook in point.hooks}
    for caller in callers:
        deprecated = ages[caller.name].deprecated
        if deprecated is None:
            continue
        for impl in caller.get_hookimpls():
            if impl.plugin_name == name:
                message = f"{described}: hook {caller.name!r} is {deprecated}"
                _warn(message, impl.function)


def _warn(message: str, function: object) -> None:
    code = getattr(function, "__code__", None)
    warnings.warn_explicit(
        message,
        DeprecatedHookWarning,
        filename=code.co_filename if code else "<unknown>",
        lineno=code.co_firstlineno if code else 0,
        module=getattr(function, "__module__", None),
        # Where Python itself notes what it has shown of a module.
        registry=getattr(function, "__globals__", {}).setdefault(
            "__warningregistry__", {}
        ),
    )
