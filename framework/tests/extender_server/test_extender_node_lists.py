"""Requests that are compared with what is known mean what a parser finds in them."""

import json
import random
from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest

from quaymaster._extender_server.messages import NodesRequest, read_nodes_request
from quaymaster._extender_server.node_lists import read_known_nodes
from quaymaster._extenders import node_texts
from quaymaster._extenders.node_texts import NodeTexts
from quaymaster._extenders.wire import WireError
from quaymaster.errors import QuaymasterError
from quaymaster.objects import Node, Pod

Tree: TypeAlias = dict[str, Any]


def node(name: str, **labels: str) -> Tree:
    metadata = {"name": name, "uid": f"u-{name}", "resourceVersion": "7"}
    allocatable = {"cpu": "4", "memory": "8Gi"}
    return {
        "metadata": {**metadata, "labels": labels},
        "spec": {},
        "status": {"allocatable": allocatable},
    }


def request(nodes: Sequence[Tree], pod: Tree | None = None) -> Tree:
    return {
        "Pod": pod or {"metadata": {"name": "p", "namespace": "default"}},
        "Nodes": {"metadata": {}, "items": nodes},
        "NodeNames": None,
    }


def compact(tree: object) -> bytearray:
    return bytearray(json.dumps(tree, separators=(",", ":")).encode())


def meaning(found: NodesRequest) -> tuple[Pod, Sequence[Node]]:
    assert found.nodes is not None
    return found.pod, [one.node for one in found.nodes]


@pytest.mark.parametrize("seed", range(5))
def test_any_sequence_of_requests_is_read_as_a_parser_reads_it(seed: int) -> None:
    rng, texts = random.Random(seed), NodeTexts()
    nodes = {f"n{index}": node(f"n{index}") for index in range(8)}
    for step in range(30):
        name = f"n{rng.randrange(12)}"
        # Nothing else tells that it has changed, as after another extender.
        nodes[name] = node(name, zone=rng.choice("ab"), step=rng.choice(["", "0"]))
        if step % 4 == 0:
            nodes.pop(rng.choice(list(nodes)))
        some = rng.sample(list(nodes.values()), rng.randint(1, len(nodes)))
        body = compact(request(some))
        assert read_known_nodes(body, texts) is not None
        spaced = json.dumps(request(some)).encode()
        assert meaning(read_nodes_request(body, texts)) == meaning(
            read_nodes_request(spaced, NodeTexts())
        )


def test_a_node_whose_text_means_the_same_is_the_same_object() -> None:
    texts = NodeTexts()
    [before] = read_nodes_request(compact(request([node("n")])), texts).nodes or ()
    beaten = node("n")
    beaten["status"]["unknownHere"] = "a heartbeat"
    [after] = read_nodes_request(compact(request([beaten])), texts).nodes or ()
    assert after.text != before.text
    assert after.node is before.node


LIST = ',"Nodes":{"metadata":{},"items":['
NESTED = request([node("inner")])


@pytest.mark.parametrize(
    "pod",
    [
        {"metadata": {"name": "p", "annotations": {"a": f"x{LIST}y"}}},
        {"metadata": {"name": "p", **NESTED}},
    ],
    ids=["in a string", "in an object"],
)
def test_a_pod_may_hold_what_looks_like_a_list_of_nodes(pod: Tree) -> None:
    for tree in (request([node("n")], pod), request([], pod)):
        found = read_nodes_request(compact(tree), NodeTexts())
        assert list(found.names) == [
            one["metadata"]["name"] for one in tree["Nodes"]["items"]
        ]
        assert found.pod.metadata.name == "p"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'},{"metadata"', b'} {"metadata"'),
        (b'},{"metadata"', b'},,{"metadata"'),
        (b'"spec":{}', b'"spec":{]'),
        (b'"cpu":"4"', b'"cpu":"much"'),
        (b'{"name":"b"', b'{"name":""'),
        (b"]},", b",]},"),
    ],
    ids=["no comma", "two commas", "no JSON", "no node", "no name", "trailing comma"],
)
@pytest.mark.parametrize("is_known", [False, True], ids=["new", "known"])
def test_a_wrong_request_is_an_error(
    before: bytes, after: bytes, is_known: bool
) -> None:
    texts = NodeTexts()
    body = compact(request([node("a"), node("b")]))
    if is_known:
        read_nodes_request(body, texts)
    wrong = body.replace(before, after)
    assert wrong != body
    with pytest.raises(QuaymasterError):
        read_nodes_request(wrong, texts)
    assert read_nodes_request(body, texts).names == ["a", "b"]


def test_names_and_empty_lists_are_read_as_before() -> None:
    texts = NodeTexts()
    named = {**request([]), "Nodes": None, "NodeNames": ["a"]}
    assert read_nodes_request(compact(named), texts).names == ["a"]
    nothing = request([])
    nothing["Nodes"]["items"] = None
    assert read_nodes_request(compact(nothing), texts).nodes == []
    with pytest.raises(WireError, match="expected JSON"):
        read_nodes_request(b'{"Pod":', texts)


def test_nodes_that_nobody_sends_any_more_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_texts, "_READS_TO_FORGET", 4)
    texts = NodeTexts()
    read_nodes_request(compact(request([node("gone")])), texts)
    for _ in range(8):
        read_nodes_request(compact(request([node("kept")])), texts)
    assert texts.get(b"gone") is None
    assert texts.get(b"kept") is not None
