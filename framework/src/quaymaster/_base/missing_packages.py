"""The message about packages of an extra that are not installed."""

from collections.abc import Iterable

__all__ = ["not_installed"]


def not_installed(names: Iterable[str], extra: str, *others: str) -> str:
    """Return the message about missing packages, with the command that installs them.

    Args:
        names: The names of the missing packages, as they are imported.
        extra: The extra of quaymaster that requires them.
        *others: More packages to install, which no extra requires.
    """
    remedy = " ".join([f"pip install 'quaymaster[{extra}]'", *others])
    return f"not installed: {', '.join(names)}; {remedy}"
