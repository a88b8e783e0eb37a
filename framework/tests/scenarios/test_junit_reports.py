"""JUnit reports of scenarios."""

import re
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


# Element -> its attributes, those that it must have, and its children; as in
# junit-10.xsd of Jenkins' xunit plugin (https://github.com/jenkinsci/xunit-plugin),
# which knows more of them than there are here.
FORM = {
    "testsuites": ("name time tests failures errors", "", "testsuite"),
    "testsuite": (
        "name tests failures errors skipped time timestamp file",
        "name tests failures errors",
        "testsuite properties testcase system-out system-err",
    ),
    "properties": ("", "", "property"),
    "property": ("name value", "name value", ""),
    "testcase": (
        "name time classname group",
        "name",
        "skipped error failure system-out system-err",
    ),
    "failure": ("type message", "", ""),
}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")


def test_report_has_the_form_that_jenkins_takes() -> None:
    root = ET.fromstring(junit_report([result(), result()]))
    seen = set()
    for element in root.iter():
        seen.add(element.tag)
        known, required, children = map(str.split, FORM[element.tag])
        assert set(required) <= element.attrib.keys() <= set(known)
        assert {child.tag for child in element} <= set(children)
        if element.tag.startswith("testsuite"):
            assert TIME.fullmatch(element.get("time", "0"))
    assert seen == set(FORM)


def test_counts_are_those_of_what_is_there() -> None:
    root = ET.fromstring(junit_report([result(), result()]))
    for suite in (root, *root):
        assert suite.get("tests") == str(len(list(suite.iter("testcase"))))
        assert suite.get("failures") == str(len(list(suite.iter("failure"))))


def test_time_of_a_suite_is_a_plain_moment() -> None:
    [suite] = ET.fromstring(junit_report([result()]))
    stamp = suite.get("timestamp") or ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?", stamp)
