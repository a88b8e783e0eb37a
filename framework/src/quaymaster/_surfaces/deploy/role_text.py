"""Writes a role as YAML, with the reason of each rule as a comment."""

from collections.abc import Mapping, Sequence
from typing import Any

from quaymaster._base.yaml_text import comment_of, yaml_text
from quaymaster._surfaces.deploy.rules import Rule

__all__ = ["role_text"]


def role_text(head: Mapping[str, Any], rules: Sequence[Rule]) -> str:
    """A role, with the reasons of its rules.

    Args:
        head: The role without its rules.
        rules: The rules.
    """
    parts = [yaml_text(head), "rules:\n"]
    for rule in rules:
        item = yaml_text([rule.tree()], is_dense=True)
        lines = (comment_of(rule.reasons) + item).splitlines()
        parts += [f"  {line}\n" for line in lines]
    return "".join(parts)
