"""The option ``--trace``: lines about what the scheduler does, on standard error."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

from quaymaster._cli.output import warn
from quaymaster._core.contract.trace import Trace, TraceTopic

__all__ = ["trace_option", "warn_of_unseen_pods"]

F = TypeVar("F", bound=Callable[..., Any])

_POD: Final = "pod="
_TOPICS: Final = {topic.value: topic for topic in TraceTopic}


def trace_option() -> Callable[[F], F]:
    """The option ``--trace``; the command gets a `Trace`, or None."""
    return click.option(
        "--trace",
        metavar="WHAT",
        multiple=True,
        callback=_trace,
        help="Log what happens to standard error, a line of key=value for each event: "
        "plugin, queue and cache, or several of them (plugin,queue); "
        "pod=NAMESPACE/NAME for one pod alone. May be given more than once.",
    )


def warn_of_unseen_pods(trace: Trace | None) -> None:
    """Warn of pods of ``--trace`` about which no event was logged."""
    for key in trace.unseen_pods if trace else ():
        warn(f"--trace: no event of pod {key} was logged")


def _trace(
    _context: click.Context, _parameter: click.Parameter, given: Sequence[str]
) -> Trace | None:
    topics, pods = [], []
    for what in (part.strip() for value in given for part in value.split(",")):
        if what.startswith(_POD) and what != _POD:
            pods.append(_key(what.removeprefix(_POD)))
        elif what in _TOPICS:
            topics.append(_TOPICS[what])
        else:
            expected = ", ".join(_TOPICS)
            raise click.BadParameter(
                f"expected {expected} or pod=NAMESPACE/NAME, got {what!r}"
            )
    if not given:
        return None
    return Trace(_write, topics=topics or TraceTopic, pods=pods)


def _key(name: str) -> str:
    return name if "/" in name else f"default/{name}"


def _write(line: str) -> None:
    # One call for each line, so that lines of a log come between them and not within.
    sys.stderr.write(f"{line}\n")
