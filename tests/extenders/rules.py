"""Extenders whose answers follow rules, so that two schedulers can use the same ones.

A rule is plain data::

    {"answer": "nodes",           # or "names": the form of the answer to filter
     "reject": ["n1"],            # returned in FailedNodes
     "unresolvable": ["n2"],      # returned in FailedAndUnresolvableNodes
     "drop": ["n3"],              # left out of the answer
     "patch": {"n4": {"labels": {"zone": "b", "rack": null}, "taints": [...],
                      "allocatable": {"cpu": "2"}}},
     "bare": true,                # nodes are returned with their names only
     "twice": ["n5"],             # returned two times
     "extra": [{"metadata": {"name": "ghost"}}],  # returned, but not in the request
     "error": "out of order",     # instead of all that
     "scores": {"n4": 7}}         # the answer to prioritize; 0 for all others
"""

import copy
import json
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

__all__ = ["RuledExtenders", "Tree", "serving"]

Tree = Mapping[str, Any]


@attrs.define
class RuledExtenders:
    """Extenders on one server; each has a path with its number.

    Attributes:
        rules: The rule of each extender.
        url: The address of the server.
        requests: Pod, extender, verb, and name -> a digest of each node in the request;
            the digest is empty if the request has only names.
    """

    rules: Sequence[Tree] = ()
    url: str = ""
    requests: list[tuple[str, int, str, dict[str, str]]] = attrs.field(factory=list)

    def configs(self, extenders: Sequence[Tree]) -> list[dict[str, Any]]:
        """Return the extenders of a configuration, with their addresses."""
        return [
            {**extender, "urlPrefix": f"{self.url}/{index}"}
            for index, extender in enumerate(extenders)
        ]

    def answer(self, path: str, body: bytes) -> bytes:
        """Answer one request."""
        _, index, verb = path.split("/")
        request = json.loads(body)
        pod = request["Pod"]["metadata"]["name"]
        self.requests.append((pod, int(index), verb, _digests(request)))
        rule = self.rules[int(index)]
        answer_of = _filtered if verb == "filter" else _scored
        return json.dumps(answer_of(rule, request)).encode()


@contextmanager
def serving() -> Iterator[RuledExtenders]:
    """Serve extenders on a free port; a test may change their rules at any time."""
    extenders = RuledExtenders()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = extenders.answer(self.path, body)
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        extenders.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield extenders
        finally:
            server.shutdown()
            thread.join()


def _filtered(rule: Tree, request: Tree) -> Tree:
    if "error" in rule:
        return {"Error": rule["error"]}
    nodes = (request["Nodes"] or {"items": []})["items"]
    names = request["NodeNames"] or [node["metadata"]["name"] for node in nodes]
    out = {*rule.get("reject", ()), *rule.get("unresolvable", ())}
    left = [name for name in names if name not in out | set(rule.get("drop", ()))]
    answer: dict[str, Any] = {
        "FailedNodes": _reasons(rule, "reject", names),
        "FailedAndUnresolvableNodes": _reasons(rule, "unresolvable", names),
    }
    if rule["answer"] == "names":
        return {**answer, "NodeNames": left}
    by_name = {node["metadata"]["name"]: node for node in nodes}
    sent = [_patched(rule, by_name.get(name, _named(name))) for name in left]
    sent += [node for node in sent if node["metadata"]["name"] in rule.get("twice", ())]
    return {**answer, "Nodes": {"items": [*sent, *rule.get("extra", ())]}}


def _scored(rule: Tree, request: Tree) -> Sequence[Tree]:
    names = request["NodeNames"]
    if names is None:
        names = [node["metadata"]["name"] for node in request["Nodes"]["items"]]
    scores = rule.get("scores", {})
    unique = dict.fromkeys(names)
    return [{"Host": name, "Score": scores.get(name, 0)} for name in unique]


def _reasons(rule: Tree, key: str, names: Sequence[str]) -> Tree:
    return {name: f"{key} it" for name in rule.get(key, ()) if name in names}


def _named(name: str) -> Tree:
    return {"metadata": {"name": name}}


def _patched(rule: Tree, node: Tree) -> Tree:
    name = node["metadata"]["name"]
    if rule.get("bare"):
        return _named(name)
    patch = rule.get("patch", {}).get(name)
    if patch is None:
        return node
    changed: dict[str, Any] = copy.deepcopy(dict(node))
    labels = changed["metadata"].setdefault("labels", {})
    for key, value in patch.get("labels", {}).items():
        if value is None:
            labels.pop(key, None)
        else:
            labels[key] = value
    if "taints" in patch:
        changed.setdefault("spec", {})["taints"] = patch["taints"]
    allocatable = changed.setdefault("status", {}).setdefault("allocatable", {})
    allocatable.update(patch.get("allocatable", {}))
    return changed


def _digests(request: Tree) -> dict[str, str]:
    if request["NodeNames"] is not None:
        return dict.fromkeys(request["NodeNames"], "")
    return {
        node["metadata"]["name"]: _digest(node) for node in request["Nodes"]["items"]
    }


def _digest(node: Tree) -> str:
    """Return a digest of the fields that an extender may have changed."""
    taints = [
        [taint["key"], taint.get("value", ""), taint["effect"]]
        for taint in node.get("spec", {}).get("taints") or ()
    ]
    parts = [node["metadata"].get("labels") or {}, taints]
    return f"{zlib.crc32(json.dumps(parts, sort_keys=True).encode()):08x}"
