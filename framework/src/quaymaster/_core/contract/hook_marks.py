"""The marks of hooks: in the contract, and in the plugins that implement them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, overload

import attrs
import pluggy

from quaymaster._base.versions.kubernetes import KUBERNETES_VERSIONS

if TYPE_CHECKING:
    from quaymaster._core.contract.typed_marks import TypedMarks
else:
    TypedMarks = object

__all__ = [
    "PROJECT",
    "DeprecatedHookWarning",
    "Deprecation",
    "HookAge",
    "age_of",
    "first_kubernetes",
    "hookimpl",
    "hookspec",
    "since_kubernetes",
]

PROJECT: Final = "quaymaster"

HookT = TypeVar("HookT", bound=Callable[..., Any])

_AGE: Final = f"{PROJECT}_age"
_KUBERNETES: Final = f"{PROJECT}_since_kubernetes"


class DeprecatedHookWarning(FutureWarning):
    """A plugin implements a hook that a later version will no longer call."""


@attrs.frozen(kw_only=True)
class Deprecation:
    """The announced removal of a hook.

    Attributes:
        since: The version that announced it.
        until: The version that removes the hook; earlier versions still call it.
        instead: The replacement, as the end of a sentence: ``use 'score'``.
    """

    since: str
    until: str
    instead: str

    def __str__(self) -> str:
        """The announcement."""
        return (
            f"deprecated since {self.since}, gone in {self.until}; {self.instead} "
            "instead"
        )


@attrs.frozen(kw_only=True)
class HookAge:
    """The version that added a hook, and its deprecation.

    Attributes:
        since: The version that added it.
        deprecated: Its announced removal, or None.
    """

    since: str
    deprecated: Deprecation | None = None


def hookspec(
    *, since: str, deprecated: Deprecation | None = None
) -> Callable[[HookT], HookT]:
    """Mark a hook.

    The framework calls plugins one by one. So every call returns the result of a single
    plugin, also to a ``hookimpl(wrapper=True)``.

    Args:
        since: The version that added the hook.
        deprecated: Its announced removal, or None.
    """
    mark = pluggy.HookspecMarker(PROJECT)

    def marked(hook: HookT) -> HookT:
        setattr(hook, _AGE, HookAge(since=since, deprecated=deprecated))
        return mark(hook, firstresult=True)

    return marked


def age_of(hook: object) -> HookAge:
    """Return the age of a hook that `hookspec` has marked."""
    age: HookAge = getattr(hook, _AGE)
    return age


class HookMark:
    """Marks a method that implements a hook, with options.

    Args:
        options: The options of pluggy's mark.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._mark = pluggy.HookimplMarker(PROJECT)
        self._options = options

    def __call__(self, method: HookT, /) -> HookT:
        """Mark a method."""
        return self._mark(method, **self._options)


class HookMarker(TypedMarks):
    """Marks methods that implement hooks.

    ``@hookimpl`` marks any hook; ``quaymaster.mypy`` checks its types. An attribute
    with the name of a hook, ``@hookimpl.filter``, marks that hook, and every type
    checker compares arguments and result with the hookspec.
    """

    @overload
    def __call__(self, function: HookT) -> HookT: ...

    @overload
    def __call__(
        self,
        *,
        wrapper: Literal[True],
        tryfirst: bool = ...,
        trylast: bool = ...,
        optionalhook: bool = ...,
        specname: str | None = ...,
    ) -> Callable[[HookT], HookT]: ...

    @overload
    def __call__(
        self,
        *,
        hookwrapper: bool = ...,
        tryfirst: bool = ...,
        trylast: bool = ...,
        optionalhook: bool = ...,
        specname: str | None = ...,
    ) -> HookMark: ...

    def __call__(
        self,
        function: Any = None,
        *,
        wrapper: bool = False,
        hookwrapper: bool = False,
        tryfirst: bool = False,
        trylast: bool = False,
        optionalhook: bool = False,
        specname: str | None = None,
    ) -> Any:
        """Mark a method, or return a mark with options; see pluggy's documentation."""
        mark = HookMark(
            {
                "wrapper": wrapper,
                "hookwrapper": hookwrapper,
                "tryfirst": tryfirst,
                "trylast": trylast,
                "optionalhook": optionalhook,
                "specname": specname,
            }
        )
        return mark if function is None else mark(function)

    if not TYPE_CHECKING:

        def __getattr__(self, hook: str) -> Callable[[HookT], HookT]:
            if hook not in _hook_names():
                # Only a mistake needs it.
                from quaymaster._base.suggestions import did_you_mean  # noqa: PLC0415

                hint = did_you_mean(hook, _hook_names())
                message = f"no hook is called {hook!r}{hint}"
                raise AttributeError(message, name=hook, obj=self)

            def mark(method: HookT) -> HookT:
                name = getattr(method, "__name__", hook)
                if name != hook:
                    raise TypeError(f"@hookimpl.{hook} marks a method named {name!r}")
                return self(method)

            return mark


def _hook_names() -> frozenset[str]:
    # The extension points need the marks of this module.
    from quaymaster._core.contract.extension_points import EXTENSION_POINTS  # noqa: PLC0415

    return frozenset(hook for point in EXTENSION_POINTS for hook in point.hooks)


hookimpl: Final = HookMarker()
"""Marks a method that implements a hook; see pluggy's documentation for options.

``@hookimpl.filter`` marks the hook ``filter`` so that type checkers compare the method
with its hookspec; so do the names of all hooks.
"""


def since_kubernetes(version: str) -> Callable[[HookT], HookT]:
    """Mark an implementation that schedulers of an older Kubernetes do not have.

    Profiles for an older Kubernetes do not list the plugin at that extension point.

    Args:
        version: The first Kubernetes that has it, such as ``1.37``.
    """

    def marked(hook: HookT) -> HookT:
        setattr(hook, _KUBERNETES, version)
        return hook

    return marked


def first_kubernetes(hook: object) -> str:
    """Return the first Kubernetes that has an implementation of a hook."""
    version: str = getattr(hook, _KUBERNETES, KUBERNETES_VERSIONS[0])
    return version
