"""For one pod, a plugin may declare a smaller pod use than its class."""

from typing import cast

import pytest

from quaymaster import CycleState, Handle, PodUse, Status, hookimpl
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config


class Berths:
    """Passes all nodes and records the pod use of all filters."""

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
    """Implements ``remove_pod``, so it looks at single pods in any case."""

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


def test_attempt_reports_that_no_filter_looks_at_single_pods() -> None:
    # NodeResourcesFit looks at sums.
    assert noted_by(Berths) is PodUse.SUMS


def test_a_plugin_with_add_or_remove_pod_looks_at_single_pods() -> None:
    assert noted_by(Counts) is PodUse.PODS


@pytest.mark.parametrize("answer", [PodUse.PODS, PodUse.SUMS, None, "none"])
def test_missing_twin_or_wrong_answer_leaves_the_pod_use_of_the_class(
    answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Berths, "answer", answer)
    assert noted_by(Berths) is PodUse.PODS
