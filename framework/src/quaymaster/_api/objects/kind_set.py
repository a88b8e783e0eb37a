"""The kinds that can be read: of Kubernetes, of common operators, and declared ones."""

from collections.abc import Collection, Iterable, Iterator

from quaymaster._api.objects.kind_checks import kind_problem
from quaymaster._api.objects.kinds import (
    KINDS,
    OPERATOR_KINDS,
    group_of,
    plural_of,
)
from quaymaster._api.objects.meta import ApiObject
from quaymaster._base.errors import KindError

__all__ = ["KindSet"]


class KindSet:
    """Classes of kinds, by the ``apiVersion`` and the ``kind`` of objects.

    Iterating yields the declared ones, in order, each once.

    Args:
        declared: The classes of kinds beside those of Kubernetes, or some of these. A
            class of an operator's kind replaces the one that the cluster follows.

    Raises:
        KindError: A class is invalid, or two classes have the same kind.
    """

    def __init__(self, declared: Iterable[type[ApiObject]] = ()) -> None:
        self._declared = tuple(dict.fromkeys(declared))
        self._own: dict[tuple[str, str], type[ApiObject]] = {}
        plurals: dict[tuple[str, str], type[ApiObject]] = {}
        for kind in self._declared:
            problem = kind_problem(kind)
            if problem:
                raise KindError(problem)
            group = group_of(kind.api_version)
            if kind is not KINDS.get(kind.kind):
                _take(self._own, (group, kind.kind), kind)
            _take(plurals, (group, plural_of(kind)), kind)
        self._custom = {
            (group_of(kind.api_version), kind.kind): kind for kind in OPERATOR_KINDS
        } | self._own

    def __iter__(self) -> Iterator[type[ApiObject]]:
        return iter(self._declared)

    @property
    def own(self) -> Collection[type[ApiObject]]:
        """The declared kinds that Kubernetes itself does not have."""
        return self._own.values()

    @property
    def custom(self) -> Collection[type[ApiObject]]:
        """The kinds that Kubernetes itself does not have: of operators, and own."""
        return self._custom.values()

    def find(self, api_version: str, kind: str) -> type[ApiObject] | None:
        """Return the class of objects with these two fields, or None."""
        builtin = KINDS.get(kind)
        if builtin is not None and builtin.api_version == api_version:
            return builtin
        return self.custom_class(api_version, kind)

    def custom_class(self, api_version: str, kind: str) -> type[ApiObject] | None:
        """Return the class of objects of a kind that Kubernetes lacks, or None."""
        custom = self._custom.get((group_of(api_version), kind))
        return (
            custom if custom is not None and custom.api_version == api_version else None
        )

    def convertible_class(self, api_version: str, kind: str) -> type[ApiObject] | None:
        """Return the declared class that converts objects of this version, or None."""
        custom = self._own.get((group_of(api_version), kind))
        if custom is None or api_version not in custom.conversions:
            return None
        return custom

    def declared_as(self, group: str, kind: str) -> type[ApiObject] | None:
        """Return the class of a kind that Kubernetes lacks, in any version, or None."""
        return self._custom.get((group, kind))


def _take(
    kinds: dict[tuple[str, str], type[ApiObject]],
    name: tuple[str, str],
    kind: type[ApiObject],
) -> None:
    first = kinds.setdefault(name, kind)
    if first is not kind:
        raise KindError(
            f"{' of '.join(filter(None, reversed(name)))} is declared by two classes, "
            f"{_origin(first)} and {_origin(kind)}: expected one that all share"
        )


def _origin(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"
