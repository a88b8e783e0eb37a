"""Finds the nodes of a change, by a name or by labels."""

import difflib
from collections.abc import Iterable

from quaymaster._api.objects import Node
from quaymaster._base.errors import SelectorError
from quaymaster._studies.changes.change import ChangeError
from quaymaster._studies.changes.selector_text import looks_like_selector, read_selector

__all__ = ["chosen_nodes"]


def chosen_nodes(text: str, nodes: Iterable[Node], change: object) -> list[Node]:
    """Return the nodes that a text selects.

    Args:
        text: A name, or a label selector as kubectl's.
        nodes: All nodes.
        change: The change, for errors.

    Returns:
        The nodes, sorted by name; at least one.

    Raises:
        ChangeError: No node matches.
    """
    by_name = {node.name: node for node in nodes}
    if text in by_name:
        return [by_name[text]]
    if not looks_like_selector(text):
        near = difflib.get_close_matches(text, by_name, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ChangeError(str(change), f"there is no node '{text}'{hint}")
    try:
        selector = read_selector(text)
    except SelectorError as error:
        raise ChangeError(str(change), str(error)) from error
    selected = [node for node in by_name.values() if selector.matches(node.labels)]
    if not selected:
        raise ChangeError(str(change), f"no node has the labels '{text}'")
    return sorted(selected, key=lambda node: node.name)
