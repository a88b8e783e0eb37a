"""A plugin may say that its filter looks less at pods than its class allows for."""

from typing import cast

import pytest

from quaymaster import CycleState, Handle, PodUse, Status, hookimpl
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config


class Berths:
    """Passes all nodes, and notes how much all filters look at pods."""

    answer: object = PodUse.NONE
    noted: PodUse

    def __init__(self, _args: None, handle: Handle) -> None:
        self._filters = handle.filters

    @hookimpl
    def filter(self) -> Status | None:
        return None

    @hookimpl
    def filter_pod_use(self) -> PodUse:
        return cast("PodUse", self.answer)

    @hookimpl
    def pre_score(self, state: CycleState) -> None:
        type(self).noted = self._filters.pod_use(state)


class Counts(Berths):
    """Imagines pods, so it looks at single ones in any case."""

    @hookimpl
    def pre_filter(self) -> None:
        return None

    @hookimpl
    def remove_pod(self) -> None:
        return None


def noted_by(plugin: type[Berths]) -> PodUse:
    harness = SchedulerHarness(
        [make_node(name="a"), make_node(name="b"), make_pod(name="p")],
        plugins={plugin.__name__: plugin},
        config=profile_config(enable=[plugin]),
    )
    harness.settle()
    assert harness.node_of("p")
    return plugin.noted


def test_an_attempt_in_which_no_filter_looks_at_single_pods_is_told() -> None:
    # NodeResourcesFit looks at sums.
    assert noted_by(Berths) is PodUse.SUMS


def test_a_plugin_that_imagines_pods_looks_at_them() -> None:
    assert noted_by(Counts) is PodUse.PODS


@pytest.mark.parametrize("answer", [PodUse.PODS, PodUse.SUMS, None, "none"])
def test_without_a_twin_sums_are_no_less_and_of_a_wrong_answer_the_class_is_believed(
    answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Berths, "answer", answer)
    assert noted_by(Berths) is PodUse.PODS
