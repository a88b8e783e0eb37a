"""Prints notices: what was left out or assumed."""

from collections.abc import Iterable
from typing import Final

from quaymaster._base.notices import Notice
from quaymaster._cli.output import warn

__all__ = ["notice_documents", "print_notices"]

_ALIKE: Final = 3


def print_notices(notices: Iterable[Notice]) -> None:
    """Print notices to standard error; of many with one message, only a few."""
    alike: dict[tuple[str, str], list[Notice]] = {}
    for notice in notices:
        alike.setdefault((notice.path, notice.message), []).append(notice)
    for same in alike.values():
        for notice in same[:_ALIKE]:
            warn(f"warning: {notice}")
        if len(same) > _ALIKE:
            warn(f"warning: and {len(same) - _ALIKE} more: {same[0].message}")


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
