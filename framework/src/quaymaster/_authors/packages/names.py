"""The names of a new plugin, its package and its distribution."""

import builtins
import keyword
import re
from collections.abc import Iterable
from importlib import metadata, util
from typing import Final

import attrs

from quaymaster._base.errors import QuaymasterError

__all__ = ["NameRefusedError", "PluginNames"]

_CAMEL_CASE: Final = re.compile(r"[A-Z]++[a-z0-9][A-Za-z0-9]*")
_LONGEST: Final = 50
"""The longest name of a distribution; longer ones are hard to type."""


class NameRefusedError(QuaymasterError, ValueError):
    """A new plugin cannot have this name.

    Attributes:
        name: The name.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"NAME: {problem}")
        self.name = name


@attrs.frozen
class PluginNames:
    """The names of a plugin: of its class, its package and its distribution.

    Attributes:
        plugin: Its class, and its name in profiles: ``ZoneAllow``.
    """

    plugin: str

    @property
    def words(self) -> str:
        """Its name in lower case: ``zone_allow``."""
        parts = re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])", "_", self.plugin)
        parts = re.sub(r"([0-9])([A-Z][a-z])", r"\1_\2", parts)
        return re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower()

    @property
    def package(self) -> str:
        """Its package: ``quaymaster_zone_allow``."""
        return f"quaymaster_{self.words}"

    @property
    def distribution(self) -> str:
        """Its distribution: ``quaymaster-zone-allow``."""
        return self.package.replace("_", "-")

    def check(self, installed: Iterable[str], taken: Iterable[str]) -> None:
        """Check that a new plugin may have this name.

        Args:
            installed: The names of the plugins that are installed.
            taken: The names that its modules import.

        Raises:
            NameRefusedError: It may not; the message has the expected form.
        """
        problem = self._problem(frozenset(installed), frozenset(taken))
        if problem:
            raise NameRefusedError(self.plugin, problem)

    def _problem(self, installed: frozenset[str], taken: frozenset[str]) -> str:
        name, another = self.plugin, "; expected another name"
        if not _CAMEL_CASE.fullmatch(name):
            hint = f"; did you mean {camel!r}?" if (camel := _camel_case(name)) else ""
            return f"expected CamelCase, such as ZoneAllow, got {name!r}{hint}"
        if len(self.distribution) > _LONGEST:
            return f"{self.distribution!r} has more than {_LONGEST} letters{another}"
        if keyword.iskeyword(name) or keyword.iskeyword(self.words):
            return f"{name!r} is a word of Python, or would be in lower case{another}"
        if hasattr(builtins, name):
            return f"{name!r} is a name that Python has built in{another}"
        if name in taken:
            return f"{name!r} is a name that the plugin's own modules import{another}"
        if name.startswith("Test"):
            return f"pytest would take {name!r} for tests{another}"
        if name in installed:
            return f"a plugin {name!r} is installed already{another}"
        if _is_installed(self):
            return f"{self.distribution!r} is installed already{another}"
        return ""


def _camel_case(text: str) -> str:
    """Return a similar name in CamelCase, or empty."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    camel = "".join(word[0].upper() + word[1:] for word in words)
    return camel if _CAMEL_CASE.fullmatch(camel) else ""


def _is_installed(names: PluginNames) -> bool:
    if util.find_spec(names.package) is not None:
        return True
    try:
        metadata.distribution(names.distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
