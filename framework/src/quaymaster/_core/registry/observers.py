"""The observers of hooks that installed distributions offer.

Each is a class, or a function, in the entry-point group ``quaymaster.observers``. It is
called without arguments, once for each scheduler.
"""

from collections.abc import Callable
from typing import Final, cast

import attrs

from quaymaster._base.errors import ObserverError
from quaymaster._base.raised import describe_exception, is_from_outside
from quaymaster._core.contract.hook_calls import HookObserver
from quaymaster._core.registry.offers import Offer

__all__ = ["OBSERVER_GROUP", "RegisteredObserver"]

OBSERVER_GROUP: Final = "quaymaster.observers"
"""The entry-point group of observers of hooks."""


@attrs.frozen(kw_only=True, eq=False)
class RegisteredObserver:
    """An observer that an installed distribution offers; imported when first needed.

    Attributes:
        name: The entry point's name.
        owner: The distribution with its version.
        origin: Its location: ``package.module:Class``.
    """

    name: str
    owner: str = ""
    origin: str
    _find: Callable[[], Callable[[], object]] = attrs.field(repr=False)

    @classmethod
    def from_offer(cls, offer: Offer) -> "RegisteredObserver":
        """Return the observer of an entry point."""
        entry, owner = offer.entry, offer.owner
        return cls(name=entry.name, owner=owner, origin=entry.value, find=entry.load)

    def make(self) -> HookObserver:
        """Build an observer.

        Raises:
            ObserverError: It cannot be imported or built, or is not an observer.
        """
        try:
            observer = self._find()()
        except BaseException as error:
            if is_from_outside(error):
                raise
            problem = f"could not be built: {describe_exception(error)}"
            raise self._error(problem) from error
        if not callable(getattr(observer, "called", None)):
            expected = "expected an object with a method 'called'"
            raise self._error(f"{expected}, got {observer}")
        return cast(HookObserver, observer)

    def _error(self, problem: str) -> ObserverError:
        where = f"observer {self.name!r} ({self.owner}), entry point {self.origin!r}"
        return ObserverError(f"{where}: {problem}")
