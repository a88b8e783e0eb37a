"""Kinds of objects that the plugins live by."""

from typing import ClassVar

from quaymaster import ApiObject
from quaymaster.objects import ApiValue


class RackSpec(ApiValue, frozen=True, kw_only=True):
    """What a rack can take."""

    max_pods: int = 0
    tags: tuple[str, ...] = ()


class RackStatus(ApiValue, frozen=True, kw_only=True):
    """What is said of a rack."""

    pods: int = 0


class Rack(ApiObject, frozen=True, kw_only=True):
    """Some nodes in one place."""

    api_version: ClassVar[str] = "racks.acme.example/v1"
    kind: ClassVar[str] = "Rack"
    plural: ClassVar[str] = "racks"
    namespaced: ClassVar[bool] = False

    spec: RackSpec = RackSpec()
    status: RackStatus = RackStatus()


class Shelf(ApiObject, frozen=True, kw_only=True):
    """A kind without a plugin of its own."""

    api_version: ClassVar[str] = "racks.acme.example/v1"
    kind: ClassVar[str] = "Shelf"
    plural: ClassVar[str] = "shelves"
