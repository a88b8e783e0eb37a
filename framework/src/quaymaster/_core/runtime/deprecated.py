"""Warns of plugins that implement deprecated hooks."""

import warnings
from collections.abc import Callable

from quaymaster._core.contract.extension_points import EXTENSION_POINTS
from quaymaster._core.contract.hook_marks import DeprecatedHookWarning
from quaymaster._core.runtime.manager import HookManager

__all__ = ["warn_of_deprecated_hooks"]


def warn_of_deprecated_hooks(
    manager: HookManager, describe: Callable[[str], str]
) -> None:
    """Warn of the deprecated hooks that plugins implement or wrap.

    The location of a warning is the line of the hook. It is shown once in a process,
    however often the plugin is built.

    Args:
        manager: The plugins of a profile.
        describe: Returns the description of a plugin for messages, by its name.
    """
    for point in EXTENSION_POINTS:
        for hook in point.hooks:
            deprecated = point.age(hook).deprecated
            if deprecated is not None:
                for implementation in manager.implementations(hook):
                    described = describe(implementation.plugin)
                    message = f"{described}: hook {hook!r} is {deprecated}"
                    _warn(message, implementation.function)


def _warn(message: str, function: object) -> None:
    code = getattr(function, "__code__", None)
    warnings.warn_explicit(
        message,
        DeprecatedHookWarning,
        filename=code.co_filename if code else "<unknown>",
        lineno=code.co_firstlineno if code else 0,
        module=getattr(function, "__module__", None),
        # Python keeps the warnings that it has shown of a module here.
        registry=getattr(function, "__globals__", {}).setdefault(
            "__warningregistry__", {}
        ),
    )
