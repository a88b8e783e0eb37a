"""The list of the product's regular expressions.

``python -m tests.patterns`` writes it. A pattern that is made when the program runs
has examples here.
"""

import fnmatch
import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.patterns.scanning import Use, uses

__all__ = ["FILE", "Case", "cases", "is_guarded", "lines", "listed"]

FILE: Final = Path(__file__).with_name("patterns.tsv")

_SAMPLES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("_authors.packages.templates", "'|'.join(words)"): ("a|b",),
    (
        "_base.input.yaml.literals",
        "re.compile(f'(?: {{{column + 1}}}[^\\\\n]*+\\\\n| *+\\\\n)*+')",
    ): (r"(?: {3}[^\n]*+\n| *+\n)*+",),
    ("kubernetes_cel.libraries.formats", "re.compile(pattern, re.ASCII)"): (
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
        r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
    ),
    ("_core.config.fields", "re.compile(pattern, re.ASCII)"): (
        r"[^/]+/[^/]+(?:/[^/]+)?",
        r"[0-9]+(?:\.[0-9]+)?%",
        r"(?:(?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?/)?(?=[^/]{1,63}$)[a-z]+",
    ),
    ("_studies.autoscaling.cluster_autoscaler.file", "re.compile(pattern)"): (
        "gpu-.*",
    ),
    ("_studies.autoscaling.cluster_autoscaler.expanders", "pattern"): ("gpu-.*",),
    (
        "_studies.scenarios.choosing",
        "re.compile(fnmatch.translate(choice.name))",
    ): (fnmatch.translate("*a*a*a*a*b"), fnmatch.translate("web-[0-9]?")),
}
"""Patterns that are made when the program runs, by examples."""

_DEFAULT: Final = ("fullmatch",)
_APPLIED: Final[Mapping[str, tuple[str, ...]]] = {
    "_base.logs": ("sub",),
    "_base.input.yaml.literals": ("match",),
}
"""How patterns are applied that another module or a loop applies."""


_GUARDED: Final[Mapping[tuple[str, str], str]] = {
    ("_authors.packages.templates", "_MARK"): "reads the package's own text",
    ("_clusters.inmemory.durations", "_PART"): "after `_DURATION`",
    ("_core.config.duration", "_PART"): "after `PATTERN`",
}
"""Patterns that are slow for some texts, and why these do not reach them."""


class Case(NamedTuple):
    """A pattern, and a way to apply it.

    Attributes:
        use: Where it is.
        pattern: The pattern.
        flags: Its flags.
        method: The name of the method of `re`.
    """

    use: Use
    pattern: Any  # str or bytes
    flags: int
    method: str


def _key(use: Use) -> tuple[str, str]:
    return use.module.removeprefix("quaymaster."), use.name


def is_guarded(use: Use) -> bool:
    """Return whether no text reaches a pattern that would be slow for it."""
    return _key(use) in _GUARDED


def lines() -> list[str]:
    """Return the list as it should be, a line for each pattern."""
    return [f"{use.module}\t{use.name}\t{' '.join(use.methods)}" for use in uses()]


def listed() -> list[str]:
    """Return the list as it is."""
    return FILE.read_text(encoding="utf-8").splitlines()


def cases(line: str) -> Iterator[Case]:
    """Yield the patterns of a line of the list, with each way to apply them."""
    module, name, methods = line.split("\t")
    use = Use(module, name, tuple(methods.split()))
    for pattern in _patterns(use):
        for method in use.methods or _APPLIED.get(_key(use)[0], _DEFAULT):
            yield Case(use, pattern.pattern, pattern.flags, method)


def _patterns(use: Use) -> Iterator[re.Pattern[Any]]:
    if _key(use) in _SAMPLES:
        yield from map(re.compile, _SAMPLES[_key(use)])
    elif use.name.isidentifier():
        value = getattr(importlib.import_module(use.module), use.name)
        yield re.compile(value, re.ASCII) if isinstance(value, str) else value
    else:
        source = use.name.removeprefix("re.compile(").removesuffix(")")
        words = use.name if source == use.name else f"({source},)"
        values = eval(words, {"re": re})  # the product's own source
        pattern, *flags = [values] if isinstance(values, str | bytes) else values
        yield re.compile(pattern, *flags)
