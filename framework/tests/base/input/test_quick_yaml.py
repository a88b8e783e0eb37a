"""The quick reader agrees with the full reader, or leaves the text to it."""

import json
import random
import textwrap

import pytest

from tests.kit.internals.input import (
    BUILD_VALUES,
    NotPlainError,
    Shapes,
    UnreadableError,
    documents,
    read,
    read_block,
    unfolded,
)
from tests.kit.internals.manifests import LARGE, object_texts

POD = """\
apiVersion: v1
kind: Pod
metadata:
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels:
    app: web
    version: '1'
  name: a
spec:
  containers:
  - args:
    - --flag=x:y
    - -v
    name: c
    ports:
    - containerPort: 80
    resources: {}
    command: []
  nodeName: n1
  priority: 0x10
  on-off: yes
  empty:
status:
  startTime: null
"""
PIECES = (
    ": ", ":", "- ", "-", " ", "  ", "\n", "a: b\n", "- a\n", "#", " #", "{}", "[]",
    "'", '"', "|", ">-", "&a ", "*a", "~", "0x1f", "1e400", ".inf", "---", "...", "%",
    "<<: ", "? ", "!x ", "@", "=", "-x", "\t", "é", "y", "\0", "\r", "a: 'b''c: d'\n",
    "x  y: z\n",
)  # fmt: skip


def spoiled(rng: random.Random) -> str:
    """Draw a text and spoil some of its lines."""
    lines = POD.splitlines()[rng.randrange(12) :][: rng.randrange(1, 20)]
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(lines))
        line = lines[at]
        match rng.randrange(4):
            case 0:
                lines[at] = " " * rng.randrange(8) + line.lstrip()
            case 1:
                cut = rng.choice((len(line), rng.randrange(len(line) + 1)))
                lines[at] = line[:cut] + rng.choice(PIECES) + line[cut:]
            case 2:
                lines.insert(at, rng.choice(lines))
            case _:
                lines[at] = rng.choice(PIECES)
    return "\n".join(lines) + "\n"


def test_plain_blocks_are_read_like_by_the_full_reader() -> None:
    (expected,) = documents(POD.encode())
    assert read_block(POD) == expected
    assert json.loads(Shapes().json(POD)) == expected


@pytest.mark.long
def test_spoiled_blocks_are_read_alike_or_not_at_all() -> None:
    rng, shapes, compared = random.Random(1), Shapes(), 0
    for _ in range(4000):
        text = spoiled(rng)
        try:
            quick = json.loads(shapes.json(text))
        except NotPlainError:
            continue
        (document,) = read(text.encode())
        assert repr(document.value) == repr(quick), text
        assert document.duplicates == (), text
        compared += 1
    assert compared > 500


BODIES = (
    *("a: b", "", "  x", "- y", "   ", "#c", "'q", "  deep: |", "end ", "\\n", "%"),
    *("---", "|", '"', '{"a": "b"}', "a\tb", "k: |"),
)
HEADS = ("k: |", "- k: |", "- |", "m:\n  k: |", "m:\n- k: |", "m:\n- |", "m:\n  - |")
AFTER = ("", "z: 1\n", "- z\n", "  z: 1\n", "# c\n", "  - w\n")


def literal(rng: random.Random) -> str:
    """Draw a text with a block literal, which is mostly valid."""
    indent = rng.choice((1, 2, 3, 4, 6))
    lines = [
        " " * max(0, indent + rng.choice((0, 0, 0, 0, 1, -1, 2))) + rng.choice(BODIES)
        if rng.random() < 0.85
        else rng.choice(("", " ", "      "))
        for _ in range(rng.randrange(5))
    ]
    head = rng.choice(HEADS) + rng.choice(("", "-", "+", " ", "2"))
    return "\n".join([head, *lines]) + "\n" + rng.choice(AFTER)


@pytest.mark.long
def test_literals_are_read_alike_or_not_at_all() -> None:
    rng, shapes, compared = random.Random(5), Shapes(), 0
    for _ in range(6000):
        text = literal(rng)
        try:
            quick = json.loads(shapes.json(unfolded(text)))
        except NotPlainError:
            continue
        (document,) = read(text.encode())
        assert repr(document.value) == repr(quick), text
        assert document.duplicates == (), text
        compared += 1
    assert compared > 500


