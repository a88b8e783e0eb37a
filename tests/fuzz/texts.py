"""Writes trees as texts, and mutates texts."""

import json
import random
from collections.abc import Callable
from typing import Any, Final

import yaml

__all__ = ["mutate_text", "write"]

_ODD: Final = (
    b"\0", b"\t", b"\r", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"'", b'"', b":",
    b": ", b"- ", b"&a ", b"*a", b"<<: *a", b"!!binary ", b"!x ", b"|", b">", b"{",
    b"[", b"}", b"]", b"\n---\n", b"\n...\n", b"%YAML 9.9\n", b"#", b"@", b"`", b"? ",
    b",", b"\\ud800", b"{{", b"\xef\xbb\xbf", b"99999999999999999999999", b"1e999",
    b".inf", b".nan", b"0x", b"~", b"=",
)  # fmt: skip


class _Plain(yaml.CSafeDumper):
    """Writes no anchors: shared values are written twice."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def write(
    trees: list[Any], rng: random.Random, *, may_be_list: bool = True
) -> tuple[bytes, str]:
    """A file with these documents, and the ending of its name.

    Args:
        trees: The documents.
        rng: Chooses the form.
        may_be_list: Whether they may become the items of a List.
    """
    ending = "json" if rng.random() < 0.35 else "yaml"
    if rng.random() < 0.15 and may_be_list:
        trees = [{"apiVersion": "v1", "kind": "List", "items": trees}]
    try:
        text = _as_json(trees, rng) if ending == "json" else _as_yaml(trees, rng)
    except (yaml.YAMLError, RecursionError, UnicodeError):
        text = "[" * 10_000 if rng.random() < 0.5 else '{"a":' * 10_000
    return text.encode("utf-8", "surrogatepass"), ending


def _as_json(trees: list[Any], rng: random.Random) -> str:
    indent = rng.choice((None, 2))
    return "\n".join(json.dumps(tree, indent=indent) for tree in trees)


def _as_yaml(trees: list[Any], rng: random.Random) -> str:
    dumper = rng.choice((yaml.CSafeDumper, _Plain))
    flow = rng.choice((None, False, True))
    return str(yaml.dump_all(trees, Dumper=dumper, default_flow_style=flow))


def mutate_text(text: bytes, rng: random.Random) -> bytes:
    """The text, with a few bytes or lines changed."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        text = rng.choice(_MUTATIONS)(text, rng)
    return text


def _insert(text: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_ODD) + text[at:]


def _cut(text: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + rng.choice((1, 3, 30)) :]


def _truncate(text: bytes, rng: random.Random) -> bytes:
    return text[: rng.randrange(len(text) + 1)]


def _lines(text: bytes, rng: random.Random) -> bytes:
    lines = text.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            lines.insert(at, lines[at])
        case 1:
            del lines[at]
        case 2:
            lines[at] = b"  " + lines[at]
        case 3:
            lines[at] = lines[at].lstrip()
        case 4:
            lines[at], lines[other] = lines[other], lines[at]
        case _:
            lines[at:at] = lines[other : other + 5]
    return b"\n".join(lines)


def _multiply(text: bytes, rng: random.Random) -> bytes:
    """Repeat a piece many times."""
    at = rng.randrange(len(text) + 1)
    piece = text[at : at + rng.choice((1, 2, 20))]
    return text[:at] + piece * rng.choice((10, 1000, 20_000)) + text[at:]


def _deepen(text: bytes, rng: random.Random) -> bytes:
    """Put keys below each other, the first below the line before."""
    lines = text.split(b"\n")
    at = rng.randrange(len(lines))
    indent = len(lines[at]) - len(lines[at].lstrip(b" "))
    nested = range(indent, indent + rng.choice((5, 450, 1200)))
    lines[at:at] = [b" " * column + b"a:" for column in nested]
    return b"\n".join(lines)


def _endings(text: bytes, _: random.Random) -> bytes:
    return text.replace(b"\n", b"\r\n")


_MUTATIONS: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    _insert, _insert, _insert, _cut, _truncate, _lines, _lines, _lines, _multiply,
    _deepen, _endings,
)  # fmt: skip
