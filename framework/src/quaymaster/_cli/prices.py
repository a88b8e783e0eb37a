"""The option ``--prices``."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from quaymaster._studies.capacity.prices import PRICE_ANNOTATION, Prices, read_prices

__all__ = ["prices_option"]

F = TypeVar("F", bound=Callable[..., Any])


def prices_option() -> Callable[[F], F]:
    """The option ``--prices``; a command gets the `Prices`, empty without a file."""
    return click.option(
        "--prices",
        metavar="FILE",
        type=click.Path(),
        callback=lambda _context, _option, file: (
            read_prices(file) if file else Prices()
        ),
        help="A YAML file of prices per hour by instance type (m5.large: 0.096). The "
        f"annotation {PRICE_ANNOTATION} of a node overrides it.",
    )


def _read(file: str | None) -> Prices:
    return Prices() if file is None else read_prices(file)
