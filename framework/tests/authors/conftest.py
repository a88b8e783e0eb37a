"""Fixtures of the tests of the author's kit."""

from collections.abc import Iterator

import pytest
from hypothesis import settings


@pytest.fixture
def usual_examples() -> Iterator[None]:
    """Try as many clusters as hypothesis does by default, the same in each run."""
    before = settings.get_current_profile_name()
    settings.load_profile("sure")
    yield
    settings.load_profile(before)