@pytest.mark.parametrize(
    "text",
    [
        r'a: "x\ny\t\"z\"\\ \/"' + "\n",
        "a: 'it''s'\n",
        "a: ''''\n",
        "a: |\n  {\"b\": 'c'}\nd: e\n",
        "a:\n- |\n  set -e\n\n    echo\n- b\n",
        "a: |+\n  b\n\n\nc: d\n",
        "a: |-\n\n  b\n",
    ],
)
def test_long_texts_as_tools_write_them_are_read_quickly(text: str) -> None:
    (expected,) = documents(text.encode())
    assert json.loads(Shapes().json(unfolded(text))) == expected


@pytest.mark.parametrize("text", [r'a: "\x41"', r'a: "\ud83d"', "a: |2\n   b"])
def test_rarer_texts_are_left_to_the_full_reader(text: str) -> None:
    with pytest.raises(NotPlainError):
        Shapes().json(unfolded(f"{text}\n"))


def texts(content: str, large: int, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return the objects of a file with their places, and the error if any."""
    monkeypatch.setattr(LARGE, large)
    found: list[object] = []
    try:
        for text in object_texts(content.encode(), "f.yaml"):
            tree = json.loads(bytes(text.text))
            found.append((tree, text.typed, text.source, text.duplicates))
    except UnreadableError as error:
        found.append(str(error))
    return found


ITEM = "- " + textwrap.indent(POD, "  ").lstrip()
PLAIN_LIST = f"apiVersion: v1\nitems:\n{ITEM * 3}kind: List\nmetadata:\n  x: ''\n"


@pytest.mark.parametrize(
    "content",
    [
        PLAIN_LIST,
        f"---\n{PLAIN_LIST}",
        PLAIN_LIST.replace("kind: List\n", "kind: PodList\n"),
        PLAIN_LIST.replace("kind: List\n", "kind: Widget\n"),
        PLAIN_LIST.replace("name: c", "name: é"),
        PLAIN_LIST.replace("name: c", "name: |\n        - c\n\n        d"),
        PLAIN_LIST.replace("name: c", 'name: "c\n- d"'),
        PLAIN_LIST.replace("name: c", "name: c\n    name: d"),
        PLAIN_LIST.replace("name: c", "name: c # so"),
        PLAIN_LIST.replace("name: c", "name: &x c", 1),
        PLAIN_LIST.replace("name: c", "name: &x c", 1)[::-1].replace(
            "c :eman", "x* :eman", 1
        )[::-1],
        PLAIN_LIST.replace("name: c", "name: [", 2),
        PLAIN_LIST.replace("kind: List\n", "# a comment\n- a: 1\nkind: List\n"),
        PLAIN_LIST.replace("kind: List\n", "kind: List\nitems: []\n"),
        PLAIN_LIST.replace("kind: List\n", "---\nkind: List\n"),
        PLAIN_LIST.replace("kind: List\n", "- a\n- - b\nkind: List\n"),
        PLAIN_LIST + "...\n",
        PLAIN_LIST[:-20],
        f"x: 'y\nitems:\n- a: 1\n'\n{PLAIN_LIST}",
        "---\n".join([POD] * 3),
        "---\n".join([POD, PLAIN_LIST, "", "# nothing\n", POD]) + "---\n",
        "---\n".join(["# a comment\n", POD, POD.replace("a: b", "a")]),
        "---\n".join([POD, POD.replace("name: a", "name: [")]),
        "---\n".join([POD, "a: 1\na: 2\n", POD]),
        "--- # so\n".join([POD, POD]),
        "%YAML 1.1\n---\n" + POD,
        POD,
        "\n",
    ],
)
def test_streams_are_read_alike_in_pieces(
    content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowly = texts(content, 1 << 62, monkeypatch)
    assert texts(content, 0, monkeypatch) == slowly


@pytest.mark.parametrize("below", ["", "  - a: b\n", "    - b\n"])
@pytest.mark.parametrize("levels", [90, 150, 450, 600, 3000])
def test_nested_blocks_are_read_alike_in_pieces(
    levels: int, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nested = "".join(f"{' ' * level}a:\n" for level in range(levels))
    content = f"{nested}{' ' * levels}{below}" if below else nested
    slowly = texts(content, 1 << 62, monkeypatch)
    assert texts(content, 0, monkeypatch) == slowly


def test_items_of_large_lists_need_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    content = f"kind: List\nitems:\n{ITEM * 200}".encode()
    texts = object_texts(content, "f.yaml")
    next(texts)  # for which the frame of the list was read
    monkeypatch.delattr(BUILD_VALUES)
    assert len(list(texts)) == 199
