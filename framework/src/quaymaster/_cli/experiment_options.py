"""Options that the commands about experiments share."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from quaymaster._cli.output import OutputFormat, print_document

__all__ = ["OUT", "WORKERS", "schema_option"]

F = TypeVar("F", bound=Callable[..., Any])

OUT: Final = click.option(
    "--out",
    "folder",
    metavar="DIR",
    type=click.Path(),
    help="The folder for the results. [default: FILE with the suffix -results]",
)

WORKERS: Final = click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(min=1),
    help="How many processes run simulations. [default: one for each processor]",
)


def schema_option(
    make: Callable[[], Mapping[str, object]], text: str
) -> Callable[[F], F]:
    """Return the option ``--schema``, which prints a JSON Schema and ends the command.

    Args:
        make: Returns the schema.
        text: The help text.
    """

    def show(context: click.Context, _option: click.Parameter, is_set: bool) -> None:
        if is_set:
            print_document(make(), OutputFormat.JSON)
            context.exit()

    return click.option(
        "--schema",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help=text,
    )
