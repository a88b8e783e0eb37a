"""A new regular expression is added to the list, and so to the tests of its time."""

import pytest

from tests.patterns.listed import lines, listed

pytestmark = pytest.mark.house


def test_list_has_all_regular_expressions() -> None:
    """``python -m tests.patterns`` writes it; then run ``test_linear_patterns.py``."""
    assert listed() == lines()
