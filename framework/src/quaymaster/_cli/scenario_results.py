"""Prints the results of scenarios, in the formats of ``scenario run -o``."""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._base.errors import counted, listed
from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.placements import (
    PLACED,
    SPREAD,
    placed_rows,
    spread_rows,
)
from quaymaster._cli.rollouts import STUCK, print_stuck
from quaymaster._cli.tables import Fit
from quaymaster._studies.scenarios.scenario import (
    AssertionResult,
    ScenarioResult,
    StepResult,
)
from quaymaster._studies.scenarios.verdicts import span

__all__ = [
    "as_document",
    "assertions_table",
    "placed_table",
    "print_assertions_csv",
    "print_scenarios",
    "spread_table",
    "steps_table",
]

_SHOWN: Final = 3
"""How many pods or nodes of an assertion a table names; there may be thousands."""
_REASONS: Final = 5


def as_document(result: ScenarioResult) -> dict[str, object]:
    """The result as plain data, in the form of ``-o json``; times are in seconds."""
    simulation = result.simulation
    return {
        "scenario": result.name,
        "file": result.file,
        "seed": result.seed,
        "passed": result.passed,
        "assertions": _ASSERTIONS.documents(result.assertions),
        "steps": [_step(step) for step in result.steps],
        "unscheduled": [
            {"pod": pod.pod, "reason": pod.reason, "message": pod.message}
            for pod in simulation.unscheduled
        ],
        "stuckRollouts": STUCK.documents(result.stuck_rollouts),
        "summary": {
            "ended": result.ended,
            "pods": len(result.history.pods),
            "placed": result.history.placed,
            "unscheduled": len(simulation.unscheduled),
            "preempted": len(simulation.preempted),
            "nodes": simulation.nodes,
        },
        "warnings": notice_documents(simulation.notices),
    }


def print_scenarios(results: Sequence[ScenarioResult], *, wide: bool) -> None:
    """Print results as tables.

    Args:
        results: The results of scenarios.
        wide: Whether to print what the steps did.
    """
    for result in results:
        if wide:
            _print_steps(result.steps)
        _ASSERTIONS.print_section(result.assertions)
        _print_refused(result.steps)
        print_stuck(
            ((f"step {step.name}", step.stuck_rollouts) for step in result.steps),
            result.stuck_rollouts,
        )
        _print_summary(result)
        print_line()
    passed = sum(result.passed for result in results)
    if len(results) > 1:
        print_line(f"{passed} of {len(results)} scenarios passed")


def steps_table(steps: Sequence[StepResult]) -> tuple[list[str], list[list[str]]]:
    """The columns, and a row for each step."""
    return _STEPS.table(steps)


def placed_table(steps: Sequence[StepResult]) -> tuple[list[str], list[list[str]]]:
    """The columns, and a row for each pod that got a node during a step."""
    return ["Step", "Pod", "Node"], [
        [step.name, pod, node]
        for step in steps
        for pod, node in placed_rows(step.placed)
    ]


def spread_table(steps: Sequence[StepResult]) -> tuple[list[str], list[list[str]]]:
    """The columns, and a row for each workload whose pods came or went."""
    return ["Step", "Workload", "Topology key", "Before", "After"], [
        [step.name, *row] for step in steps for row in spread_rows(step.spread)
    ]


def assertions_table(
    assertions: Sequence[AssertionResult],
) -> tuple[list[str], list[list[str]]]:
    """The columns, and a row for the result of each assertion."""
    return _ASSERTIONS.table(assertions)


def print_assertions_csv(results: Iterable[ScenarioResult]) -> None:
    """Print a line of CSV for the result of each assertion of some scenarios."""
    keys = ("scenario", "file", "seed")
    documents = [
        dict(zip(keys, (result.name, result.file, result.seed), strict=True)) | document
        for result in results
        for document in _ASSERTIONS.documents(result.assertions)
    ]
    print_csv(documents, (*keys, *_ASSERTIONS.keys))


def _print_steps(steps: Sequence[StepResult]) -> None:
    _STEPS.print_section(steps)
    for columns, rows in (placed_table(steps), spread_table(steps)):
        if rows:
            print_table([name.upper() for name in columns], rows, is_fitted=False)
            print_line()


def _print_refused(steps: Sequence[StepResult]) -> None:
    for step in steps:
        for message, times in step.refused:
            how_often = "" if times == 1 else f" {times} times"
            word = "refused, which is allowed" if step.may_fail else "refused"
            print_line(f"step {step.name}: {step.action} {word}{how_often}: {message}")
        for note in step.notes:
            print_line(f"step {step.name}: {note}")


def _print_summary(result: ScenarioResult) -> None:
    simulation, history = result.simulation, result.history
    held = sum(assertion.passed for assertion in result.assertions)
    print_line(
        f"{result.name}: {'passed' if result.passed else 'FAILED'}, {held} of "
        f"{counted(len(result.assertions), 'assertion')} hold, "
        f"{span(result.ended)} of virtual time"
    )
    print_line(
        f"{history.placed} of {counted(len(history.pods), 'pod')} placed, "
        f"{len(simulation.unscheduled)} pending at the end"
    )
    for names, number in simulation.reasons()[:_REASONS]:
        print_line(f"{counted(number, 'pod')}: {', '.join(names)}")


def _listed(objects: Sequence[str]) -> str:
    return listed(objects, _SHOWN) or "-"


def _moment(seconds: float | None) -> str:
    return "-" if seconds is None else span(seconds)


def _step(step: StepResult) -> dict[str, object]:
    return {
        **_STEPS.document(step),
        "refused": [
            {"message": text, "times": number} for text, number in step.refused
        ],
        "notes": list(step.notes),
        "placed": PLACED.documents(step.placed),
        "spread": SPREAD.documents(step.spread),
        "stuckRollouts": STUCK.documents(step.stuck_rollouts),
    }


_ASSERTIONS: Final = Columns[AssertionResult](
    Column(
        "passed", text=lambda passed: "pass" if passed else "FAIL", heading="Result"
    ),
    Column("name", heading="Assertion", fit=Fit.SENTENCE),
    Column("expected", fit=Fit.SENTENCE),
    Column("found", fit=Fit.SENTENCE),
    Column("failedAt", text=_moment, importance=2),
    Column("objects", text=_listed, heading="For", fit=Fit.SENTENCE, importance=1),
)

_STEPS: Final = Columns[StepResult](
    Column("name", heading="Step"),
    Column("action"),
    "passed",
    Column("began", text=_moment),
    Column("ended", text=_moment),
    Column("took", text=_moment),
    *(Column(key) for key in ("times", "objects", "evicted", "lost")),
)
