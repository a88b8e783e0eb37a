"""Histograms that cost as little as possible to write to."""

import pytest

from tests.kit.internals.runtime import Histogram, exponential


def test_value_is_counted_in_the_first_bucket_that_holds_it() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 2.5):
        histogram.observe(value)
    assert histogram.measured().counts == (2, 2, 1)
    assert histogram.measured().total == 7.5


def test_kept_values_are_counted_as_observed_ones_are() -> None:
    kept, observed = Histogram((1.0, 2.0)), Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 2.5):
        kept.keep(value)
        observed.observe(value)
    assert kept.measured() == observed.measured()
    kept.keep(9.0)
    observed.observe(9.0)
    assert kept.measured() == observed.measured()


def test_value_counts_as_often_as_its_weight_says() -> None:
    histogram = Histogram((1.0,))
    histogram.observe(0.5, 3)
    assert histogram.measured().counts == (3, 0)
    assert histogram.measured().total == 1.5


def test_bounds_grow_by_a_factor() -> None:
    assert exponential(1, 2, 4) == (1, 2, 4, 8)
    assert exponential(0.001, 2, 3) == pytest.approx((0.001, 0.002, 0.004))
