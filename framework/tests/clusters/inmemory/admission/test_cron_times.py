"""When schedules hit, in UTC."""

from datetime import UTC, datetime

import pytest

from tests.kit.internals.inmemory import next_hit


def after(schedule: str, text: str) -> str | None:
    hit = next_hit(schedule, datetime.fromisoformat(text).timestamp())
    return None if hit is None else f"{datetime.fromtimestamp(hit, UTC):%Y-%m-%dT%H:%M}"


@pytest.mark.parametrize(
    ("schedule", "hit"),
    [
        ("* * * * *", "2026-11-01T08:01"),
        ("0 8 * * *", "2026-11-02T08:00"),
        ("*/15 9-17 * * mon-fri", "2026-11-02T09:00"),
        ("30 6 1,15 jan-mar *", "2027-01-01T06:30"),
        ("@weekly", "2026-11-08T00:00"),
        ("0 0 29 2 *", "2028-02-29T00:00"),
    ],
)
def test_schedule_hits_next(schedule: str, hit: str) -> None:
    assert after(schedule, "2026-11-01T08:00:00Z") == hit


def test_day_of_month_and_day_of_week_are_alternatives() -> None:
    assert after("0 0 13 * 5", "2026-11-01T00:00:00Z") == "2026-11-06T00:00"
    assert after("0 0 13 * *", "2026-11-01T00:00:00Z") == "2026-11-13T00:00"


def test_step_over_all_days_names_days() -> None:
    assert after("0 0 */10 * 1", "2026-11-02T00:00:00Z") == "2026-11-09T00:00"


def test_day_that_never_comes_has_no_time() -> None:
    assert after("0 0 30 2 *", "2026-11-01T08:00:00Z") is None
