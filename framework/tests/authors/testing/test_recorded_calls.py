"""A plugin is checked against calls that were recorded from its original in Go."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from quaymaster import CycleState, Handle, NodeInfo, Pod, Status, hookimpl
from quaymaster.testing import ContractError, RecordedCaseError, check_recorded


class FewPods:
    """Rejects nodes with two pods or more."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return Status.unschedulable("too many pods") if len(node.pods) > 1 else None


def recorded(*reasons: str, calls: int = 1, **case: Any) -> dict[str, Any]:
    """Return a case: one node with three pods, for which Go's plugin has reasons."""
    status = {"code": "Unschedulable", "reasons": list(reasons)}
    tree = {
        "id": "TestFilter/three_pods",
        "on": "FewPods",
        "nodes": [{"node": {"metadata": {"name": "quay"}}, "pods": [{}, {}, {}]}],
        "pods": [{}],
        "calls": [{"call": "Filter", "pod": 0, "node": 0}] * calls,
        **case,
    }
    return {"case": tree, "expect": {"answers": [{"status": status}] * calls}}


def test_equal_answers_are_counted() -> None:
    result = check_recorded(FewPods, [recorded("too many pods", calls=2)])
    assert (result.equal, result.not_played) == (2, {})


def test_answer_that_differs_is_reported_with_its_case_and_call() -> None:
    with pytest.raises(ContractError, match=r"three_pods: call 0, Filter: status"):
        check_recorded(FewPods, [recorded("node(s) are full")])


def test_list_that_go_writes_as_null_is_empty() -> None:
    case = recorded("too many pods", objects=None, snapshot=None, args=None)
    assert check_recorded(FewPods, [case]).equal == 1


def test_calls_of_other_plugins_are_left_out() -> None:
    other = recorded("anything", on="Other")
    assert check_recorded(FewPods, [other, recorded("too many pods")]).equal == 1


def test_plugin_may_have_another_name_in_the_record() -> None:
    case = recorded("too many pods", on="MaxPods")
    assert check_recorded(FewPods, [case], name="MaxPods").equal == 1


def test_call_without_a_counterpart_is_counted_with_its_reason() -> None:
    case = recorded("too many pods")
    case["case"]["calls"].append({"call": "PreFilter", "pod": 0, "nodes": [0]})
    case["expect"]["answers"].append({"status": {"code": "Success"}})
    result = check_recorded(FewPods, [case])
    assert result.not_played == {"FewPods has no hook pre_filter": 1}


def test_check_that_makes_no_call_fails() -> None:
    with pytest.raises(ContractError, match="0 calls are equal"):
        check_recorded(FewPods, [recorded(on="Other")])


def test_gate_that_cannot_be_simulated_leaves_out_its_case() -> None:
    gated = recorded("too many pods", gates={"DRADerivedAttributes": True})
    result = check_recorded(FewPods, [gated, recorded("too many pods")])
    assert list(result.not_played) == [
        "the gate DRADerivedAttributes: only false is played, its default in 1.37"
    ]


def test_cases_are_read_from_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps(recorded("too many pods")))
    assert check_recorded(FewPods, path).equal == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "expected JSON"),
        ("[]", "expected an object with case.id, case.calls and expect.answers"),
        ('{"case": {"id": "a", "calls": [1]}, "expect": {"answers": []}}', "got 0"),
    ],
)
def test_line_that_is_no_case_is_named(line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(line)
    with pytest.raises(RecordedCaseError, match=f"cases.jsonl:1: .*{problem}"):
        check_recorded(FewPods, path)
