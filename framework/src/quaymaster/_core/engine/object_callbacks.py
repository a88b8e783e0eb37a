"""The callbacks that plugins register for changes of objects.

Mirrors ``AddEventHandler`` of client-go's shared informers (v0.37.2,
``tools/cache/shared_informer.go``), but on one thread: a callback returns before the
queue and the next attempt see the change.
"""

import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar

from quaymaster._api.objects import ApiObject
from quaymaster._base.errors import PluginError
from quaymaster._core.contract.informers import Informers, ObjectCallback
from quaymaster._core.contract.status import Status
from quaymaster._core.runtime.guards import HookGuards

__all__ = ["ObjectCallbacks", "PluginInformers"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_HOOK: Final = "on_change"
_ARGUMENTS: Final = ("old", "new")
_WRONG_THREAD: Final = (
    "on_change: called on another thread, expected the scheduling thread: call it in "
    "the constructor or in start, not in a task of run_in_background"
)


class _Registration:
    """One callback of one plugin.

    Args:
        key: What distinguishes it from others: the plugin, the kind, its own function.
        kind: The class of the objects.
        callback: The guarded callback.

    Attributes:
        key: As above.
        kind: The class of the objects.
        is_ended: Whether no more calls are made.
    """

    __slots__ = ("_callback", "_end", "is_ended", "key", "kind")

    def __init__(
        self,
        key: tuple[object, ...],
        kind: type[ApiObject],
        callback: ObjectCallback[ApiObject],
    ) -> None:
        self.key = key
        self.kind = kind
        self._callback = callback
        self._end: Callable[[], None] | None = None
        self.is_ended = False

    def begin(self, informers: Informers) -> None:
        """Deliver the existing objects, and from now on every change."""
        if not self.is_ended:
            self._end = informers.on_change(self.kind, self._pass_on)

    def end(self) -> None:
        """Make no more calls."""
        self.is_ended = True
        if self._end is not None:
            self._end()

    def _pass_on(self, old: ApiObject | None, new: ApiObject | None) -> None:
        # A callback may end itself, or others, while objects are being delivered.
        if not self.is_ended:
            self._callback(old, new)


class ObjectCallbacks:
    """The callbacks of the plugins of one profile.

    Those that are registered before `begin` wait for it: a plugin whose profile is
    built, but never used, gets no call.

    Args:
        informers: The engine's copy of the cluster.
        guards: Compile the callbacks like hooks, and report those that fail.
        is_own_thread: Whether the calling thread is the engine's.
    """

    def __init__(
        self,
        informers: Informers,
        guards: HookGuards,
        is_own_thread: Callable[[], bool],
    ) -> None:
        self._informers = informers
        self._guards: HookGuards | None = guards
        self._is_own_thread = is_own_thread
        self._has_begun = False
        # A dict, because it keeps the order and removes an entry quickly.
        self._registrations: dict[_Registration, None] = {}

    @property
    def kinds(self) -> frozenset[type[ApiObject]]:
        """The kinds that have callbacks."""
        return frozenset(registration.kind for registration in self._registrations)

    def begin(self) -> None:
        """Deliver the existing objects as added, and then all changes; once."""
        if self._has_begun:
            return
        self._has_begun = True
        for registration in list(self._registrations):
            registration.begin(self._informers)

    def retire(self) -> None:
        """End all callbacks, and register no more.

        Objects that later profiles share may keep the informers of a plugin. So drop
        the guards, through which those would keep the plugins of this profile.
        """
        self._guards = None
        for registration in self._registrations:
            registration.end()
        self._registrations.clear()

    def add(
        self, plugin: str, kind: type[ObjT], callback: ObjectCallback[ObjT]
    ) -> Callable[[], None]:
        """Register a callback; see `quaymaster.Informers.on_change`.

        Args:
            plugin: The plugin's name.
            kind: The class of the objects.
            callback: The plugin's function.

        Returns:
            A function that ends the calls.
        """
        if not self._is_own_thread():
            raise RuntimeError(_WRONG_THREAD)
        _check(kind, callback)
        self._informers.get(kind, "")  # raises for a kind that is not followed
        key = (plugin, kind, callback)
        if any(registration.key == key for registration in self._registrations):
            once = "call on_change once, in the constructor or in start"
            text = f"on_change({kind.__name__}): the callback is registered already"
            raise RuntimeError(f"{text}: {once}")
        if self._guards is None:
            return _end_nothing
        guarded = _guarded(self._guards, plugin, callback)
        registration = _Registration(key, kind, guarded)

        def end() -> None:
            registration.end()
            self._registrations.pop(registration, None)

        self._registrations[registration] = None
        if self._has_begun:
            registration.begin(self._informers)
        return end


class PluginInformers:
    """The informers of one plugin; implements `quaymaster.Informers`.

    Args:
        plugin: The plugin's name.
        informers: The engine's copy of the cluster.
        callbacks: The callbacks of the plugin's profile.
    """

    def __init__(
        self, plugin: str, informers: Informers, callbacks: ObjectCallbacks
    ) -> None:
        self._plugin = plugin
        self._callbacks = callbacks
        # The methods of the engine's informers themselves: hooks call them for each
        # pod, and a method in between would take longer than the look-up.
        self.get = informers.get
        self.list = informers.list
        self.changes = informers.changes
        self.index = informers.index

    def on_change(
        self, kind: type[ObjT], callback: ObjectCallback[ObjT]
    ) -> Callable[[], None]:
        """See `quaymaster.Informers.on_change`."""
        return self._callbacks.add(self._plugin, kind, callback)


def _end_nothing() -> None:
    """Do nothing: no callback is registered."""


def _guarded(
    guards: HookGuards, plugin: str, callback: Callable[..., object]
) -> ObjectCallback[Any]:
    """Return a callback that never raises; failures are reported as of a hook."""
    compiled = guards.compile(plugin, _HOOK, _ARGUMENTS, _ARGUMENTS, callback)
    failed = guards.failed

    def call(old: ApiObject | None, new: ApiObject | None) -> None:
        answer = compiled(old, new)
        if answer is None or not isinstance(answer, Status):
            return
        # The guard reports exceptions; a broken contract is only answered.
        if isinstance(answer.error, PluginError):
            failed(plugin, _HOOK, "", answer.error)

    return call


def _check(kind: object, callback: object) -> None:
    """Reject what is not a kind or cannot be its callback.

    Raises:
        TypeError: The kind is not a class of objects, or the callback cannot be called
            with the object before and after a change.
    """
    if not (isinstance(kind, type) and issubclass(kind, ApiObject)):
        raise TypeError(f"on_change: expected a class of objects, got {kind!r}")
    where = f"on_change({kind.__name__})"
    if not callable(callback):
        got = type(callback).__name__
        raise TypeError(f"{where}: expected a function of (old, new), got {got}")
    if inspect.iscoroutinefunction(callback) or inspect.isgeneratorfunction(callback):
        raise TypeError(f"{where}: expected a plain function, got one that is async")
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # not written in Python
        return
    try:
        signature.bind(*_ARGUMENTS)
    except TypeError as error:
        problem = f"the callback cannot be called with (old, new): {error}"
        raise TypeError(f"{where}: {problem}") from None
