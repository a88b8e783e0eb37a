"""The facts of TaintToleration."""

import pytest

from quaymaster.objects import Taint, Toleration
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_taint_toleration import TaintToleration

GPU = Taint(key="dedicated", value="gpu", effect="NoSchedule")


def facts_of(taints: list[Taint], tolerations: list[Toleration]) -> tuple[str, ...]:
    node = make_node(name="a", taints=taints)
    harness = PluginHarness(TaintToleration, nodes=[node])
    return harness.explain_filter(make_pod(tolerations=tolerations))["a"]


def test_all_untolerated_taints_are_named() -> None:
    taints = [
        GPU,
        Taint(key="spot", effect="PreferNoSchedule"),
        Taint(key="seen", effect="NoSchedule"),
        Taint(key="down", effect="NoExecute"),
    ]
    seen = Toleration(key="seen", operator="Exists")
    assert facts_of(taints, [seen]) == (
        "does not tolerate dedicated=gpu:NoSchedule, down:NoExecute",
    )


@pytest.mark.parametrize(
    ("toleration", "text"),
    [
        (Toleration(key="dedicated", value="cpu"), "dedicated=cpu:any effect"),
        (
            Toleration(key="dedicated", operator="Exists", effect="NoExecute"),
            "dedicated:NoExecute",
        ),
        (
            Toleration(key="dedicated", operator="Gt", value="3", effect="NoSchedule"),
            "dedicated>3:NoSchedule",
        ),
    ],
    ids=["other value", "other effect", "a number"],
)
def test_tolerations_of_the_same_key_are_named(
    toleration: Toleration, text: str
) -> None:
    assert facts_of([GPU], [toleration, Toleration(key="other")]) == (
        f"does not tolerate dedicated=gpu:NoSchedule (tolerates only {text})",
    )
