"""Public modules that import each name when it is first used (PEP 562)."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from sys import modules

__all__ = ["lazy_names"]


def lazy_names(
    module: str, sources: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Build the ``__getattr__`` and ``__dir__`` of a module with lazy names.

    The module lists its names twice: as imports below ``if TYPE_CHECKING``, for type
    checkers, and as ``sources``. A test compares both.

    Args:
        module: The full name of the module.
        sources: The full name of each module to import from, with the names it defines.

    Returns:
        Both functions. ``__getattr__`` stores each name in the module, so it runs once
        per name.
    """
    source_of = {name: source for source, names in sources.items() for name in names}

    def get_attribute(name: str) -> object:
        source = source_of.get(name)
        if source is None:
            message = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=modules[module])
        value: object = getattr(import_module(source), name)
        setattr(modules[module], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(modules[module]), *source_of})

    return get_attribute, list_names
