"""Generates the reference page of the public modules from their docstrings."""

import importlib
import inspect
import re

from tests.kit.front_door import EXPORTS, docstring_of

__all__ = ["modules_page"]

_INTRO = """\
# Public modules

This page is made from the modules: `python -m tests.docs.reference`.

What is in these modules is public; what begins with an underscore may change any time.
[Signatures](signatures.md) has the arguments and results of each name.
`help(NAME)` says more of each name.
Hooks have [pages of their own](extension-points/README.md).
"""

_END_OF_SENTENCE = re.compile(r"\.(?=\s)|\n\n")


def modules_page() -> str:
    """Return the page: each public module's docstring and a table of its names."""
    contents = "\n".join(
        f"- [`{module}`](#{module.replace('.', '')}): {_headline(module)}"
        for module in EXPORTS
    )
    return "\n".join([_INTRO, contents, "", *map(_section, EXPORTS)])


def _section(module: str) -> str:
    text = inspect.getdoc(importlib.import_module(module)) or ""
    rows = "\n".join(
        f"| `{name}` | {_first_sentence(docstring_of(module, name))} |"
        for name in EXPORTS[module]
    )
    return f"## `{module}`\n\n{text}\n\n| name | what it is |\n| --- | --- |\n{rows}\n"


def _headline(module: str) -> str:
    return (inspect.getdoc(importlib.import_module(module)) or "").partition("\n")[0]


def _first_sentence(docstring: str) -> str:
    """Return the first sentence of a docstring, as the cell of a table."""
    text = docstring.replace("``", "`").replace("|", "\\|")
    end = _END_OF_SENTENCE.search(text)
    first = text if end is None else text[: end.start()]
    return " ".join(first.rstrip(".").split()) + "."
