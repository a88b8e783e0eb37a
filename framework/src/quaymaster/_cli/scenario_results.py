"""Prints the results of scenarios, in the formats of ``scenario run -o``."""

from collections.abc import Sequence
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.placements import (
    placed_documents,
    placed_rows,
    spread_documents,
    spread_rows,
)
from quaymaster._cli.rollouts import print_stuck, stuck_documents
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
        "assertions": [_assertion(assertion) for assertion in result.assertions],
        "steps": [_step(step) for step in result.steps],
        "unscheduled": [
            {"pod": pod.pod, "reason": pod.reason, "message": pod.message}
            for pod in simulation.unscheduled
        ],
        "stuckRollouts": stuck_documents(result.stuck_rollouts),
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
        _print_assertions(result.assertions)
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
    columns = ["Step", "Action", "Began", "Ended", "Took", "Times", "Objects"]
    return [*columns, "Evicted", "Lost"], [
        [
            step.name,
            step.action,
            _moment(step.began),
            _moment(step.ended),
            _moment(step.took),
            str(step.times),
            str(step.objects),
            str(step.evicted),
            str(step.lost),
        ]
        for step in steps
    ]


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
    return ["Result", "Assertion", "Expected", "Found", "Failed at", "For"], [
        [
            "pass" if assertion.passed else "FAIL",
            assertion.name,
            assertion.expected,
            assertion.found,
            _moment(assertion.failed_at),
            _listed(assertion.objects),
        ]
        for assertion in assertions
    ]


def _print_steps(steps: Sequence[StepResult]) -> None:
    for columns, rows in (steps_table(steps), placed_table(steps), spread_table(steps)):
        if rows:
            print_table([name.upper() for name in columns], rows)
            print_line()


def _print_assertions(assertions: Sequence[AssertionResult]) -> None:
    columns, rows = assertions_table(assertions)
    if rows:
        long = ("ASSERTION", "EXPECTED", "FOUND", "FOR")
        print_table([name.upper() for name in columns], rows, sentences=long)
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
    shown = ", ".join(objects[:_SHOWN])
    more = len(objects) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "-"


def _moment(seconds: float | None) -> str:
    return "-" if seconds is None else span(seconds)


def _assertion(assertion: AssertionResult) -> dict[str, object]:
    return {
        "name": assertion.name,
        "passed": assertion.passed,
        "expected": assertion.expected,
        "found": assertion.found,
        "failedAt": assertion.failed_at,
        "objects": list(assertion.objects),
    }


def _step(step: StepResult) -> dict[str, object]:
    return {
        "name": step.name,
        "action": step.action,
        "passed": step.passed,
        "began": step.began,
        "ended": step.ended,
        "took": step.took,
        "times": step.times,
        "objects": step.objects,
        "evicted": step.evicted,
        "lost": step.lost,
        "refused": [
            {"message": text, "times": number} for text, number in step.refused
        ],
        "notes": list(step.notes),
        "placed": placed_documents(step.placed),
        "spread": spread_documents(step.spread),
        "stuckRollouts": stuck_documents(step.stuck_rollouts),
    }
