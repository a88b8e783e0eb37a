"""The page about ports shows the plugin whose calls were recorded, and a message."""

import json
import re
from types import ModuleType

import pytest

from quaymaster.testing import ContractError, check_recorded
from tests.docs.snippets import read_page
from tests.kit.sources import ROOT

PAGE = ROOT / "docs" / "how-to" / "port-a-go-plugin.md"
EXAMPLE = ROOT / "docs" / "examples" / "rack-limit"


def port(source: str) -> type:
    module = ModuleType("rack_limit")
    exec(compile(source, "rack_limit.py", "exec"), vars(module))
    plugin: type = vars(module)["RackLimit"]
    return plugin


@pytest.fixture
def source() -> str:
    return read_page(PAGE).files["rack_limit.py"]


@pytest.mark.house
def test_plugin_in_go_is_the_recorded_one() -> None:
    shown = read_page(PAGE).files["racklimit.go"]
    assert shown == (EXAMPLE / "racklimit.go").read_text(encoding="utf-8")


def test_port_answers_all_recorded_calls(source: str) -> None:
    calls = check_recorded(port(source), EXAMPLE / "calls.jsonl")
    assert (calls.equal, calls.not_played) == (26, {})


def test_record_has_each_kind_of_call_of_the_plugin() -> None:
    lines = (EXAMPLE / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    calls = {
        call["call"] for line in lines for call in json.loads(line)["case"]["calls"]
    }
    hooks = {"PreFilter", "AddPod", "RemovePod", "Filter", "Score"}
    assert calls == hooks | {"EventsToRegister", "Hint"}


def test_broken_port_fails_with_the_message_of_the_page(source: str) -> None:
    message = re.search(r"```text\nContractError: (.*?)\n```", page(), re.DOTALL)
    assert message
    broken = source.replace("[rack_of(node)] < self", "[rack_of(node)] <= self")
    with pytest.raises(ContractError, match=re.escape(message[1])):
        check_recorded(port(broken), EXAMPLE / "calls.jsonl")


def page() -> str:
    return PAGE.read_text(encoding="utf-8")
