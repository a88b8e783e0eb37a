"""The entry of the mypy plugin: ``plugins = ["quaymaster.mypy"]``."""

from collections.abc import Callable
from typing import Final, TypeAlias

from mypy.nodes import Import, ImportFrom, MypyFile
from mypy.plugin import ClassDefContext, MethodContext, Plugin
from mypy.types import Type

from quaymaster._authors.types_of_hooks.forgotten import report_unmarked_hooks
from quaymaster._authors.types_of_hooks.hooks import check_hook
from quaymaster._authors.types_of_hooks.specs import HANDLE_MODULE, SPECS_MODULE

__all__ = ["HookTypesPlugin", "plugin"]

_MARKS: Final = frozenset(
    f"quaymaster._core.contract.hook_marks.{mark}.__call__"
    for mark in ("HookMarker", "HookMark")
)
_PRIORITY: Final = 10
"""The one that mypy gives imports at the top of a module."""

_Dependency: TypeAlias = tuple[int, str, int]


class HookTypesPlugin(Plugin):
    """Compares marked methods with hookspecs, and finds methods without a mark."""

    def get_additional_deps(self, file: MypyFile) -> list[_Dependency]:
        """Return the modules of the contract, for files that import the framework."""
        if file.fullname.split(".")[0] == "quaymaster":
            return []
        if not any(map(_imports_quaymaster, file.imports)):
            return []
        return [(_PRIORITY, module, -1) for module in (SPECS_MODULE, HANDLE_MODULE)]

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Return what checks a method that is passed to `hookimpl`."""
        return check_hook if fullname in _MARKS else None

    def get_customize_class_mro_hook(
        self,
        fullname: str,
    ) -> Callable[[ClassDefContext], None] | None:
        """Return what checks the methods of a class that have no mark."""
        is_framework = fullname.split(".", maxsplit=1)[0] == "quaymaster"
        return None if is_framework else report_unmarked_hooks


def _imports_quaymaster(statement: object) -> bool:
    names: list[str] = []
    if isinstance(statement, ImportFrom):
        names = [statement.id]
    elif isinstance(statement, Import):
        names = [name for name, _ in statement.ids]
    return any(name.split(".")[0] == "quaymaster" for name in names)


def plugin(_version: str) -> type[Plugin]:
    """Return the class of the plugin; mypy calls this function."""
    return HookTypesPlugin
