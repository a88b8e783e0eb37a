"""Plugins with arguments, and the messages for mistakes in their configurations."""

from collections.abc import Iterator
from typing import ClassVar

import attrs
import pytest

from quaymaster import hookimpl
from quaymaster.config import (
    ZERO_MEANS_DEFAULT,
    ArgsError,
    ConfigErrors,
    integer,
    parse_config,
)
from quaymaster.objects import NodeAffinity
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER
from tests.kit.plugins import Bind, Sort

__all__ = [
    "DEFAULTS",
    "REGISTRY",
    "broken",
    "mistakes",
    "mistakes_in",
    "mistakes_in_args",
    "mistakes_in_profile",
]


@attrs.frozen(kw_only=True)
class _Resource:
    name: str
    weight: int = attrs.field(
        default=1, validator=integer(1, 100), metadata=ZERO_MEANS_DEFAULT
    )


@attrs.frozen(kw_only=True)
class _Strategy:
    resources: tuple[_Resource, ...] = ()


@attrs.frozen(kw_only=True)
class _TideArgs:
    scoring_strategy: _Strategy = _Strategy()
    low: int = 0
    high: int = 9
    added_affinity: NodeAffinity | None = None

    def validate(self) -> Iterator[ArgsError]:
        if self.low > self.high:
            yield ArgsError("low", f"expected at most high ({self.high})")


@attrs.frozen(kw_only=True)
class _MoonArgs:
    phase: str


class _OtherSort(Sort): ...


class _Tide:
    Args: ClassVar[type] = _TideArgs

    @hookimpl
    def filter(self) -> None: ...

    @hookimpl
    def score(self) -> None: ...


class _Moon:
    Args: ClassVar[type] = _MoonArgs

    @hookimpl
    def pre_score(self) -> None: ...


def broken() -> None:
    """Is registered as a plugin, but is not a class."""


REGISTRY = PluginRegistry.of(
    {"Sort": Sort, "OtherSort": _OtherSort, "Bind": Bind, "Tide": _Tide, "Moon": _Moon}
)
DEFAULTS = {
    **HEADER,
    "profiles": [
        {
            "plugins": {
                "multiPoint": {
                    "enabled": [{"name": "Sort"}, {"name": "Tide"}, {"name": "Bind"}]
                }
            }
        }
    ],
}


def mistakes(
    document: object,
    registry: PluginRegistry = REGISTRY,
    defaults: object = DEFAULTS,
) -> list[str]:
    """Return every message for a document."""
    with pytest.raises(ConfigErrors) as caught:
        parse_config(document, registry, source="s.yaml", defaults=defaults)
    lines = str(caught.value).splitlines()
    assert lines == [str(problem) for problem in caught.value.problems]
    return lines


def mistakes_in(**fields: object) -> list[str]:
    """Return the messages for a document with these fields, without the file's name."""
    lines = mistakes(HEADER | fields)
    assert all(line.startswith("s.yaml: ") for line in lines)
    return [line.removeprefix("s.yaml: ") for line in lines]


def mistakes_in_profile(**profile: object) -> list[str]:
    """Return the messages for one profile, without its path."""
    lines = mistakes_in(profiles=[profile])
    assert all(line.startswith("profiles[0].") for line in lines)
    return [line.removeprefix("profiles[0].") for line in lines]


def mistakes_in_args(**args: object) -> list[str]:
    """Return the messages for the arguments of Tide, without their path."""
    path = "pluginConfig[0].args."
    lines = mistakes_in_profile(pluginConfig=[{"name": "Tide", "args": args}])
    assert all(line.startswith(path) for line in lines)
    return [line.removeprefix(path) for line in lines]
