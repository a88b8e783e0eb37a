"""Equal elements change places as in Go's sort."""

from collections.abc import Callable, Mapping
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.karpenter import sort_slice

KEYS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "falling": lambda place, count: count - place,
    "falling pairs": lambda place, count: (count - place) // 2,
    "mixed": lambda place, _: (place * 7919 + 13) % 11,
    "mod 3": lambda place, _: place % 3,
    "one last": lambda place, count: 0 if place == count - 1 else 1,
    "steps": lambda place, _: place * place % 5,
}
ORDERS_OF_GO: Final = (
    ("falling pairs", 120, 784457742),
    ("falling pairs", 13, 101124513),
    ("falling pairs", 20, 728702881),
    ("falling pairs", 400, 649955791),
    ("falling pairs", 51, 389244494),
    ("falling", 120, 134172815),
    ("falling", 13, 457178912),
    ("falling", 20, 285067697),
    ("falling", 400, 959928535),
    ("falling", 51, 539363872),
    ("mixed", 120, 651280484),
    ("mixed", 13, 489910216),
    ("mixed", 20, 698360048),
    ("mixed", 400, 579278481),
    ("mixed", 51, 944663936),
    ("mod 3", 120, 970748525),
    ("mod 3", 13, 23126819),
    ("mod 3", 20, 97785094),
    ("mod 3", 400, 845096114),
    ("mod 3", 51, 572569262),
    ("one last", 120, 779276240),
    ("one last", 13, 29414015),
    ("one last", 20, 435738556),
    ("one last", 400, 71373027),
    ("one last", 51, 642955373),
    ("steps", 120, 536904286),
    ("steps", 13, 658545379),
    ("steps", 20, 866820091),
    ("steps", 400, 66197510),
    ("steps", 51, 958008608),
)
"""Keys, number of elements, and a hash of the order that Go 1.26 gives them."""


@given(st.lists(st.integers(0, 6), max_size=200))
def test_elements_are_in_order(keys: list[int]) -> None:
    numbered = [*enumerate(keys)]
    ordered = sort_slice(numbered, lambda pair: pair[1])
    assert [key for _, key in ordered] == sorted(keys)
    assert sorted(ordered) == numbered


@given(st.lists(st.integers(0, 3), max_size=12))
def test_up_to_twelve_elements_keep_their_order(keys: list[int]) -> None:
    numbered = [*enumerate(keys)]
    assert sort_slice(numbered, lambda pair: pair[1]) == sorted(
        numbered, key=lambda pair: pair[1]
    )


@pytest.mark.parametrize(("name", "count", "order"), ORDERS_OF_GO)
def test_many_elements_are_in_the_order_of_go(
    name: str, count: int, order: int
) -> None:
    places = sort_slice(range(count), lambda place: KEYS[name](place, count))
    digest = 7
    for place in places:
        digest = (digest * 31 + place) % 1_000_000_007
    assert digest == order
