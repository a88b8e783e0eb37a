"""LoadAware: its scores, and measures that come, grow old, or do not come at all."""

import json
import logging
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaymaster import Node, Pod
from quaymaster.config import ConfigErrors, load_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import simulate
from quaymaster.testing import (
    PluginHarness,
    SchedulerHarness,
    make_node,
    make_pod,
    profile_config,
)

from quaymaster_load_aware import LoadAware, LoadAwareArgs, curve, watcher
from quaymaster_load_aware.watcher import BadAnswerError

TABLE = json.loads(
    (Path(__file__).parent / "tables/target_load_packing.json").read_text("utf-8")
)


def answer(end: int, **percent: float) -> bytes:
    """Make a response of load-watcher with the CPU load of some nodes."""
    nodes = {
        name: {"metrics": [{"type": "CPU", "operator": "AVG", "value": value}]}
        for name, value in percent.items()
    }
    tree = {"window": {"end": end}, "data": {"NodeMetricsMap": nodes}}
    return json.dumps(tree).encode()


def scripted(answers: list[bytes]) -> type[LoadAware]:
    """A plugin that is given these answers; when there are none, the server is down."""

    class Scripted(LoadAware):
        def fetch(self) -> bytes:
            if not answers:
                raise OSError("connection refused")
            return answers.pop(0)

    return Scripted


def node(name: str, cpu: int = 10) -> Node:
    return make_node(name=name, allocatable={"cpu": str(cpu)})


def pod(name: str = "pod", milli_cpu: int = 100, on: str = "") -> Pod:
    requests = {"cpu": f"{milli_cpu}m"}
    return make_pod(name=name, requests=requests, node=on or None)


def one_plugin(
    *pods: Pod, args: Mapping[str, object] | None = None, **percent: float
) -> PluginHarness:
    """Nodes a, b and c of 10 CPUs, some of them with measures."""
    nodes = [node(name) for name in "abc"]
    plugin = scripted([answer(1, **percent)])
    harness = PluginHarness(plugin, args=args, nodes=nodes, pods=pods)
    harness.start()
    return harness


def start(answers: list[bytes], **args: object) -> SchedulerHarness:
    """Nodes a and b of 10 CPUs, and what the server says from now on."""
    return SchedulerHarness(
        [node("a"), node("b")],
        plugins={"LoadAware": scripted(answers)},
        config=profile_config(
            enable=["LoadAware", "PrioritySort", "DefaultBinder"],
            disable=["*"],
            args={"LoadAware": args},
        ),
    )


def place(harness: SchedulerHarness, name: str) -> str:
    harness.cluster.create(pod(name))
    harness.advance(0)
    harness.assert_no_errors()
    return harness.node_of(name)


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["case"])
def test_nodes_score_as_by_target_load_packing(case: Mapping[str, Any]) -> None:
    harness = PluginHarness(
        scripted([answer(1, a=case["measured"])]),
        args={"requestsMultiplier": 1.0},
        nodes=[node("a", cpu=1)],
    )
    harness.start()
    assert harness.score(pod(milli_cpu=case["requests"])) == {"a": case["score"]}


@given(percent=st.floats(-10, 250), target=st.integers(1, 99))
def test_scores_rise_up_to_the_target_and_fall_beyond(
    percent: float, target: int
) -> None:
    found = curve.score(percent, target)
    assert 0 <= found <= 100
    assert curve.scores(np.array([percent]), target).tolist() == [found]
    nearer = min(percent + 1, target) if percent < target else percent - 1
    if nearer >= target or percent < target:
        assert curve.score(nearer, target) >= found
    assert curve.score(target, target) == 100


def test_what_has_come_since_the_measure_is_added() -> None:
    harness = one_plugin(a=10, b=10)
    # 1.5 times 2 CPUs, of 10: 30 percent more on a.
    harness.snapshot.add_pod(pod("new", 2000, on="a"))
    args = LoadAwareArgs()
    target = args.target_utilization
    found = harness.score(pod())
    assert found["a"] == curve.score(10 + 30 + 1.5, target)
    assert found["b"] == curve.score(10 + 1.5, target)


def test_what_has_gone_since_is_in_the_measure_until_the_next_one() -> None:
    old = pod("old", 2000, on="a")
    harness = one_plugin(old, a=20)
    before = harness.score(pod())
    harness.snapshot.remove_pod(old)
    assert harness.score(pod()) == before


def test_a_node_without_a_measure_counts_with_what_its_pods_request() -> None:
    found = one_plugin(pod("p", 2000, on="c"), a=31.5).score(pod())
    assert found["c"] == curve.score(31.5, 40) < found["a"]
    assert found["b"] == curve.score(1.5, 40)


