"""The rendering of results, which ``quaymaster._base.displayed`` imports by name."""

import importlib.util
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from quaymaster._base.displayed import Displayed
from quaymaster._base.errors import MissingPackageError
from quaymaster._base.missing_packages import not_installed
from quaymaster._cli.displays.console import renderable_of_blocks
from quaymaster._cli.displays.descriptions import display_of
from quaymaster._cli.displays.html import html_of_blocks
from quaymaster._cli.recorded_output import Block, TextBlock, recorded_output

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]  # it has no stubs

__all__ = ["frame_of", "html_of", "renderable_of", "table_of"]


def html_of(result: Displayed) -> str:
    """Return a result as HTML, for notebooks."""
    return html_of_blocks(_blocks(result), type(result).__name__)


def renderable_of(result: Displayed) -> RenderableType:
    """Return a result for a rich console."""
    return renderable_of_blocks(_blocks(result), type(result).__name__)


def table_of(result: Displayed) -> "pa.Table":
    """Return the rows of a result as an Arrow table.

    Raises:
        MissingPackageError: pyarrow is not installed.
    """
    check_installed("pyarrow")
    from quaymaster._cli.displays.arrow import arrow_table  # noqa: PLC0415 - pyarrow

    display = display_of(result)
    with recorded_output() as output:
        display.print_rows(result)
    return arrow_table(output.documents, output.keys, display.parts)


def frame_of(result: Displayed) -> Any:  # noqa: ANN401 - pandas is not a dependency
    """Return the rows of a result as a pandas DataFrame.

    Raises:
        MissingPackageError: pandas or pyarrow is not installed.
    """
    check_installed("pyarrow", "pandas")
    return table_of(result).to_pandas()


def check_installed(*packages: str) -> None:
    """Check that packages are installed.

    Args:
        packages: Their names, as they are imported.

    Raises:
        MissingPackageError: Some are not installed.
    """
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        others = ["pandas"] if "pandas" in missing else []
        raise MissingPackageError(not_installed(missing, "arrow", *others))


def _is_empty(block: Block) -> bool:
    return isinstance(block, TextBlock) and not block.text.strip()


def _blocks(result: Displayed) -> list[Block]:
    with recorded_output() as output:
        display_of(result).show(result)
    blocks = output.blocks
    while blocks and _is_empty(blocks[-1]):
        blocks.pop()
    return blocks
