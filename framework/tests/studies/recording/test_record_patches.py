"""Differences of trees: with its patch, each tree becomes the other."""

from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.recording import merge_patch, patched

KEYS = st.sampled_from("abc")
LEAVES = st.one_of(st.booleans(), st.integers(), st.text(max_size=3))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=6,
)
TREES = st.dictionaries(KEYS, VALUES, max_size=3)


@given(TREES, TREES)
def test_patch_makes_one_tree_of_the_other(old: dict, new: dict) -> None:  # type: ignore[type-arg]  # any JSON
    assert patched(old, merge_patch(old, new)) == new


@given(TREES)
def test_equal_trees_have_no_patch(tree: dict) -> None:  # type: ignore[type-arg]  # any JSON
    assert merge_patch(tree, tree) == {}


def test_patch_has_only_what_is_different() -> None:
    old = {"metadata": {"name": "a", "labels": {"x": "1"}}, "status": {"phase": "P"}}
    new = {"metadata": {"name": "a", "labels": {"y": "2"}}, "status": {"phase": "R"}}
    assert merge_patch(old, new) == {
        "metadata": {"labels": {"x": None, "y": "2"}},
        "status": {"phase": "R"},
    }
