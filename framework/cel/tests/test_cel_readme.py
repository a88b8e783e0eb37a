"""The examples of README."""

import doctest
from pathlib import Path
from typing import Final

import kubernetes_cel

README: Final = Path(__file__).parents[1] / "README.md"


def test_examples_show_what_is_printed() -> None:
    results = doctest.testfile(str(README), module_relative=False)
    assert results.failed == 0
    assert results.attempted > 0


def test_every_public_name_is_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    errors = {name for name in kubernetes_cel.__all__ if name.endswith("Error")}
    names = {*kubernetes_cel.__all__} - errors
    assert {name for name in names if f"`{name}`" not in text} == set()
