"""JUnit reports of scenarios."""

import re
from xml.etree import ElementTree as ET

import attrs
import pytest

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
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")
    cases = [case.get("name") for case in suite.iter("testcase")]
    assert cases == ["step pods", "step grow", "a < b & \\x07c", "nodes"]


def test_a_failure_has_expected_and_found_values_and_the_pods() -> None:
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
# which allows more of them than are used here.
JENKINS = {
    "testsuites": ("name time tests failures errors", "", "testsuite"),
    "testsuite": (
        "name tests failures errors skipped time timestamp hostname id package file",
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
    "system-out": ("", "", ""),
    "system-err": ("", "", ""),
}
# The same of JUnit.xsd, the form of Ant's task
# (https://github.com/windyroad/JUnit-Schema), which orders children as below.
ANT = {
    "testsuites": ("", "", "testsuite"),
    "testsuite": (
        "id package name hostname tests failures errors skipped time timestamp",
        "id package name hostname tests failures errors time timestamp",
        "properties testcase system-out system-err",
    ),
    "properties": ("", "", "property"),
    "property": ("name value", "name value", ""),
    "testcase": ("name time classname", "name time classname", "failure"),
    "failure": ("type message", "type", ""),
    "system-out": ("", "", ""),
    "system-err": ("", "", ""),
}
SUREFIRE_TIME = r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?"


@pytest.mark.parametrize("form", [JENKINS, ANT], ids=["Jenkins", "Ant"])
def test_report_matches_the_schemas_of_other_tools(
    form: dict[str, tuple[str, str, str]],
) -> None:
    root = ET.fromstring(junit_report([result(), result()]))
    seen = set()
    for element in root.iter():
        seen.add(element.tag)
        allowed, required, _ = map(str.split, form[element.tag])
        assert set(required) <= element.attrib.keys() <= set(allowed)
        assert re.fullmatch(SUREFIRE_TIME, element.get("time", "0"))
        assert re.fullmatch(r"\S(.*\S)?", element.get("name", "a name"))
    assert seen == set(form)


def test_children_have_the_order_of_ant() -> None:
    root = ET.fromstring(junit_report([result(), result()]))
    for element in root.iter():
        order = ANT[element.tag][2].split()
        places = [order.index(child.tag) for child in element]
        assert places == sorted(places)
    for suite in root:
        tags = [child.tag for child in suite if child.tag != "testcase"]
        assert tags == ["properties", "system-out", "system-err"]
    assert [suite.get("id") for suite in root] == ["0", "1"]


def test_the_file_and_the_seed_are_properties() -> None:
    named = attrs.evolve(result(), file="a&b.yaml", seed=7)
    root = ET.fromstring(junit_report([named]))
    found = {
        element.get("name"): element.get("value") for element in root.iter("property")
    }
    assert found == {"seed": "7", "file": "a&b.yaml"}


def test_a_blank_name_is_replaced() -> None:
    [suite] = ET.fromstring(junit_report([attrs.evolve(result(), name=" ")]))
    assert suite.get("name") == "scenario"


def test_counts_agree_with_the_elements() -> None:
    root = ET.fromstring(junit_report([result(), result()]))
    for suite in root:
        assert suite.get("tests") == str(len(list(suite.iter("testcase"))))
        assert suite.get("failures") == str(len(list(suite.iter("failure"))))


def test_time_of_a_suite_has_no_fraction_and_zone() -> None:
    [suite] = ET.fromstring(junit_report([result()]))
    stamp = suite.get("timestamp") or ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", stamp)