def test_only_measured_nodes_are_refused_above_the_limit() -> None:
    harness = one_plugin(
        pod("p", 9900, on="c"), args={"limitPercent": 80}, a=79, b=78.5
    )
    rejected = harness.filter(pod())
    assert set(rejected) == {"a"}
    assert rejected["a"].reasons == ("node(s) would be too busy",)
    assert one_plugin(a=100).filter(pod()) == {}


def test_measures_come_and_are_followed() -> None:
    harness = start([answer(1, a=35, b=0), answer(31, a=0, b=35)])
    assert place(harness, "first") == "a"
    harness.advance(30)
    assert place(harness, "second") == "b"


def test_a_pod_that_was_refused_is_tried_again_when_measures_change() -> None:
    both = answer(1, a=95, b=95)
    harness = start(
        [both, answer(31, a=95, b=95), answer(61, a=95, b=10)], limitPercent=90
    )
    assert place(harness, "p") == ""
    harness.assert_pending("p", reason="2 node(s) would be too busy")
    harness.advance(29)
    assert len(harness.attempts) == 1
    harness.advance(32)
    assert harness.node_of("p") == "b"


def test_measures_that_have_grown_old_are_forgotten(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = start([answer(1, a=0, b=95)], limitPercent=90, maxAgeSeconds=100)
    loads = harness.plugin(LoadAware).loads
    harness.advance(99)
    assert loads.percent == {"a": 0.0, "b": 95.0}
    harness.advance(2)
    assert loads.percent == {}
    assert "LoadAware: the measures are too old" in caplog.messages


def test_a_server_that_tells_the_same_for_ever_is_not_believed_for_ever() -> None:
    harness = start([answer(1, a=50)] * 9, maxAgeSeconds=100)
    loads = harness.plugin(LoadAware).loads
    harness.advance(99)
    assert loads.percent
    harness.advance(2)
    assert not loads.percent
    harness.advance(100)
    assert not loads.percent


def test_while_the_server_is_down_the_last_measures_hold(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    answers = [answer(1, a=50)]
    harness = start(answers)
    harness.advance(100)
    assert harness.plugin(LoadAware).loads.percent == {"a": 50.0}
    answers.append(answer(101, a=60))
    harness.advance(30)
    assert harness.plugin(LoadAware).loads.percent == {"a": 60.0}
    messages = [text for text in caplog.messages if "measures" in text]
    assert messages == [
        "LoadAware: no measures from http://127.0.0.1:2020/watcher: connection refused",
        "LoadAware: measures again from http://127.0.0.1:2020/watcher",
    ]


def test_without_any_server_pods_are_placed_by_what_they_request() -> None:
    harness = start([])
    # Packed up to the target, which is 40 percent of 10 CPUs.
    found = {place(harness, f"p{number}") for number in range(5)}
    assert len(found) == 1


def test_a_replaced_plugin_reads_no_more() -> None:
    answers = [answer(end, a=1) for end in range(1, 30)]
    harness = start(answers)
    harness.reload(harness.config)
    harness.advance(0)
    left = len(answers)
    harness.advance(61)
    assert len(answers) == left - 2


GARBAGE = [
    b"",
    b"<html>",
    b"[]",
    b"null",
    b'{"data": 3}',
    b'{"data": {}}',
    b'{"data": {"NodeMetricsMap": []}}',
    b"[" * 100_000,
    b"\xff\xfe",
]


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_an_answer_that_is_none_is_an_error(text: bytes) -> None:
    with pytest.raises(BadAnswerError, match="expected"):
        watcher.parse(text)


def test_after_garbage_the_plugin_goes_on() -> None:
    harness = start([*GARBAGE[:3], answer(91, a=5)])
    harness.advance(89)
    assert place(harness, "p")
    harness.advance(2)
    assert harness.plugin(LoadAware).loads.percent == {"a": 5.0}


def test_nodes_without_a_proper_measure_are_left_out() -> None:
    metrics: Mapping[str, object] = {
        "good": {"metrics": [{"type": "CPU", "operator": "Latest", "value": 7}]},
        "last": {
            "metrics": [
                {"type": "CPU", "operator": "AVG", "value": 1},
                {"type": "CPU", "operator": "AVG", "value": 2.5},
                {"type": "CPU", "operator": "STD", "value": 3},
                {"type": "Memory", "operator": "AVG", "value": 4},
            ]
        },
        "text": {"metrics": [{"type": "CPU", "operator": "AVG", "value": "7"}]},
        "nan": {"metrics": [{"type": "CPU", "operator": "AVG", "value": float("nan")}]},
        "huge": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 10**400}]},
        "less": {"metrics": [{"type": "CPU", "operator": "AVG", "value": -1}]},
        "true": {"metrics": [{"type": "CPU", "operator": "AVG", "value": True}]},
        "none": {"metrics": None},
        "odd": [],
    }
    found = watcher.parse(json.dumps({"data": {"NodeMetricsMap": metrics}}).encode())
    assert found.percent == {"good": 7.0, "last": 2.5}
    assert found.window_end is None


