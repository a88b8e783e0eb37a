"""Label selectors are parsed as by kubectl; see ``labels.Parse`` (apimachinery)."""

import pytest

from quaymaster.errors import QuaymasterError
from tests.kit.internals.changes import read_selector


@pytest.mark.parametrize(
    ("text", "value", "is_selected"),
    [
        ("pool>3", "4", True),
        ("pool>3", "3", False),
        ("pool < 3", "2", True),
        ("pool<3", "-5", True),
        ("pool>3", "many", False),
        ("pool>3,pool<9", "5", True),
        ("pool>3,pool in (7, 8)", "5", False),
        ("pool>3", None, False),
        ("pool in (a, b),!gone", "b", True),
    ],
)
def test_selectors_compare_labels_with_texts_and_numbers(
    text: str, value: str | None, is_selected: bool
) -> None:
    labels = {} if value is None else {"pool": value}
    assert read_selector(text).matches(labels) is is_selected


@pytest.mark.parametrize(
    "text", ["pool>x", "pool>", ">3", "pool>1<2", "a,,b", "a in (b", "a in (b))", ""]
)
def test_other_texts_are_rejected(text: str) -> None:
    with pytest.raises(QuaymasterError, match="expected"):
        read_selector(text)
