"""The names of a new plugin, its package and its distribution."""

import builtins
import keyword
import re
from collections.abc import Iterable
from importlib import metadata, util
from typing import Final

import attrs

from quaymaster._api.objects.kinds import KINDS
from quaymaster._base.errors import QuaymasterError

__all__ = ["KindNames", "NameRefusedError", "PluginNames"]

_CAMEL_CASE: Final = re.compile(r"[A-Z]++[a-z0-9][A-Za-z0-9]*")
_LONGEST: Final = 50
"""The longest name of a distribution; longer ones are hard to type."""
_LONGEST_KIND: Final = 30


class NameRefusedError(QuaymasterError, ValueError):
    """A new plugin cannot have this name.

    Attributes:
        name: The name.
    """

    def __init__(self, name: str, problem: str, where: str = "NAME") -> None:
        super().__init__(f"{where}: {problem}")
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


@attrs.frozen
class KindNames:
    """The names of a new kind of objects.

    Attributes:
        kind: Its class, and its name in manifests: ``Rack``.
    """

    kind: str

    @property
    def plural(self) -> str:
        """Its name in the API: ``racks``."""
        word = self.kind.lower()
        if word.endswith(("s", "x", "z", "ch", "sh")):
            return f"{word}es"
        if word.endswith("y") and word[-2:-1] not in set("aeiou"):
            return f"{word[:-1]}ies"
        return f"{word}s"

    def check(self, plugin: "PluginNames", taken: Iterable[str]) -> None:
        """Check that a new kind may have this name.

        Args:
            plugin: The names of its plugin.
            taken: The names that the modules of the package import.

        Raises:
            NameRefusedError: It may not; the message has the expected form.
        """
        problem = self._problem(plugin, frozenset(taken))
        if problem:
            raise NameRefusedError(self.kind, problem, "--kind")

    def _problem(self, plugin: "PluginNames", taken: frozenset[str]) -> str:
        name, another = self.kind, "; expected another name"
        if not _CAMEL_CASE.fullmatch(name):
            hint = f"; did you mean {camel!r}?" if (camel := _camel_case(name)) else ""
            return f"expected CamelCase, such as Rack, got {name!r}{hint}"
        if len(name) > _LONGEST_KIND:
            return f"{name!r} has more than {_LONGEST_KIND} letters{another}"
        if keyword.iskeyword(name) or hasattr(builtins, name):
            return f"{name!r} is a name of Python{another}"
        if name in {kind.kind for kind in KINDS.values()}:
            own = f"{plugin.plugin}{name}"
            return (
                f"{name!r} is a kind of Kubernetes, and --kind is for a new one; "
                f"expected another name, such as {own!r}. A plugin that reads objects "
                f"of Kubernetes needs no --kind: kinds = ({name},) in its class"
            )
        if {name, f"{name}Spec"} & {plugin.plugin, f"{plugin.plugin}Args", *taken}:
            return f"{name!r} is a name that the plugin's own modules use{another}"
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
