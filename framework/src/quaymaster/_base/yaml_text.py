"""Writes trees as YAML for people: in their own order, with comments."""

from collections.abc import Iterable
from textwrap import wrap
from typing import Final

import yaml

__all__ = ["comment_of", "commented", "yaml_text"]

_WIDTH: Final = 100


class _Dumper(yaml.SafeDumper):
    """Indents lists, and writes texts of several lines as literals."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - lists are indented, whatever it says
        super().increase_indent(flow, False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def yaml_text(tree: object, *, is_dense: bool = False) -> str:
    """Format a tree as YAML.

    Args:
        tree: Mappings, lists and scalars.
        is_dense: Whether lists of scalars are written in one line.
    """
    return yaml.dump(
        tree,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=None if is_dense else False,
    )


def commented(comment: str, text: str) -> str:
    """Put a comment before a text, folded to lines of readable width."""
    return comment_of([comment], indent="") + text


def comment_of(lines: Iterable[str], indent: str = "  ") -> str:
    """Return lines as a YAML comment, folded to a readable width.

    Args:
        lines: The paragraphs of the comment.
        indent: What the second and later lines of a paragraph begin with.
    """
    folded = (
        wrap(line, _WIDTH - 4, break_long_words=False, subsequent_indent=indent)
        for line in lines
    )
    return "".join(f"# {line}\n" for paragraph in folded for line in paragraph)
