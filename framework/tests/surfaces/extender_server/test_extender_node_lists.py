"""Requests that are compared with cached node lists are read as a parser does."""

import io
import json
import random
from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest

from quaymaster import Node, Pod
from quaymaster.errors import QuaymasterError
from tests.kit.internals.extender_server import (
    WINDOW,
    Bodies,
    Body,
    NodeLists,
    NodesRequest,
    Piece,
    ReadNodes,
    Receiver,
    RequestReader,
)
from tests.kit.internals.extenders import (
    READS_TO_FORGET,
    KnownNode,
    WireError,
)

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
    return found.pod, [info.node for info in nodes_of(found)]


def read(text: bytes | bytearray, reader: RequestReader | None = None) -> NodesRequest:
    return (reader or RequestReader()).read(Body.of(text))


class Server:
    """Receives requests in reused buffers, as the server does."""

    def __init__(self) -> None:
        self.reader = RequestReader()
        self._receiver = Receiver(self.reader.lists)

    def receive(self, text: bytes | bytearray, length: int = 0) -> Body | ReadNodes:
        read = io.BytesIO(text).readinto
        return self._receiver.receive(read, length or len(text))

    def read(self, text: bytes | bytearray) -> NodesRequest:
        return self.reader.read(self.receive(text))


@pytest.fixture(autouse=True)
def spoilt_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Overwrite buffers after use, so that stale reads are detected."""
    end = Body.__del__

    def spoil(self: Body) -> None:
        self.buffer[:] = b"?" * len(self.buffer)
        end(self)

    monkeypatch.setattr(Body, "__del__", spoil)


@pytest.fixture(params=[50, 100, 333, 1 << 18])
def window(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Set how much of a request is compared at once."""
    size: int = request.param
    monkeypatch.setattr(WINDOW, size)
    return size


@pytest.mark.usefixtures("window")
@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_requests_is_read_as_a_parser_reads_it(seed: int) -> None:
    rng, server = random.Random(seed), Server()
    nodes = {f"n{index}": node(f"n{index}") for index in range(8)}
    some: Sequence[Tree] = []
    for step in range(40):
        name = f"n{rng.randrange(12)}"
        # Only the labels change, as after another extender.
        nodes[name] = node(name, zone=rng.choice("ab"), step=rng.choice(["", "0"]))
        if step % 4 == 0:
            nodes.pop(rng.choice(list(nodes)))
        if step % 3 or not some:  # otherwise the same list again
            some = rng.sample(list(nodes.values()), rng.randint(1, len(nodes)))
        tree = request(some, {"metadata": {"name": f"p{step}"}})
        body = server.receive(compact(tree))
        assert isinstance(body, ReadNodes) or server.reader.lists.read(body) is not None
        expected = meaning(read(json.dumps(tree).encode()))
        assert meaning(server.read(compact(tree))) == expected


def test_a_list_that_comes_again_is_compared_as_it_comes(window: int) -> None:
    server = Server()
    listed = [node(f"n{index}") for index in range(20)]
    text = compact(request(listed))
    first = server.read(text)
    again = server.receive(text)
    holds_head = window > text.index(b"[")
    assert isinstance(again, ReadNodes) == (holds_head and window < len(text))
    assert server.reader.read(again).nodes is first.nodes


@pytest.mark.usefixtures("window")
def test_every_differing_byte_is_detected() -> None:
    server = Server()
    before = compact(request([node("n", zone="a"), node("m", zone="a")]))
    server.read(before)
    for place in range(len(before)):
        text = bytearray(before)
        text[place] ^= 1
        body = server.receive(text)
        if isinstance(body, ReadNodes):  # it is in the pod
            assert place < text.index(b',"Nodes"')
            assert bytes(body.pod) in text
        else:
            assert body.text == text


@pytest.mark.usefixtures("window")
def test_a_body_that_ends_too_early_is_an_error() -> None:
    server = Server()
    text = compact(request([node("n"), node("m")]))
    server.read(text)
    for length in range(len(text)):
        with pytest.raises(ConnectionError, match="ended too early"):
            server.receive(text[:length], len(text))


def test_earlier_content_of_a_buffer_is_not_read() -> None:
    lists, end = NodeLists(), b']},"NodeNames":null}'
    odd = {**node("n"), "status": {"unknown": {"items": []}, "NodeNames": None}}
    text = compact(request([odd]))
    assert lists.read(Body.of(text)) is not None
    # One that ends within the node: the rest is from the earlier request.
    shorter = Body.of(text)
    shorter.length = text.index(end) + len(end)
    assert shorter.length < len(text)
    assert lists.read(shorter) is None


def test_a_buffer_is_reused_when_its_body_is_released() -> None:
    bodies = Bodies()
    body = bodies.take(1000)
    buffer, piece = body.buffer, Piece(body, body.text[10:20])
    assert len(body.text) == 1000
    del body
    assert bodies.take(900).buffer is not buffer
    del piece
    assert buffer in (bodies.take(900).buffer, bodies.take(900).buffer)
    assert len(bodies.take(5000).text) == 5000


def test_a_node_whose_text_means_the_same_is_the_same_object() -> None:
    reader = RequestReader()
    [before] = nodes_of(read(compact(request([node("n")])), reader))
    beaten = node("n")
    beaten["status"]["unknownHere"] = "a heartbeat"
    [after] = nodes_of(read(compact(request([beaten])), reader))
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
            item["metadata"]["name"] for item in tree["Nodes"]["items"]
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
    reader = RequestReader()
    body = compact(request([node("a"), node("b")]))
    if is_known:
        read(body, reader)
    wrong = body.replace(before, after)
    assert wrong != body
    with pytest.raises(QuaymasterError):
        read(wrong, reader)
    assert read(body, reader).names == ["a", "b"]


def test_names_and_empty_lists_are_read_as_before() -> None:
    reader = RequestReader()
    named = {**request([]), "Nodes": None, "NodeNames": ["a"]}
    assert read(compact(named), reader).names == ["a"]
    nothing = request([])
    nothing["Nodes"]["items"] = None
    assert nodes_of(read(compact(nothing), reader)) == []
    with pytest.raises(WireError, match="expected JSON"):
        read(b'{"Pod":', reader)


def test_nodes_that_are_no_longer_sent_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(READS_TO_FORGET, 4)
    reader = RequestReader()
    read(compact(request([node("gone")])), reader)
    for step in range(8):
        read(compact(request([node("kept", step=str(step))])), reader)
    assert reader.lists.texts.get(b"gone") is None
    assert reader.lists.texts.get(b"kept") is not None
