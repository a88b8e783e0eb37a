"""The target of a change, in kubectl's notation: ``deploy/web``."""

import difflib
from typing import Self

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.kinds import KINDS, OPERATOR_KINDS
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.changes.change import ChangeError
from quaymaster._studies.simulation.kinds import kind_fits

__all__ = ["Target"]


@attrs.frozen(kw_only=True)
class Target:
    """An object by kind and name.

    Attributes:
        kind: The kind, by any of kubectl's names: ``deploy``, ``Deployment``,
            ``deployments.apps``.
        name: The object's name.
        namespace: Its namespace; empty: the only one with such an object.
    """

    kind: str
    name: str
    namespace: str = ""

    @classmethod
    def parse(cls, text: str, namespace: str = "", change: str = "") -> Self:
        """Read ``KIND/NAME`` or ``NAMESPACE/KIND/NAME``.

        Args:
            text: The text.
            namespace: The namespace if the text has none; empty: any.
            change: The change, for errors; by default, the text.

        Raises:
            ChangeError: It has another form.
        """
        parts = text.split("/")
        if not all(parts) or len(parts) not in (2, 3):
            expected = "expected KIND/NAME or NAMESPACE/KIND/NAME, such as deploy/web"
            raise ChangeError(change or f"'{text}'", expected)
        own = parts.pop(0) if len(parts) == 3 else namespace
        return cls(kind=parts[0], name=parts[1], namespace=own)

    def __str__(self) -> str:
        return "/".join(filter(None, (self.namespace, self.kind, self.name)))

    def find(
        self, cluster: InMemoryCluster, change: object, kinds: KindSet | None = None
    ) -> ApiObject:
        """Return the object.

        Args:
            cluster: The cluster.
            change: The change, for errors.
            kinds: The kinds of plugins and packages, or None.

        Raises:
            ChangeError: No object matches, or several do.
        """
        kind = self._class(change, kinds)
        there = list(cluster.list(kind).items)
        matches = [obj for obj in there if obj.name == self.name and self._is_in(obj)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = ", ".join(obj.namespace for obj in matches)
            problem = f"{len(matches)} namespaces have it: {names}; name one"
            raise ChangeError(str(change), f"{self}: {problem}")
        raise ChangeError(str(change), self._missing(kind, there))

    def _class(self, change: object, kinds: KindSet | None) -> type[ApiObject]:
        own = OPERATOR_KINDS if kinds is None else kinds.custom
        for kind in (*KINDS.values(), *own):
            if kind_fits(self.kind, kind.kind, kind.api_version):
                return kind
        names = ", ".join(sorted(kind.kind.lower() for kind in (*KINDS.values(), *own)))
        problem = f"there is no kind '{self.kind}' (known: {names})"
        raise ChangeError(str(change), problem)

    def _is_in(self, obj: ApiObject) -> bool:
        return not obj.namespaced or self.namespace in ("", obj.namespace)

    def _missing(self, kind: type[ApiObject], there: list[ApiObject]) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        names = [obj.name for obj in there if self._is_in(obj)]
        near = difflib.get_close_matches(self.name, names, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"there is no {kind.kind} '{self.name}'{where}{hint}"
