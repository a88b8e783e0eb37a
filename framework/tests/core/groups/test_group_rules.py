"""The pods of a group agree with each other, and with their group."""

import pytest

from quaymaster import Pod
from quaymaster.testing import make_pod, make_pod_group
from tests.kit.internals.groups import GroupRules

ALL = "all pods in a single pod group should have the same"


def problem(*pods: Pod, scheduled: tuple[Pod, ...] = (), gate: bool = False) -> str:
    rules = GroupRules({"default-scheduler"}, groups_have_policies=gate)
    return rules.problem(make_pod_group(priority=5), pods, scheduled)


def member(
    priority: int = 5, policy: str | None = None, scheduler: str = "default-scheduler"
) -> Pod:
    return make_pod(
        priority=priority, preemption_policy=policy, scheduler_name=scheduler
    )


def test_pods_that_agree_have_no_problem() -> None:
    assert problem(member(), member(policy="PreemptLowerPriority")) == ""


@pytest.mark.parametrize(
    ("pods", "scheduled", "text"),
    [
        pytest.param(
            [member(), member(scheduler="other")],
            (),
            f'{ALL} .spec.schedulerName set, got: "other" and "default-scheduler"',
            id="scheduler",
        ),
        pytest.param(
            [member(), member(priority=7)],
            (),
            f"{ALL} priority as the pod group's priority, got 7 and 5",
            id="priority",
        ),
        pytest.param(
            [member()],
            (member(priority=3),),
            f"{ALL} priority as the pod group's priority, got 3 and 5",
            id="priority of a pod that has a node",
        ),
        pytest.param(
            [member(policy="Never"), member()],
            (),
            f"{ALL} preemption policy, got PreemptLowerPriority and Never",
            id="preemption policy",
        ),
        pytest.param(
            [member(scheduler="other")],
            (),
            'profile not found for scheduler name "other"',
            id="no profile",
        ),
    ],
)
def test_first_difference_is_the_problem(
    pods: list[Pod], scheduled: tuple[Pod, ...], text: str
) -> None:
    assert problem(*pods, scheduled=scheduled) == text


def test_policy_of_the_group_counts_with_its_feature_gate() -> None:
    text = (
        f"{ALL} preemption policy as the pod group's preemption policy, "
        "got Never and PreemptLowerPriority"
    )
    assert problem(member(policy="Never"), gate=True) == text
