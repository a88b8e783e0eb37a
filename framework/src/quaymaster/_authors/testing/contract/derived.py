"""Classes that a test has derived from the class of a package."""

from quaymaster._authors.testing.contract.own_frames import NOT_PLUGINS

__all__ = ["base_of_package"]


def base_of_package(plugin: type) -> type | None:
    """Return the class of another package from which a test has derived the plugin."""
    own = plugin.__module__.partition(".")[0]
    for base in plugin.__mro__[1:]:
        package = base.__module__.partition(".")[0]
        if package not in (own, *NOT_PLUGINS):
            return base
    return None
