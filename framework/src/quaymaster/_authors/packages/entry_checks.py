"""Checks whether the plugins and kinds of a package load, and clash with others."""

from collections.abc import Iterable, Iterator
from importlib import util
from pathlib import Path

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._authors.packages.candidate import Candidate
from quaymaster._authors.packages.findings import Finding
from quaymaster._authors.packages.kinds import brought_kinds
from quaymaster._base.errors import KindError, ObserverError
from quaymaster._core.registry.access import declares_access
from quaymaster._core.registry.kinds import RegisteredKind, kinds_of_plugin
from quaymaster._core.registry.observers import RegisteredObserver
from quaymaster._core.registry.plugin_checks import marked_hooks
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import PluginRegistry

__all__ = [
    "access_findings",
    "age_findings",
    "clash_findings",
    "kind_findings",
    "load_findings",
    "observer_findings",
    "typing_findings",
]


def load_findings(plugin: RegisteredPlugin) -> Iterator[Finding]:
    """Find what prevents a profile from loading a plugin, and wrong names."""
    where = f"plugin {plugin.name!r}"
    if plugin.error is not None:
        for problem in plugin.error.problems:
            yield Finding.error("loading", where, problem)
        return
    if not plugin.extension_points:
        yield Finding.error("loading", where, "has no hook, so no profile can use it")
    own = plugin.load().__name__
    if own != plugin.name:
        message = f"its class is called {own!r}, expected the name in profiles"
        yield Finding.warning("loading", where, message)


def access_findings(plugin: RegisteredPlugin) -> Iterator[Finding]:
    """Check whether a scheduler with the plugin requests more rights than needed."""
    if not declares_access(plugin.load()):
        message = (
            "declares neither what it reads nor what it writes, so a scheduler with it "
            "requests the usual rights; for nodes and pods alone, reads = () is enough"
        )
        yield Finding.warning("rights", f"plugin {plugin.name!r}", message)


def age_findings(plugin: RegisteredPlugin) -> Iterator[Finding]:
    """Find hooks whose removal has been announced.

    Args:
        plugin: The plugin, which can be loaded.
    """
    own = frozenset(marked_hooks(plugin.load()))
    where = f"plugin {plugin.name!r}"
    for point in plugin.extension_points:
        for hook in filter(own.__contains__, point.hooks):
            age = point.age(hook)
            if age.deprecated is not None:
                message = f"hook {hook!r} is {age.deprecated}"
                yield Finding.warning("deprecated", where, message)


def clash_findings(
    plugins: Iterable[RegisteredPlugin], others: PluginRegistry
) -> Iterator[Finding]:
    """Find plugins that another installed distribution offers, too."""
    for plugin in plugins:
        other = others.get(plugin.name)
        if other is not None:
            message = f"{other.owner} offers a plugin of this name, too"
            yield Finding.error("name clash", f"plugin {plugin.name!r}", message)


def kind_findings(
    candidate: Candidate,
    plugins: Iterable[RegisteredPlugin],
    others: PluginRegistry,
) -> Iterator[Finding]:
    """Find kinds that cannot be used, or that another package declares, too."""
    own: list[type[ApiObject]] = []
    for plugin in plugins:
        own += kinds_of_plugin(plugin.load())
    for offer in candidate.kinds:
        try:
            own.append(RegisteredKind.from_offer(offer).load())
        except KindError as error:
            yield Finding.error("loading", "entry points", f"{error}")
    theirs = [
        brought
        for brought in brought_kinds(others)
        if not isinstance(brought, KindError)
    ]
    for kind in dict.fromkeys(own):
        for other in theirs:
            if not _get_along(kind, other.kind):
                message = f"{other.owner} declares it with another class"
                yield Finding.error("name clash", f"kind {kind.kind!r}", message)


def observer_findings(candidate: Candidate) -> Iterator[Finding]:
    """Find observers that cannot be built."""
    for offer in candidate.observers:
        try:
            RegisteredObserver.from_offer(offer).make()
        except ObserverError as error:
            yield Finding.error("loading", "entry points", f"{error}")


def typing_findings(candidate: Candidate) -> Iterator[Finding]:
    """Find packages whose types are invisible to type checkers."""
    values = [offer.entry.value for offer in candidate.offers]
    modules = [value.partition(":")[0].strip() for value in values]
    for package in sorted({module.partition(".")[0] for module in modules}):
        spec = util.find_spec(package) if package.isidentifier() else None
        folders = (spec.submodule_search_locations if spec else None) or ()
        if folders and not any(
            (Path(folder) / "py.typed").exists() for folder in folders
        ):
            message = (
                "has no file py.typed, so type checkers ignore its types: add an empty "
                "file of this name beside its __init__.py"
            )
            yield Finding.error("typing", f"package {package!r}", message)


def _get_along(kind: type[ApiObject], other: type[ApiObject]) -> bool:
    try:
        KindSet((kind, other))
    except KindError:
        return False
    return True
