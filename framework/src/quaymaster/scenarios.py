"""Scenarios: events of a cluster in virtual time, with assertions."""

from quaymaster._studies.scenarios.errors import ScenarioErrors
from quaymaster._studies.scenarios.junit import junit_report
from quaymaster._studies.scenarios.load import load_scenario, parse_scenario
from quaymaster._studies.scenarios.scenario import (
    AssertionResult,
    Scenario,
    ScenarioResult,
    StepResult,
)
from quaymaster._studies.scenarios.schema import scenario_schema
from quaymaster._studies.scenarios.timeline import run_scenario

__all__ = [
    "AssertionResult",
    "Scenario",
    "ScenarioErrors",
    "ScenarioResult",
    "StepResult",
    "junit_report",
    "load_scenario",
    "parse_scenario",
    "run_scenario",
    "scenario_schema",
]
