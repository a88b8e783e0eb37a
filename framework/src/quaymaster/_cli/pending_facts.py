"""Prints the facts behind the messages of pending pods: each fact once."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import click
import msgspec

from quaymaster._base.errors import counted
from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.output import print_line
from quaymaster._cli.tables import Fit
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = ["PodsWithFacts", "fact_table", "facts_option", "of_pods", "print_facts"]

F = TypeVar("F", bound=Callable[..., Any])

_SHOWN: Final = 20
"""How many facts are printed; every workload may have its own. JSON has all."""


class PodsWithFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that have the same facts.

    Attributes:
        subject: Their workload, or their only pod.
        pods: How many they are.
        facts: The facts.
    """

    subject: str
    pods: int
    facts: Sequence[str]


def facts_option() -> Callable[[F], F]:
    """The option ``--facts``."""
    return click.option(
        "--facts",
        is_flag=True,
        help="Also print the facts behind the messages of pending pods, such as "
        "requested and free amounts.",
    )


def of_pods(pods: Iterable[UnscheduledPod]) -> list[PodsWithFacts]:
    """Return the pods with their facts."""
    return [PodsWithFacts(subject=pod.pod, pods=1, facts=pod.facts) for pod in pods]


def print_facts(entries: Iterable[PodsWithFacts]) -> None:
    """Print an empty line and a line for each fact, if there are any."""
    rows = _rows(entries)
    if not rows:
        return
    print_line()
    print_line("facts, from the first node with each reason:")
    for row in rows[:_SHOWN]:
        print_line(f"  {row.whose}: {row.fact}")
    if len(rows) > _SHOWN:
        print_line(f"and {len(rows) - _SHOWN} more; -o json has all")


def fact_table(
    entries: Iterable[PodsWithFacts],
) -> tuple[list[str], list[list[str]]]:
    """Return headings and a row for each fact, for a page."""
    return _FACTS.table(_rows(entries))


class _Row(msgspec.Struct, frozen=True):
    """A fact, and those that have it."""

    fact: str
    entries: Sequence[PodsWithFacts]

    @property
    def pods(self) -> int:
        """How many pods have it."""
        return sum(entry.pods for entry in self.entries)

    @property
    def whose(self) -> str:
        """The workload or pod that has it; of several, the first."""
        first, *others = self.entries
        if others:
            return f"{counted(self.pods, 'pod')}, such as {first.subject}"
        number = f" ({first.pods} pods)" if first.pods > 1 else ""
        return f"{first.subject}{number}"


def _rows(entries: Iterable[PodsWithFacts]) -> list[_Row]:
    """Return each fact once; those about most pods come first."""
    by_fact: dict[str, list[PodsWithFacts]] = {}
    for entry in entries:
        for fact in entry.facts:
            by_fact.setdefault(fact, []).append(entry)
    rows = [_Row(fact, having) for fact, having in by_fact.items()]
    return sorted(rows, key=lambda row: -row.pods)


_FACTS: Final = Columns[_Row](
    Column("pods"),
    Column("whose", heading="Pod", fit=Fit.NAME),
    Column("fact", fit=Fit.SENTENCE),
)
