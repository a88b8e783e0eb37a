"""A day with cluster-autoscaler takes the same course with and without shared outcomes.

Times are printed by ``python -m tests.perf.day``, not checked.
"""

import attrs
import pytest

from quaymaster import Status, hookimpl
from quaymaster.config import EnabledPlugin, default_config
from quaymaster.scheduler import PluginRegistry
from tests.perf.day import Day

DAY = Day(nodes=60, pods=4_000, start=13, hours=0.5, run_hours=0.3)


class Unsigned:
    """Lets all nodes pass, and signs no pod: no outcome of an attempt is shared."""

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def filter(self) -> Status | None:
        return None


@pytest.mark.long
def test_a_day_has_the_same_course_if_each_attempt_is_made_by_itself() -> None:
    registry = PluginRegistry.discover().with_plugin(Unsigned)
    config = default_config(registry)
    [profile] = config.profiles
    points = dict(profile.plugins)
    points["filter"] += (EnabledPlugin(name="Unsigned"),)
    config = attrs.evolve(config, profiles=(attrs.evolve(profile, plugins=points),))
    shared, apart = DAY.play(), DAY.play(config, registry)
    assert shared.attempts > 500
    assert (shared.attempts, shared.course) == (apart.attempts, apart.course)
