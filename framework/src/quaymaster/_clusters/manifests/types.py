"""The type that an object names: apiVersion and kind."""

from typing import Final, NamedTuple

from quaymaster._api.objects import KINDS

__all__ = ["UNTYPED", "ObjectType"]


class ObjectType(NamedTuple):
    """The type that an object names: apiVersion and kind."""

    api_version: str
    kind: str

    @property
    def item_type(self) -> "ObjectType | None":
        """The type of a list's items that name none; None if this is not a list."""
        if self.kind in KINDS or not self.kind.endswith("List"):
            return None
        kind = self.kind.removesuffix("List")
        return ObjectType(self.api_version if kind else "", kind)

    def __str__(self) -> str:
        return f"{self.kind} ({self.api_version})"


UNTYPED: Final = ObjectType("", "")
