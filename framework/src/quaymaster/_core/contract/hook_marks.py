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
    """A plugin implements a hook that a later version will not call any more."""


@attrs.frozen(kw_only=True)
class Deprecation:
    """The end of a hook, announced.

    Attributes:
        since: The version that announced it.
        until: The version in which the hook will be gone; it is called before.
        instead: What a plugin does instead, as the end of a sentence: ``use 'score'``.
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
    """How long a hook has been there, and how long it will be.

    Attributes:
        since: The version that it came with.
        deprecated: Its end, if that is announced.
    """

    since: str
    deprecated: Deprecation | None = None


def hookspec(
    *, since: str, deprecated: Deprecation | None = None
) -> Callable[[HookT], HookT]:
    """Mark a hook.

    The framework calls plugins one by one, so every call, and with it what a
    ``hookimpl(wrapper=True)`` sees, is the answer of a single plugin.

    Args:
        since: The version that the hook came with.
        deprecated: Its end, if that is announced.
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

    The plugin is not listed at that extension point in profiles for an older one.

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
