"""A plugin that reads tariffs of nodes from a server, and readers that accept more."""

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast
from urllib.request import urlopen

from quaymaster import Handle, NodeInfo, PodUse, Scope, hookimpl
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "TARIFF_MISTAKES", "ReadsTariffs"]

Document = Any
"""As ``json.load`` returns it."""


class Tariffs(Plugin):
    """Correct: reads ``{"n0": {"night": 10, "day": 20}}`` each minute."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.tariffs: Mapping[str, Mapping[str, int]] = {}

    @hookimpl
    def start(self) -> None:
        self.handle.run_in_background(self.fetch, self.arrive)

    def fetch(self) -> Document:
        """Read the tariffs, on a worker; return None after a failure."""
        try:
            with urlopen("http://tariffs.invalid/all", timeout=1) as answer:
                return self.checked(json.load(answer))
        except (OSError, ValueError):
            return None

    def checked(self, document: Document) -> Document:
        """Return a document, if it is valid."""
        if not isinstance(document, dict):
            raise ValueError("expected an object")
        for tariff in document.values():
            if not isinstance(tariff, dict) or set(tariff) != {"night", "day"}:
                raise ValueError("expected a tariff")
            for price in tariff.values():
                self.check_price(price)
        return document

    def check_price(self, price: object) -> None:
        """Check one number."""
        if isinstance(price, bool) or not isinstance(price, int):
            raise ValueError("expected an integer")
        if not 0 <= price <= 100:
            raise ValueError("expected 0 to 100")

    def arrive(self, tariffs: Document) -> None:
        """Receive the tariffs, on the scheduling thread."""
        self.handle.clock.call_later(60, self.start, background=True)
        if tariffs is not None and tariffs != self.tariffs:
            self.tariffs = tariffs
            self.handle.changed()

    @hookimpl
    def sign_pod(self) -> Hashable:
        return ""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        tariff = self.tariffs.get(node.name)
        return 0 if tariff is None else 100 - max(tariff["night"], tariff["day"])


class AcceptsFloats(Tariffs):
    def check_price(self, price: object) -> None:
        if not 0 <= cast(float, price) <= 100:
            raise ValueError("expected 0 to 100")


class AcceptsAnyPrice(Tariffs):
    def check_price(self, price: object) -> None:
        pass


class AcceptsNegativePrices(Tariffs):
    def check_price(self, price: object) -> None:
        if isinstance(price, bool) or not isinstance(price, int):
            raise ValueError("expected an integer")


class AcceptsOtherTariffs(Tariffs):
    """A tariff may lack a price."""

    def checked(self, document: Document) -> Document:
        if not isinstance(document, dict):
            raise ValueError("expected an object")
        for tariff in document.values():
            if not isinstance(tariff, dict):
                raise ValueError("expected a tariff")
            for price in tariff.values():
                self.check_price(price)
        return document


class ExpectsAnObject(Tariffs):
    """A list raises AttributeError in the task, after which nothing is read."""

    def checked(self, document: Document) -> Document:
        for tariff in document.values():
            for price in tariff.values():
                self.check_price(price)
        return document


class ComparesOnArrival(Tariffs):
    """It reads what has arrived before it sets the next timer."""

    def checked(self, document: Document) -> Document:
        return document

    def arrive(self, tariffs: Document) -> None:
        if tariffs is not None:
            tariffs = {name: dict(tariff) for name, tariff in tariffs.items()}
        super().arrive(tariffs)


def _changing(tariffs: Tariffs) -> Document:
    is_odd = tariffs.handle.clock.now() // 60 % 2
    price = 80 if is_odd else 30
    return {"n0": {"night": 10, "day": price}, "n1": {"night": 5, "day": 100 - price}}


def _stubbed(plugin: type[Tariffs]) -> type[Tariffs]:
    """Return a class of a test, which reads no server."""
    members = {"fetch": _changing, "__module__": "stubs"}
    return type(f"Stubbed{plugin.__name__}", (plugin,), members)


OWN = clusters(pods=pods({"labels": {"app": "web"}}))
ReadsTariffs = _stubbed(Tariffs)
TARIFF_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(_stubbed(plugin), ["outside data"], OWN)
    for plugin in (
        AcceptsFloats,
        AcceptsAnyPrice,
        AcceptsNegativePrices,
        AcceptsOtherTariffs,
        ExpectsAnObject,
        ComparesOnArrival,
    )
)
