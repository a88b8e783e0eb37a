"""With extenders we decide as kube-scheduler 1.36.2 did.

Upstream's own scheduler (``pkg/scheduler``, compiled, on a fake clientset) scheduled
random clusters with extenders that answer by `rules`. The records have the totals of
all nodes (from its log), the node or the message, and its requests.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import Kubernetes, SchedulerConfig, parse_config
from quaymaster.objects import from_wire
from quaymaster.scheduler import PluginRegistry
from tests.extenders.replay import Replay
from tests.extenders.rules import RuledExtenders, Tree, serving

_FILE = Path(__file__).with_name("data") / "decisions.jsonl.gz"
_REGISTRY = PluginRegistry.discover()
_RECORDED = Kubernetes("1.36")
_GHOST = "ghost"  # a node that only an extender has


def read() -> Sequence[Tree]:
    with gzip.open(_FILE, "rt") as lines:
        return [json.loads(line) for line in lines]


CASES = read()


@pytest.fixture(scope="module")
def extenders() -> Iterator[RuledExtenders]:
    with serving() as found:
        yield found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_totals_nodes_and_messages_are_upstreams(
    case: Tree, extenders: RuledExtenders
) -> None:
    config = _config(case, extenders)
    world = [_object(tree) for tree in case["objects"]]
    replay: Replay | None = None
    for tree, decision in zip(case["pods"], case["decisions"], strict=True):
        if replay is None:
            replay = Replay(world, config, _REGISTRY)
        extenders.requests.clear()
        # A single node is not scored.
        pod = replay.attempt(from_wire(tree, Pod), explains=bool(decision["totals"]))
        assert replay.totals() == dict(decision["totals"])
        _check_requests(extenders, case, pod.metadata.name)
        _check_outcome(pod, decision)
        if decision["node"] not in ("", _GHOST):
            world.append(_bound(tree, decision["node"]))
        if not pod.node_name or pod.node_name != decision["node"]:
            replay = None  # another node with the same total


@pytest.mark.long
@pytest.mark.parametrize("case", CASES[::8], ids=lambda case: case["name"])
def test_slow_and_fast_attempts_agree(case: Tree, extenders: RuledExtenders) -> None:
    world = [_object(tree) for tree in case["objects"]]
    replay = Replay(world, _config(case, extenders), _REGISTRY, verify=1)
    for tree in case["pods"]:
        replay.attempt(from_wire(tree, Pod), explains=False)


def _config(case: Tree, extenders: RuledExtenders) -> SchedulerConfig:
    extenders.rules = case["rules"]
    document = {**case["profile"], "extenders": extenders.configs(case["extenders"])}
    return parse_config(document, _REGISTRY, source="test", kubernetes=_RECORDED)


def _check_outcome(pod: Pod, decision: Tree) -> None:
    totals = dict(decision["totals"])
    best = [node for node in totals if totals[node] == max(totals.values())]
    if not decision["node"]:
        assert _message(pod) == decision["message"]
    elif pod.node_name:
        assert pod.node_name in (best or [decision["node"]])
    else:
        assert _GHOST in (best or [decision["node"]])
        assert _message(pod).endswith("Node ghost: there is none")


def _check_requests(extenders: RuledExtenders, case: Tree, pod_name: str) -> None:
    """Compare our requests with upstream's; an explanation makes further calls."""
    theirs = [request for request in case["asked"] if request[0] == pod_name]
    assert set(_texts(theirs)) == set(_texts(extenders.requests))


def _texts(requests: Iterable[object]) -> Iterator[str]:
    return (json.dumps(request, sort_keys=True) for request in requests)


def _message(pod: Pod) -> str:
    return next(
        condition.message
        for condition in pod.status.conditions
        if condition.type == "PodScheduled"
    )


def _object(tree: Tree) -> ApiObject:
    return from_wire(tree, Node if tree["kind"] == "Node" else Pod)


def _bound(tree: Tree, node: str) -> Pod:
    spec = {**tree["spec"], "nodeName": node}
    return from_wire({**tree, "spec": spec, "status": {"phase": "Running"}}, Pod)
