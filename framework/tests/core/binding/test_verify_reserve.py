"""Plugins verify what they have reserved, if decisions are verified."""

from collections.abc import Sequence
from typing import ClassVar

import pytest

from quaymaster import Handle, Pod, hookimpl
from quaymaster.errors import VerificationError
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config


class Berths:
    """Reserves something for every pod."""

    answer: ClassVar[object] = ()
    calls: ClassVar[list[str]] = []

    def __init__(self, _args: None, _handle: Handle) -> None:
        pass

    @hookimpl
    def reserve(self, pod: Pod) -> None:
        self.calls.append(f"reserve {pod.name}")

    @hookimpl
    def unreserve(self) -> None:
        pass

    @hookimpl
    def verify_reserve(self, pod: Pod, node_name: str) -> Sequence[str]:
        self.calls.append(f"verify {pod.name} on {node_name}")
        return self.answer  # type: ignore[return-value]  # also what is not allowed


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Berths, "calls", [])


def harness_of(verify: int, pods: int = 1) -> SchedulerHarness:
    return SchedulerHarness(
        [make_node(name="n"), *(make_pod(name=f"p{at}") for at in range(pods))],
        plugins={"Berths": Berths},
        config=profile_config(enable=[Berths]),
        options=SchedulerOptions(verify=verify),
    )


def test_reservation_of_every_nth_pod_is_verified() -> None:
    harness_of(verify=2, pods=4).settle()
    assert Berths.calls == [
        "reserve p0",
        "reserve p1",
        "verify p1 on n",
        "reserve p2",
        "reserve p3",
        "verify p3 on n",
    ]


def test_reservations_are_not_verified_by_default() -> None:
    harness_of(verify=0).settle()
    assert Berths.calls == ["reserve p0"]


def test_a_difference_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Berths, "answer", ["berth 1 is taken", "berth 2 is gone"])
    expected = (
        r"pod 'default/p0': the reservation of Berths is wrong: "
        r"berth 1 is taken; berth 2 is gone"
    )
    with pytest.raises(VerificationError, match=expected):
        harness_of(verify=1).settle()


@pytest.mark.parametrize("answer", ["a text", [1], None])
def test_an_answer_that_is_not_a_list_of_texts_fails_the_attempt(
    answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Berths, "answer", answer)
    harness = harness_of(verify=1)
    harness.settle()
    assert not harness.node_of("p0")
