"""Health checks by name, behind ``/healthz``, ``/livez`` and ``/readyz``.

Mirrors k8s.io/apiserver v0.36, ``pkg/server/healthz``: the same paths and texts.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus

import attrs

from quaymaster._surfaces.operation.pages import Page, Query, Reply, text_reply

__all__ = ["PING", "Check", "health_pages"]

_log = logging.getLogger(__name__)

_FAILED = HTTPStatus.INTERNAL_SERVER_ERROR


@attrs.frozen
class Check:
    """A health check.

    Attributes:
        name: Its name, as in ``/readyz/<name>``.
        problem: Returns what is wrong, or an empty text; called on any thread.
    """

    name: str
    problem: Callable[[], str]


PING = Check("ping", lambda: "")
"""Succeeds whenever the server responds."""


def health_pages(path: str, checks: Sequence[Check]) -> Mapping[str, Page]:
    """Return the page of all checks together, and a page for each check.

    The page of all checks omits the reasons, because it needs no rights. The log and
    the pages of single checks have them.

    Args:
        path: Such as ``/readyz``.
        checks: The checks in their order; without any, `PING`.
    """
    listed = list(checks) or [PING]
    pages: dict[str, Page] = {path: _Together(path.strip("/"), listed)}
    for check in listed:
        pages[f"{path}/{check.name}"] = _Alone(check)
    return pages


@attrs.frozen
class _Alone:
    check: Check

    def __call__(self, _query: Query) -> Reply:
        problem = _problem_of(self.check)
        if problem:
            return text_reply(f"internal server error: {problem}\n", _FAILED)
        return text_reply("ok")


@attrs.frozen
class _Together:
    name: str
    checks: Sequence[Check]

    def __call__(self, query: Query) -> Reply:
        excluded = set(query.get("exclude", ()))
        lines: list[str] = []
        problems: list[str] = []
        for check in self.checks:
            if check.name in excluded:
                lines.append(f"[+]{check.name} excluded: ok\n")
            elif problem := _problem_of(check):
                lines.append(f"[-]{check.name} failed: reason withheld\n")
                problems.append(f"{check.name}: {problem}")
            else:
                lines.append(f"[+]{check.name} ok\n")
        lines.extend(_warning(excluded - {check.name for check in self.checks}))
        if problems:
            _log.warning("%s check failed: %s", self.name, "; ".join(problems))
            return text_reply(f"{''.join(lines)}{self.name} check failed\n", _FAILED)
        if "verbose" not in query:
            return text_reply("ok")
        return text_reply(f"{''.join(lines)}{self.name} check passed\n")


def _problem_of(check: Check) -> str:
    """Return what is wrong; a check that raises counts as failed."""
    try:
        return check.problem()
    except Exception as error:
        _log.exception("the health check %s raised an error", check.name)
        return f"the check raised an error: {error}"


def _warning(unknown: Iterable[str]) -> Iterable[str]:
    names = ",".join(f'"{name}"' for name in sorted(unknown))
    if names:
        text = "warn: some health checks cannot be excluded: no matches for"
        yield f"{text} {names}\n"
