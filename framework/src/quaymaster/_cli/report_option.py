"""The option ``--report``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["report_option"]

F = TypeVar("F", bound=Callable[..., Any])


def report_option() -> Callable[[F], F]:
    """The option ``--report``, which gives a command ``report_file``."""
    return click.option(
        "--report",
        "report_file",
        metavar="FILE.html",
        type=click.Path(dir_okay=False),
        callback=_checked,
        help="Also write a page for a browser: map, time series, tables, decisions.",
    )


def _checked(
    context: click.Context, option: click.Parameter, file: str | None
) -> str | None:
    """Refuse before the work what would be refused after it."""
    if file is None or context.resilient_parsing:
        return file
    from quaymaster._surfaces.reporting.report import check_installed  # noqa: PLC0415

    check_installed("bokeh", extra="report")
    folder = Path(file).parent
    if not folder.is_dir():
        message = f"there is no folder {str(folder)!r}"
        raise click.BadParameter(message, context, option)
    return file
