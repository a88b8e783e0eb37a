"""What the tests of workloads run with."""

import gc

import pytest


@pytest.fixture(autouse=True)
def _garbage_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measuring begins with a collection, which looks through what all tests have.

    Measured: a third of the time of the small workloads.
    """
    monkeypatch.setattr(gc, "collect", lambda: 0)
