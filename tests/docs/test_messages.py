"""The page of messages has exactly the plugins' messages."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.kit.sources import ROOT

pytestmark = pytest.mark.house

PAGE: Final = ROOT / "docs" / "reference" / "messages.md"
MAKERS: Final = {"unschedulable", "unresolvable", "pending"}
# Reasons that are composed elsewhere than where the status is made.
PREEMPTION: Final = ROOT / "framework" / "src" / "quaymaster" / "_kits" / "preemption"
_HEADING: Final = re.compile(r"^## (\w+)$", re.MULTILINE)
_ROW: Final = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)


def folder_of(plugin: str) -> Path:
    return ROOT / "plugins" / re.sub(r"(?<!^)(?=[A-Z])", "_", plugin).lower() / "src"


def page() -> dict[str, list[str]]:
    """Return plugin -> its messages on the page."""
    _, *parts = _HEADING.split(PAGE.read_text(encoding="utf-8"))
    return {
        plugin: _ROW.findall(text)
        for plugin, text in zip(parts[::2], parts[1::2], strict=True)
    }


@cache
def trees(folder: Path) -> tuple[ast.Module, ...]:
    files = sorted(folder.rglob("*.py"))
    return tuple(ast.parse(file.read_text(encoding="utf-8")) for file in files)


def text_of(node: ast.AST, names: dict[str, str]) -> str:
    """Return a message, with NAME for the parts that are set at run time."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr():
            return "".join(text_of(part, names) for part in node.values)
        case ast.BinOp(op=ast.Add()):
            return text_of(node.left, names) + text_of(node.right, names)
        case ast.Name():
            return names.get(node.id, "NAME")
    return "NAME"


def names_in(tree: ast.Module) -> dict[str, str]:
    """Return the texts that have names."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name):
            text = text_of(node.value, found)
            if text != "NAME":
                found[target.id] = text
    return found


def status_messages(folder: Path) -> Iterator[str]:
    """Yield the messages in the calls that make statuses."""
    for tree in trees(folder):
        names = names_in(tree)
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="Status"), attr=made),
                    args=[reason],
                ) if made in MAKERS:
                    text = text_of(reason, names)
                    if text != "NAME":
                        yield text


def literals(folder: Path) -> str:
    """Return all texts of the sources, joined."""
    texts: list[str] = []
    for tree in trees(folder):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
            elif isinstance(node, ast.JoinedStr | ast.BinOp):
                texts.append(text_of(node, names_in(tree)))
    return "\n".join(texts)


def is_in_source(source: str, part: str) -> bool:
    """Whether a part of a message is a text of the source, or two of them."""
    words = part.split()
    return part in source or any(
        " ".join(words[:index]) in source and " ".join(words[index:]) in source
        for index in range(1, len(words))
    )


def plugins() -> list[str]:
    return sorted(page())


def test_page_has_every_message_of_the_plugins() -> None:
    missing = [
        (plugin, text)
        for plugin, messages in page().items()
        for text in status_messages(folder_of(plugin))
        if text not in messages
    ]
    assert missing == []


def test_page_has_no_message_that_no_plugin_has() -> None:
    shared = literals(PREEMPTION)
    stale = [
        (plugin, message)
        for plugin, messages in page().items()
        for source in [literals(folder_of(plugin)) + shared]
        for message in messages
        if not all(is_in_source(source, part) for part in re.split('NAME|"', message))
    ]
    assert stale == []


def test_plugins_that_are_missing_on_the_page_say_nothing() -> None:
    silent = [
        folder
        for folder in sorted((ROOT / "plugins").iterdir())
        if (folder / "src") not in {folder_of(plugin) for plugin in plugins()}
    ]
    assert silent
    assert [text for folder in silent for text in status_messages(folder / "src")] == []


def test_messages_are_told_once_for_each_plugin() -> None:
    repeated = [
        plugin
        for plugin, messages in page().items()
        if len(messages) != len(set(messages))
    ]
    assert repeated == []
