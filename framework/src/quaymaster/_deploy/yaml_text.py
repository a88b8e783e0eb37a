"""Writes trees as YAML for people: in their own order, with comments."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

import yaml

from quaymaster._deploy.rules import Rule

__all__ = ["commented", "role_text", "yaml_text"]

_WIDTH: Final = 100


class _Dumper(yaml.SafeDumper):
    """Indents lists, and writes texts of several lines as such."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - lists are indented, whatever it says
        super().increase_indent(flow, False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def yaml_text(tree: object, *, is_dense: bool = False) -> str:
    """A tree as YAML.

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
    """A text with a comment in front of it, in lines of some length."""
    return _comment([comment], indent="") + text


def role_text(head: Mapping[str, Any], rules: Sequence[Rule]) -> str:
    """A role, with the reasons of its rules.

    Args:
        head: The role without its rules.
        rules: The rules.
    """
    parts = [yaml_text(head), "rules:\n"]
    for rule in rules:
        item = yaml_text([rule.tree()], is_dense=True)
        lines = (_comment(rule.reasons) + item).splitlines()
        parts += [f"  {line}\n" for line in lines]
    return "".join(parts)


def _comment(lines: Iterable[str], indent: str = "  ") -> str:
    folded = (
        wrap(line, _WIDTH - 4, break_long_words=False, subsequent_indent=indent)
        for line in lines
    )
    return "".join(f"# {one}\n" for line in folded for one in line)
