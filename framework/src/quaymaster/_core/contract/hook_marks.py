"""The marks of hooks: in the contract, and in the plugins that implement them."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import attrs
import pluggy

from quaymaster._base.versions.kubernetes import KUBERNETES_VERSIONS

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


hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a method that implements a hook; see pluggy's documentation for options."""


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
