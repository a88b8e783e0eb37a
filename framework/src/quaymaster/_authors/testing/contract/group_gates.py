"""A check: with gates_groups, the pods of a group are gated together."""

from typing import Final

from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.check import Check
from quaymaster._authors.testing.contract.group_bench import GroupBench, group_benches
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.declarations import gates_groups

__all__ = ["GROUP_GATES"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for bench, _ in group_benches(subject, cluster):
        _compare_members(bench)


def _compare_members(bench: GroupBench) -> None:
    members = [pod for pod in bench.info.pods if pod.spec.scheduling_group is not None]
    answers = [bench.ask("pre_enqueue", pod) for pod in members]
    for pod, answer in zip(members, answers, strict=True):
        if (answer is None) != (answers[0] is None):
            text = (
                f"{shown(answer)} for pod '{pod.key}', but {shown(answers[0])} for pod "
                f"'{members[0].key}' of its group: with gates_groups it is called for "
                "one pod of a group, and its answer counts for all"
            )
            bench.fail("pre_enqueue", text)


GROUP_GATES: Final = Check(
    name="group gates",
    promise="with gates_groups, pre_enqueue has one answer for all pods of a group",
    ask=_ask,
    hooks=frozenset({"pre_enqueue"}),
    only_for=gates_groups,
)
