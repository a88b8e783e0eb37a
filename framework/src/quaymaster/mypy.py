"""The mypy plugin that checks hooks: ``plugins = ["quaymaster.mypy"]``."""

from typing import TYPE_CHECKING

from quaymaster._base.lazy_names import lazy_names

if TYPE_CHECKING:
    from quaymaster._authors.types_of_hooks.plugin import plugin

__all__ = ["plugin"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__, {"quaymaster._authors.types_of_hooks.plugin": ("plugin",)}
    )
