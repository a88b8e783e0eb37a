"""A plugin that profiles may name: its class, and what is wrong with it."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from typing import TypeAlias, get_type_hints

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.raised import is_from_outside
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.extension_points import EXTENSION_POINTS, ExtensionPoint
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.hook_marks import first_kubernetes
from quaymaster._core.registry.access import (
    access_problem,
)
from quaymaster._core.registry.kinds import (
    kinds_problem,
)
from quaymaster._core.registry.offers import Offer
from quaymaster._core.registry.plugin_checks import hook_problems, marked_hooks
from quaymaster._core.registry.sdk_range import range_problem

__all__ = ["PluginClass", "PluginLoadError", "RegisteredPlugin"]

PluginClass: TypeAlias = Callable[[object, Handle], object]
"""A plugin's class: called with arguments and the handle, it returns the plugin."""


class PluginLoadError(QuaymasterError, ImportError):
    """An installed plugin that cannot be used.

    Attributes:
        plugin: The plugin's name.
        distribution: The distribution that offers it.
        origin: The entry point's value.
        problem: All problems in one line.
        problems: The problems, one by one.
    """

    def __init__(self, plugin: "RegisteredPlugin", *problems: str) -> None:
        self.problem = "; ".join(problems)
        hint = f"; {plugin.range_problem}" if plugin.range_problem else ""
        super().__init__(
            f"{plugin}, entry point {plugin.origin!r}: {self.problem}{hint}"
        )
        self.plugin = plugin.name
        self.distribution = plugin.distribution
        self.origin = plugin.origin
        self.problems = problems


# Without slots: attrs looks up cached properties of slotted classes slowly.
@attrs.frozen(kw_only=True, eq=False, slots=False)
class RegisteredPlugin:
    """One plugin that profiles may name; its class is imported when first needed.

    Attributes:
        name: Its name in profiles.
        distribution: The distribution that offers it; empty for a class from code.
        version: That distribution's version.
        requires: That distribution's requirements, as in its metadata.
        origin: The location of the class: ``package.module:Class``.
    """

    name: str
    distribution: str = ""
    version: str = ""
    requires: Sequence[str] = ()
    origin: str
    _find: Callable[[], object] = attrs.field(repr=False)

    @classmethod
    def from_offer(cls, offer: Offer) -> "RegisteredPlugin":
        """Return the plugin of an entry point."""
        return cls(
            name=offer.entry.name,
            distribution=offer.distribution,
            version=offer.version,
            requires=offer.requires,
            origin=offer.entry.value,
            find=offer.entry.load,
        )

    def __str__(self) -> str:
        return f"plugin {self.name!r} ({self.owner or self.origin})"

    @property
    def owner(self) -> str:
        """The distribution with its version, or empty."""
        return f"{self.distribution} {self.version}".strip()

    @cached_property
    def range_problem(self) -> str:
        """Why its distribution excludes the installed framework, or empty."""
        return range_problem(self.owner, self.requires)

    def load(self) -> type:
        """Import the plugin's class.

        Raises:
            PluginLoadError: It cannot be imported, or is not a plugin class.
        """
        # The error is kept, not the exception raised in a cached property: that would
        # import a broken module again at each access.
        if isinstance(self._loaded, PluginLoadError):
            raise self._loaded
        return self._loaded

    @property
    def error(self) -> PluginLoadError | None:
        """Why the plugin cannot be used, or None."""
        return self._loaded if isinstance(self._loaded, PluginLoadError) else None

    @property
    def has_failed(self) -> bool:
        """Whether the plugin has turned out to be unusable; imports nothing."""
        # Not through the property, which would import the class.
        return isinstance(vars(self).get("_loaded"), PluginLoadError)

    @property
    def args_class(self) -> type | None:
        """The attrs class of its arguments, or None if it takes none."""
        args: type | None = getattr(self.load(), "Args", None)
        return args

    @cached_property
    def extension_points(self) -> tuple[ExtensionPoint, ...]:
        """The extension points of its hooks, in the order of the calls."""
        return tuple(
            point
            for point in EXTENSION_POINTS
            if not self._hooks.isdisjoint(point.hooks)
        )

    def extends(self, key: str, kubernetes: Kubernetes | None = None) -> bool:
        """Whether it has a hook for an extension point.

        Args:
            key: The key of the extension point.
            kubernetes: The version of Kubernetes to follow, since later versions added
                hooks; by default any.
        """
        return any(
            kubernetes is None or kubernetes.since(version)
            for version in self._first_versions.get(key, ())
        )

    @cached_property
    def _first_versions(self) -> Mapping[str, Set[str]]:
        """The first Kubernetes versions of the hooks, by key of extension point.

        A profile asks for each point, and again for each wildcard.
        """
        plugin = self.load()
        versions: dict[str, set[str]] = {}
        for point in self.extension_points:
            versions.setdefault(point.key, set()).update(
                first_kubernetes(getattr(plugin, hook))
                for hook in self._hooks.intersection(point.hooks)
            )
        return versions

    @cached_property
    def _hooks(self) -> frozenset[str]:
        return frozenset(marked_hooks(self.load()))

    @cached_property
    def _loaded(self) -> type | PluginLoadError:
        try:
            plugin = self._find()
        except BaseException as error:
            if is_from_outside(error):
                raise
            # Some errors, such as syntax errors, have several lines.
            cause = " ".join(str(error).split())
            problem = f"could not be imported: {type(error).__name__}: {cause}"
            failure = PluginLoadError(self, problem)
            failure.__cause__ = error
            return failure
        return self._checked(plugin)

    def _checked(self, plugin: object) -> type | PluginLoadError:
        if not isinstance(plugin, type):
            return PluginLoadError(
                self,
                "expected a class that is built with (args, handle), got "
                f"{type(plugin).__name__} {getattr(plugin, '__name__', plugin)!r}",
            )
        problem = _problem_with_args(plugin) or kinds_problem(plugin)
        problem = problem or access_problem(plugin)
        problems = [problem] if problem else list(hook_problems(plugin))
        return PluginLoadError(self, *problems) if problems else plugin


def _problem_with_args(plugin: type) -> str:
    args = getattr(plugin, "Args", None)
    if args is None:
        return ""
    if not (isinstance(args, type) and attrs.has(args)):
        return f"{plugin.__name__}.Args: expected an attrs class, got {args!r}"
    try:
        get_type_hints(args)
    except Exception as error:
        remedy = "import the names in its annotations at run time"
        return f"{args.__name__}: {error} ({remedy})"
    return ""
