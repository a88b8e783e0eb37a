"""The values of ``--attempt``, and their completion in shells."""

import click

from quaymaster._studies.simulation.explained import WhichAttempt

__all__ = ["complete_attempt", "read_attempt"]


def read_attempt(
    _context: click.Context, _option: click.Parameter, text: str
) -> WhichAttempt | int:
    """Read ``--attempt``: a number, or a word."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    try:
        return WhichAttempt(text.lower())
    except ValueError as error:
        words = ", ".join(WhichAttempt)
        message = f"expected a number from 1, or one of {words}, got {text!r}"
        raise click.BadParameter(message) from error


def complete_attempt(
    _context: click.Context, _option: click.Parameter, incomplete: str
) -> list[str]:
    """Complete ``--attempt``."""
    return [word.value for word in WhichAttempt if word.startswith(incomplete)]
