"""How commands tell what was left out or assumed."""

from collections.abc import Iterable

from quaymaster._cli.output import warn
from quaymaster.notices import Notice

__all__ = ["notice_documents", "print_notices"]


def print_notices(notices: Iterable[Notice]) -> None:
    """Print a line for each to standard error."""
    for notice in notices:
        warn(f"warning: {notice}")


def notice_documents(notices: Iterable[Notice]) -> list[dict[str, str]]:
    """The notices as plain data, as ``-o json`` has them."""
    return [
        {
            "reason": notice.reason,
            "where": notice.where,
            "path": notice.path,
            "message": notice.message,
        }
        for notice in notices
    ]