@given(
    answers=st.lists(
        st.none()
        | st.builds(
            answer,
            st.integers(1, 5),
            a=st.floats(0, 200),
            b=st.floats(0, 200),
        ),
        max_size=6,
    ),
    cpus=st.lists(st.integers(0, 3000), max_size=6),
)
def test_pods_go_where_the_score_is_best_whatever_the_server_says(
    answers: list[bytes | None], cpus: list[int]
) -> None:
    harness = start([answer or b"{" for answer in answers])
    plugin = harness.plugin(LoadAware)
    for number, cpu in enumerate(cpus):
        new = pod(f"p{number}", cpu)
        found = {name: _score(harness, plugin, name, new) for name in "ab"}
        harness.cluster.create(new)
        harness.advance(0)
        assert found[harness.node_of(new.key)] == max(found.values())
        harness.advance(17)
    harness.assert_no_errors()


def _cpu(pod: Pod) -> int:
    return pod.spec.containers[0].resources.requests["cpu"].milli_value


def _score(harness: SchedulerHarness, plugin: LoadAware, name: str, new: Pod) -> int:
    """Compute the rule naively."""
    requested = sum(
        _cpu(placed)
        for placed in harness.cluster.list(Pod).items
        if placed.node_name == name
    )
    loads = plugin.loads
    measure = loads.percent.get(name)
    since = requested - (loads.then[name] if measure is not None else 0)
    expected = 1.5 * (max(since, 0) + _cpu(new))
    return curve.score((measure or 0.0) + 100 * expected / 10_000, 40)


class Watcher(BaseHTTPRequestHandler):
    """Run a server that returns two measurements at the right path."""

    def do_GET(self) -> None:
        if self.path != "/watcher":
            self.send_error(404)
            return
        body = answer(1, a=35, b=0)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as there
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Watcher) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_measures_are_fetched_over_http(address: str) -> None:
    args = {"metricsUrl": f"{address}/watcher"}
    harness = PluginHarness(LoadAware, args=args, nodes=[node("a"), node("b")])
    harness.start()
    assert harness.score(pod()) == {
        "a": curve.score(36.5, 40),
        "b": curve.score(1.5, 40),
    }


def test_a_refusal_of_the_server_is_told(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"{address}/elsewhere"
    harness = PluginHarness(LoadAware, args={"metricsUrl": url}, nodes=[node("a")])
    harness.start()
    text = f"LoadAware: no measures from {url}: HTTP Error 404: Not Found"
    assert caplog.messages == [text]


def test_the_profile_of_the_package_has_the_plugin(tmp_path: Path) -> None:
    registry = PluginRegistry.discover().with_plugin(LoadAware)
    measures = tmp_path / "measures.json"
    measures.write_bytes(answer(1, a=38, b=90))
    text = (Path(__file__).parents[1] / "profile.yaml").read_text("utf-8")
    profile = tmp_path / "profile.yaml"
    default = LoadAwareArgs().metrics_url
    assert default in text
    profile.write_text(text.replace(default, measures.as_uri()), "utf-8")
    result = simulate(
        [node("a"), node("b"), pod()],
        config=load_config(profile, registry),
        registry=registry,
    )
    assert [placement.node for placement in result.placements] == ["a"]


def test_mistakes_in_arguments_are_told() -> None:
    args = {"metricsUrl": "here", "targetUtilization": 100}
    with pytest.raises(ConfigErrors) as raised:
        PluginHarness(LoadAware, args=args)
    text = str(raised.value)
    for part in ("metricsUrl: expected an http:, https: or file: URL", "targetUtili"):
        assert part in text
    with pytest.raises(ConfigErrors, match="limitPercent: expected at least 1, got 0"):
        PluginHarness(LoadAware, args={"limitPercent": 0})


def test_pods_that_run_when_the_plugin_starts_are_in_the_first_measures() -> None:
    harness = SchedulerHarness(
        [node("a"), node("b"), pod("old", 3000, on="a")],
        plugins={"LoadAware": scripted([answer(1, a=38, b=50)])},
        config=profile_config(
            enable=["LoadAware", "PrioritySort", "DefaultBinder"], disable=["*"]
        ),
    )
    assert place(harness, "new") == "a"
    assert harness.plugin(LoadAware).loads.then == {"a": 3000, "b": 0}
