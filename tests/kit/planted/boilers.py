"""Plugins with arguments that change nothing."""

from collections.abc import Iterator
from typing import ClassVar

import attrs

from quaymaster import Handle, NodeInfo, Status, hookimpl
from quaymaster.config import ArgsError

__all__ = ["ChecksValves", "DerivesHeat", "HasABoiler", "StoresSteam"]

WET = Status.unresolvable("the node is wet")


@attrs.frozen(kw_only=True)
class _PumpArgs:
    """The settings of pumps."""

    may_be_wet: bool = False


class _Pumps:
    """Keeps pods away from wet nodes."""

    Args: ClassVar[type] = _PumpArgs

    def __init__(self, args: _PumpArgs, handle: Handle) -> None:
        self.may_be_wet = args.may_be_wet

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return WET if "wet" in node.labels and not self.may_be_wet else None


@attrs.frozen(kw_only=True)
class StoringArgs(_PumpArgs):
    """The same, with an argument that only the constructor reads."""

    stored_steam: int = 3


class StoresSteam(_Pumps):
    """Keeps a number that nothing reads."""

    Args: ClassVar[type] = StoringArgs

    def __init__(self, args: StoringArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.steam: int = max(args.stored_steam, 0)


@attrs.frozen(kw_only=True)
class CheckingArgs(_PumpArgs):
    """The same, with an argument that only the configuration reads."""

    checked_valves: int = 3

    def validate(self) -> Iterator[ArgsError]:
        """Check the number."""
        if self.checked_valves < 0:
            yield ArgsError("checkedValves", "expected 0 or more")


class ChecksValves(_Pumps):
    """Has an argument that is validated, and not used."""

    Args: ClassVar[type] = CheckingArgs


@attrs.frozen(kw_only=True)
class DerivingArgs(_PumpArgs):
    """The same, with a property that nothing reads."""

    degrees_of_steam: int = 3

    @property
    def is_steam_hot(self) -> bool:
        """Whether steam is hot."""
        return self.degrees_of_steam > 100


class DerivesHeat(_Pumps):
    """Does not read the property."""

    Args: ClassVar[type] = DerivingArgs


@attrs.frozen(kw_only=True)
class BoilerArgs:
    """The settings of boilers.

    Attributes:
        may_be_wet: Whether nodes may be wet.
        boiler_litres: A boiler gets it.
        seconds_of_ticks: The time between two timers.
    """

    may_be_wet: bool = False
    boiler_litres: int = 3
    seconds_of_ticks: int = 20


class Boiler:
    """Forgets its size."""

    def __init__(self, litres: int) -> None:
        self.is_large = litres >= 0  # the mistake: all are


class HasABoiler(_Pumps):
    """Uses all its arguments, but one of them changes nothing."""

    Args: ClassVar[type] = BoilerArgs

    def __init__(self, args: BoilerArgs, handle: Handle) -> None:
        self.may_be_wet = args.may_be_wet
        self.boiler = Boiler(args.boiler_litres)
        self.seconds, self.handle = args.seconds_of_ticks, handle

    @hookimpl
    def start(self) -> None:
        self.handle.clock.call_later(self.seconds, self.start, background=True)

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        is_fit = self.may_be_wet or not self.boiler.is_large
        return WET if "wet" in node.labels and not is_fit else None
