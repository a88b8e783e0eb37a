"""Fixtures of the tests of workloads."""

import gc

import pytest


@pytest.fixture(autouse=True)
def _garbage_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the garbage collection before a measurement, which scans all tests' objects.

    It takes a third of the time of the small workloads.
    """
    monkeypatch.setattr(gc, "collect", lambda: 0)
