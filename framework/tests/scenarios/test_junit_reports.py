"""JUnit reports of scenarios."""

from xml.etree import ElementTree as ET

from quaymaster.scenarios import ScenarioResult, junit_report
from tests.kit.scenarios import one_pod, parsed, ran


def result() -> ScenarioResult:
    return ran(
        parsed(
            {"name": "pods", "create": {"objects": [one_pod("big", cpu="9")]}},
            {"name": "grow", "scale": {"target": "deploy/none", "replicas": 2}},
            assertions=[
                {"name": "a < b & \x07c", "placed": {}},
                {"name": "nodes", "nodes": {"equals": 2}},
            ],
            name="one",
        )
    )


def test_each_step_and_assertion_is_a_test_case() -> None:
    root = ET.fromstring(junit_report([result(), result()]))
    assert root.tag == "testsuites"
    assert [suite.get("name") for suite in root] == ["one", "one"]
    assert (root.get("tests"), root.get("failures")) == ("8", "4")
    suite = root[0]
    assert suite.get("tests") == "4"
    cases = [case.get("name") for case in suite.iter("testcase")]
    assert cases == ["step pods", "step grow", "a < b & \\x07c", "nodes"]


def test_a_failure_says_what_was_expected_found_and_for_which_pods() -> None:
    root = ET.fromstring(junit_report([result()]))
    refused, unplaced = root.iter("failure")
    assert refused.get("message") == "scale was refused"
    message = unplaced.get("message") or ""
    assert message.startswith("expected all pods placed, found 0 of 1 pod placed")
    assert (unplaced.text or "").splitlines()[1:] == ["default/big"]


def test_equal_runs_have_equal_reports() -> None:
    assert junit_report([result()]) == junit_report([result()])
