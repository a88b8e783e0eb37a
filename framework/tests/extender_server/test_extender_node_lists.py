"""Requests that are compared with what is known mean what a parser finds in them."""

import json
import random
from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest

from quaymaster import Node, Pod
from quaymaster._extender_server.bodies import Bodies, Body
from quaymaster._extender_server.messages import NodesRequest, read_nodes_request
from quaymaster._extender_server.node_lists import NodeLists
from quaymaster._extenders import node_texts
from quaymaster._extenders.node_texts import KnownNode
from quaymaster._extenders.wire import WireError
from quaymaster.errors import QuaymasterError

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


def nodes_of(found: NodesRequest) -> Sequence[KnownNode]:
    assert found.nodes is not None
    return found.nodes.nodes


def meaning(found: NodesRequest) -> tuple[Pod, Sequence[Node]]:
    return found.pod, [one.node for one in nodes_of(found)]


def read(text: bytes | bytearray, lists: NodeLists | None = None) -> NodesRequest:
    return read_nodes_request(Body.of(text), lists or NodeLists())


class Server:
    """Receives requests in buffers that are used again, as the server does."""

    def __init__(self) -> None:
        self.lists = NodeLists()
        self._bodies = Bodies()

    def received(self, text: bytes | bytearray) -> Body:
        body = self._bodies.take(len(text))
        body.text[:] = text
        return body

    def read(self, text: bytes | bytearray) -> NodesRequest:
        body = self.received(text)
        try:
            return read_nodes_request(body, self.lists)
        finally:
            self.release(body)

    def release(self, body: Body) -> None:
        spare = self.lists.release(body)
        if spare is not None:
            spare[:] = b"?" * len(spare)  # whoever looks at it now is wrong
            self._bodies.give(spare)


@pytest.mark.parametrize("seed", range(5))
def test_any_sequence_of_requests_is_read_as_a_parser_reads_it(seed: int) -> None:
    rng, server = random.Random(seed), Server()
    nodes = {f"n{index}": node(f"n{index}") for index in range(8)}
    some: Sequence[Tree] = []
    for step in range(40):
        name = f"n{rng.randrange(12)}"
        # Nothing else tells that it has changed, as after another extender.
        nodes[name] = node(name, zone=rng.choice("ab"), step=rng.choice(["", "0"]))
        if step % 4 == 0:
            nodes.pop(rng.choice(list(nodes)))
        if step % 3 or not some:  # otherwise it asks of the same list again
            some = rng.sample(list(nodes.values()), rng.randint(1, len(nodes)))
        asked = request(some, {"metadata": {"name": f"p{step}"}})
        body = server.received(compact(asked))
        assert server.lists.read(body) is not None
        server.release(body)
        spaced = json.dumps(asked).encode()
        assert meaning(server.read(compact(asked))) == meaning(read(spaced))


def test_lists_that_differ_in_one_byte_are_told_apart() -> None:
    server = Server()
    for zone in "abbaab":
        found = server.read(compact(request([node("n", zone=zone), node("m")])))
        labels = [one.metadata.labels for one in meaning(found)[1]]
        assert labels == [{"zone": zone}, {}]


def test_what_a_buffer_held_before_is_not_read() -> None:
    lists, end = NodeLists(), b']},"NodeNames":null}'
    odd = {**node("n"), "status": {"unknown": {"items": []}, "NodeNames": None}}
    buffer = compact(request([odd]))
    assert lists.read(Body(buffer, len(buffer))) is not None
    # One that ends within the node: the rest is from the earlier request.
    length = buffer.index(end) + len(end)
    assert length < len(buffer)
    assert lists.read(Body(buffer, length)) is None


def test_a_buffer_is_kept_as_long_as_the_next_list_is_compared_with_it() -> None:
    lists = NodeLists()
    one, same, other = (
        Body.of(compact(request([node(name)]))) for name in ("n", "n", "m")
    )
    lists.read(one)
    assert lists.release(one) is None
    lists.read(same)
    assert lists.release(same) is same.buffer
    lists.read(other)
    assert lists.release(other) is one.buffer


def test_buffers_are_used_again_if_they_are_long_enough() -> None:
    bodies = Bodies()
    first = bodies.take(1000)
    assert len(first.text) == 1000
    bodies.give(first.buffer)
    assert bodies.take(900).buffer is first.buffer
    assert bodies.take(900).buffer is not first.buffer


def test_a_node_whose_text_means_the_same_is_the_same_object() -> None:
    lists = NodeLists()
    [before] = nodes_of(read(compact(request([node("n")])), lists))
    beaten = node("n")
    beaten["status"]["unknownHere"] = "a heartbeat"
    [after] = nodes_of(read(compact(request([beaten])), lists))
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
        found = read(compact(tree))
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
    lists = NodeLists()
    body = compact(request([node("a"), node("b")]))
    if is_known:
        read(body, lists)
    wrong = body.replace(before, after)
    assert wrong != body
    with pytest.raises(QuaymasterError):
        read(wrong, lists)
    assert read(body, lists).names == ["a", "b"]


def test_names_and_empty_lists_are_read_as_before() -> None:
    lists = NodeLists()
    named = {**request([]), "Nodes": None, "NodeNames": ["a"]}
    assert read(compact(named), lists).names == ["a"]
    nothing = request([])
    nothing["Nodes"]["items"] = None
    assert nodes_of(read(compact(nothing), lists)) == []
    with pytest.raises(WireError, match="expected JSON"):
        read(b'{"Pod":', lists)


def test_nodes_that_nobody_sends_any_more_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_texts, "_READS_TO_FORGET", 4)
    lists = NodeLists()
    read(compact(request([node("gone")])), lists)
    for step in range(8):
        read(compact(request([node("kept", step=str(step))])), lists)
    assert lists.texts.get(b"gone") is None
    assert lists.texts.get(b"kept") is not None
