"""Requirements on labels intersect as Karpenter's do."""

import itertools
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.karpenter import Requirement, Requirements

ZONE: Final = "topology.kubernetes.io/zone"
TEAM: Final = "example.com/team"
PAIRS: Final = tuple(itertools.product(("NotIn", "DoesNotExist"), repeat=2))
VALUES: Final = ("a", "b", "1", "2", "3", "10")
LISTING: Final = st.tuples(
    st.sampled_from(["In", "NotIn"]),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=3, unique=True),
)
NOTHING: Final[list[str]] = []
BARE: Final = st.tuples(st.sampled_from(["Exists", "DoesNotExist"]), st.just(NOTHING))
COMPARING: Final = st.tuples(
    st.sampled_from(["Gt", "Lt", "Gte", "Lte"]),
    st.sampled_from(["0", "1", "2", "9"]).map(lambda value: [value]),
)


def requirements() -> st.SearchStrategy[Requirement]:
    conditions = st.one_of(LISTING, BARE, COMPARING)
    return conditions.map(lambda each: Requirement.of(TEAM, *each))


def of(operator: str, *values: str, key: str = TEAM) -> Requirement:
    return Requirement.of(key, operator, values)


@given(requirements(), requirements())
def test_an_intersection_allows_what_both_allow(
    left: Requirement, right: Requirement
) -> None:
    both = left.intersection(right)
    for value in VALUES:
        assert both.has(value) == (left.has(value) and right.has(value))


@given(requirements(), requirements())
def test_an_intersection_is_the_same_from_both_sides(
    left: Requirement, right: Requirement
) -> None:
    assert left.intersection(right) == right.intersection(left)
    assert left.intersects(right) == right.intersects(left)


@given(requirements(), requirements())
def test_requirements_with_a_common_value_intersect(
    left: Requirement, right: Requirement
) -> None:
    if any(left.has(value) and right.has(value) for value in VALUES):
        assert left.intersects(right)


@pytest.mark.parametrize(
    ("operator", "values", "text"),
    [
        ("In", ["b", "a"], "example.com/team In [a b]"),
        ("In", [*"abcdefg"], "example.com/team In [a b c d e and 2 others]"),
        ("Gt", ["3"], "example.com/team Exists >=4"),
        ("Lt", ["3"], "example.com/team Exists <=2"),
        ("DoesNotExist", [], "example.com/team DoesNotExist"),
    ],
)
def test_a_requirement_has_upstreams_text(
    operator: str, values: list[str], text: str
) -> None:
    assert str(Requirement.of(TEAM, operator, values)) == text


def test_old_names_of_labels_are_replaced() -> None:
    old = Requirement.of("failure-domain.beta.kubernetes.io/zone", "In", ["a"])
    assert old.key == ZONE


def test_words_are_within_no_bounds() -> None:
    assert not of("Gte", "1").has("a")
    assert of("Gte", "1").has("1")


def test_crossed_bounds_allow_nothing() -> None:
    assert of("Gt", "5").intersection(of("Lt", "5")).operator == "DoesNotExist"


def test_the_larger_number_of_values_counts() -> None:
    least = [Requirement.of(TEAM, "Exists", (), count) for count in (2, 3)]
    assert least[0].intersection(least[1]).min_values == 3


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_nodes_without_a_label_meet_both(left: str, right: str) -> None:
    values = {"NotIn": ["a"], "DoesNotExist": []}
    sides = [Requirements([of(op, *values[op])]) for op in (left, right)]
    assert sides[0].compatible(sides[1])


def test_a_custom_label_must_be_defined() -> None:
    pool = Requirements([of("In", "a", key=ZONE)])
    assert not pool.compatible(Requirements([of("In", "red")]), frozenset({ZONE}))
    assert pool.problem_with(Requirements([of("In", "red")])) == (
        'label "example.com/team" does not have known values'
    )


def test_a_well_known_label_need_not_be_defined() -> None:
    wanted = Requirements([of("In", "a", key=ZONE)])
    assert Requirements().compatible(wanted, frozenset({ZONE}))
    assert not Requirements().compatible(wanted)


def test_a_mistyped_label_gets_a_hint() -> None:
    pool = Requirements([of("In", "red")])
    text = pool.problem_with(Requirements([of("In", "red", key="team")]))
    assert (
        text == 'label "team" does not have known values (typo of "example.com/team"?)'
    )


def test_two_bounds_become_two_requirements_of_a_claim() -> None:
    bounded = of("Gte", "2").intersection(of("Lte", "8"))
    assert bounded.trees() == [
        {"key": TEAM, "operator": "Gte", "values": ["2"]},
        {"key": TEAM, "operator": "Lte", "values": ["8"]},
    ]
