"""Compares what PreBind leaves after an earlier attempt with that of a first one."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import attrs

from quaymaster._api.objects import ApiObject, Pod, to_wire
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    begin,
    content_of,
    written_objects,
)
from quaymaster._authors.testing.contract.check import fail
from quaymaster._core.contract.status import Status

__all__ = ["Earlier", "ask_written", "mentions"]

_MakeBench: TypeAlias = Callable[[], Bench]


@attrs.frozen
class Earlier:
    """An attempt that has left objects.

    Attributes:
        node_name: Its node.
        uid: The uid of its pod.
        when: What has happened since.
    """

    node_name: str
    uid: str
    when: str


def ask_written(
    bench: Bench, pod: Pod, node_name: str, earlier: Earlier, make_bench: _MakeBench
) -> None:
    """Check that the objects of a pod are not those of an earlier attempt.

    Objects may differ in many ways. They must not have the node or the pod of the
    earlier attempt where those of a first attempt have this node or pod.

    Args:
        bench: The plugin, whose PreBind has succeeded for the pod.
        pod: The pod.
        node_name: Its node.
        earlier: The attempt before.
        make_bench: Makes a bench on which nothing was written.

    Raises:
        Finding: They are.
    """
    first = begin(make_bench(), pod, node_name)
    if first is None or isinstance(first.pre_bind(), Status):
        return
    stored = written_objects(bench)
    pairs = [(earlier.node_name, node_name), (earlier.uid, pod.uid)]
    for expected in map(content_of, first.written):
        actual = (
            None if expected is None else stored.get((type(expected), expected.key))
        )
        if expected is None or actual is None:
            continue
        for old, new in pairs:
            if _has(expected, new, old) and _has(actual, old, new):
                text = (
                    f"succeeds {earlier.when}, but {actual.kind} '{actual.key}' is "
                    f"that of the earlier attempt: it has '{old}' where a first "
                    f"attempt writes '{new}'. An object that exists already may belong "
                    "to another node or pod: compare it, and replace it"
                )
                fail("pre_bind", text, pod, actual, expected)


def _has(obj: ApiObject, text: str, other: str) -> bool:
    """Return whether an object has one text, and does not have another."""
    return mentions(obj, text) and not mentions(obj, other)


def mentions(obj: ApiObject, word: str) -> bool:
    """Return whether an object has a word, which is not part of a longer one."""
    text = json.dumps(to_wire(obj), default=str)
    return any(
        not before[-1:].isalnum() and not after[:1].isalnum()
        for before, after in pairwise(text.split(word))
    )
