"""Results of scenarios as JUnit XML, which continuous integration reads."""

from collections.abc import Iterable, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from quaymaster._api.objects import Time
from quaymaster._studies.scenarios.scenario import (
    AssertionResult,
    ScenarioResult,
    StepResult,
)
from quaymaster._studies.scenarios.verdicts import span

__all__ = ["junit_report"]

_PACKAGE: Final = "quaymaster"
_HOST: Final = "localhost"
"""The format requires a host name; it has no meaning here."""


def junit_report(results: Iterable[ScenarioResult]) -> str:
    """Write results as JUnit XML.

    Each scenario is a test suite, and each of its steps, waits, checks and assertions a
    test case. All times are virtual, so that equal runs have equal reports. The format
    is that of Ant's JUnit task, the strictest in use.

    Args:
        results: The results of scenarios.
    """
    root = ET.Element("testsuites")
    root.extend(_suite(result, number) for number, result in enumerate(results))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(result: ScenarioResult, number: int) -> ET.Element:
    name = _clean(result.name).strip() or "scenario"
    cases = [_step(step, name) for step in result.steps]
    cases += [_assertion(assertion, name) for assertion in result.assertions]
    failures = sum(case.find("failure") is not None for case in cases)
    started = str(Time(result.simulation.started // 1)).rstrip("Z")
    suite = ET.Element(
        "testsuite",
        id=str(number),
        package=_PACKAGE,
        name=name,
        hostname=_HOST,
        tests=str(len(cases)),
        failures=str(failures),
        errors="0",
        skipped="0",
        time=_seconds(result.ended),
        timestamp=started,
    )
    properties = ET.SubElement(suite, "properties")
    values = {"seed": str(result.seed), "file": _clean(result.file)}
    for key, value in values.items():
        if value:
            ET.SubElement(properties, "property", name=key, value=value)
    suite.extend(cases)
    for stream in ("system-out", "system-err"):
        ET.SubElement(suite, stream)
    return suite


def _step(step: StepResult, suite: str) -> ET.Element:
    began, ended = step.began or 0.0, step.ended or 0.0
    case = _case(f"step {step.name}", suite, ended - began)
    if not step.passed:
        lines = [f"{times} x {message}" for message, times in step.refused]
        _fail(case, f"{step.action} was refused", lines)
    return case


def _assertion(judged: AssertionResult, suite: str) -> ET.Element:
    case = _case(judged.name, suite, judged.failed_at or 0.0)
    if not judged.passed:
        when = "" if judged.failed_at is None else f" at {span(judged.failed_at)}"
        message = f"expected {judged.expected}, found {judged.found}{when}"
        _fail(case, message, judged.objects)
    return case


def _case(name: str, suite: str, seconds: float) -> ET.Element:
    return ET.Element(
        "testcase", name=_clean(name), classname=suite, time=_seconds(seconds)
    )


def _fail(case: ET.Element, message: str, lines: Sequence[str]) -> None:
    failure = ET.SubElement(
        case, "failure", message=_clean(message), type="AssertionError"
    )
    failure.text = "\n".join(_clean(line) for line in (message, *lines))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _clean(text: str) -> str:
    """Return a text without characters that XML does not allow."""
    return "".join(
        letter if letter.isprintable() else repr(letter)[1:-1] for letter in text
    )
