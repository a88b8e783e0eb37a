"""Results that display themselves: in notebooks, in rich consoles, as data frames.

A result belongs to a group below the commands, whose tables describe it. So its methods
import the rendering by name, and only when a result is displayed. This is the only
import in the private packages that points upward.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Displayed", "Tabular"]

_RENDERING: Final = "quaymaster._cli.displays.rendering"


class Displayed:
    """A result that notebooks and rich consoles display as its command prints it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the result as HTML, for notebooks."""
        html: str = _rendering().html_of(self)
        return html

    def __rich__(self) -> "RenderableType":
        """Return what a rich console prints."""
        renderable: RenderableType = _rendering().renderable_of(self)
        return renderable


class Tabular(Displayed):
    """A result with rows: those that its command prints with ``-o csv``."""

    __slots__ = ()

    def to_arrow(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the rows as a ``pyarrow.Table``.

        The columns are those of ``-o csv`` of the command. Lists stay lists.

        Raises:
            MissingPackageError: pyarrow is not installed.
        """
        return _rendering().table_of(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream, for pandas, polars and DuckDB."""
        stream: object = self.to_arrow().__arrow_c_stream__(requested_schema)
        return stream

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is not a dependency
        """Return the rows as a ``pandas.DataFrame``.

        Raises:
            MissingPackageError: pandas or pyarrow is not installed.
        """
        return _rendering().frame_of(self)


def _rendering() -> Any:  # noqa: ANN401 - mypy cannot follow the import
    return import_module(_RENDERING)
