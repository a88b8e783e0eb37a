"""`SchedulerHarness` gives access to the plugins of its scheduler."""

import pytest

from quaymaster import Handle, Pod, hookimpl
from quaymaster.testing import (
    PluginNotFoundError,
    SchedulerHarness,
    make_node,
    make_pod,
)
from tests.kit.documents import HEADER


class Guestbook:
    def __init__(self, _args: object, _handle: Handle) -> None:
        self.names: list[str] = []

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.names.append(pod.name)


def _harness() -> SchedulerHarness:
    profile = {
        "schedulerName": "inn",
        "plugins": {"multiPoint": {"enabled": [{"name": "Guests"}]}},
    }
    return SchedulerHarness(
        [make_node(), make_pod(name="ann", scheduler_name="inn")],
        plugins={"Guests": Guestbook},
        config={
            **HEADER,
            "profiles": [profile, {"schedulerName": "default-scheduler"}],
        },
    )


def test_a_plugin_at_work_is_found_by_its_class() -> None:
    harness = _harness()
    harness.settle()
    assert harness.plugin(Guestbook, scheduler_name="inn").names == ["ann"]


def test_error_for_a_missing_plugin_lists_those_of_the_profile() -> None:
    with pytest.raises(
        PluginNotFoundError,
        match=r"profile 'default-scheduler': no plugin Guestbook "
        r"\(plugins: .*DefaultBinder.*\)",
    ):
        _harness().plugin(Guestbook)


def test_a_missing_profile_is_an_error() -> None:
    with pytest.raises(PluginNotFoundError, match=r"profile 'hotel': .*plugins: none"):
        _harness().plugin(Guestbook, scheduler_name="hotel")
