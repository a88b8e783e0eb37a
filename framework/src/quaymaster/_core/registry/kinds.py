"""The kinds of objects that plugins and packages add.

A plugin's class declares ``kinds = (PodGroup,)``. A distribution that has kinds and no
plugin offers each kind in the entry-point group ``quaymaster.kinds``.
"""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_checks import kind_problem
from quaymaster._base.errors import KindError
from quaymaster._base.raised import describe_exception, is_from_outside
from quaymaster._core.registry.offers import Offer

__all__ = ["KIND_GROUP", "RegisteredKind", "kinds_of_plugin", "kinds_problem"]

KIND_GROUP: Final = "quaymaster.kinds"
"""The entry-point group of kinds."""


@attrs.frozen(kw_only=True, eq=False)
class RegisteredKind:
    """A kind that an installed distribution offers; imported when first needed.

    Attributes:
        name: The entry point's name.
        owner: The distribution with its version.
        origin: The location of the class: ``package.module:Class``.
    """

    name: str
    owner: str = ""
    origin: str
    _find: Callable[[], object] = attrs.field(repr=False)

    @classmethod
    def from_offer(cls, offer: Offer) -> "RegisteredKind":
        """Return the kind of an entry point."""
        entry, owner = offer.entry, offer.owner
        return cls(name=entry.name, owner=owner, origin=entry.value, find=entry.load)

    @classmethod
    def from_class(cls, kind: type[ApiObject]) -> "RegisteredKind":
        """Return a kind that no entry point offers."""
        origin = f"{kind.__module__}:{kind.__qualname__}"
        return cls(name=kind.kind, origin=origin, find=lambda: kind)

    def load(self) -> type[ApiObject]:
        """Import the class.

        Raises:
            KindError: It cannot be imported, or is not a kind.
        """
        try:
            kind = self._find()
        except BaseException as error:
            if is_from_outside(error):
                raise
            problem = f"could not be imported: {describe_exception(error)}"
            raise self._error(problem) from error
        problem = kind_problem(kind)
        if problem or not (isinstance(kind, type) and issubclass(kind, ApiObject)):
            raise self._error(problem)
        return kind

    def _error(self, problem: str) -> KindError:
        where = f"kind {self.name!r} ({self.owner}), entry point {self.origin!r}"
        return KindError(f"{where}: {problem}")


def kinds_of_plugin(plugin: type) -> Sequence[type[ApiObject]]:
    """Return the kinds that a plugin's class declares; they must have been checked."""
    declared: Sequence[type[ApiObject]] = getattr(plugin, "kinds", ())
    return declared


def kinds_problem(plugin: type) -> str:
    """Describe the error in the kinds that a plugin's class declares, or empty.

    Args:
        plugin: The class.
    """
    declared: object = getattr(plugin, "kinds", ())
    if not isinstance(declared, (tuple, list)):
        return f"kinds: expected a tuple of classes, got {declared!r}"
    problems = (kind_problem(kind) for kind in declared)
    return next((f"kinds: {problem}" for problem in problems if problem), "")
