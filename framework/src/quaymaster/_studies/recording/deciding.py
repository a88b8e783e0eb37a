"""Makes decisions of a record again, each once, with several configurations."""

import os
from collections.abc import Container, Sequence
from contextlib import ExitStack, closing

from quaymaster._api.objects import Pod
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.recording.agreeing import AGREED, compared_with, theirs_of
from quaymaster._studies.recording.compared import ComparedDecision
from quaymaster._studies.recording.files import RecordFile
from quaymaster._studies.recording.following import Following
from quaymaster._studies.recording.judge import Judge
from quaymaster._studies.recording.moments import Moments
from quaymaster._studies.recording.survey import Outcome

__all__ = ["decide_again"]


def decide_again(
    record: str | os.PathLike[str],
    *,
    configs: Sequence[SchedulerConfig],
    registry: PluginRegistry,
    seed: int = 0,
    only: Container[int] | None = None,
) -> list[dict[int, ComparedDecision]]:
    """Make decisions of a record again, each on its recorded state.

    Unlike `replay`, it does not search other states for agreement, and explains
    nothing: each configuration makes each decision once. If the first one does not
    agree, the others do not decide. The record is read as often as for one
    configuration.

    Args:
        record: The file.
        configs: The configurations of our scheduler, at least one, with the same
            scheduler names. The queue of the first one orders the decisions of the same
            moment.
        registry: Where plugins are found by name.
        seed: The seed of random plugins; ties are reported, not drawn.
        only: The numbers of the decisions to make; None for all. The recorded decisions
            are applied in any case.

    Returns:
        For each configuration: the number of the change that shows a decision -> the
        comparison with ours, in order.

    Raises:
        RecordError: The file is unreadable, or not a record.
        ProfileError: A profile's plugins cannot be built.
    """
    declared = [kind for config in configs for kind in declared_kinds(config, registry)]
    following = Following(RecordFile(record), KindSet(declared))
    compared_by_config: list[dict[int, ComparedDecision]] = [{} for _ in configs]
    with ExitStack() as stack:
        judges = [
            stack.enter_context(
                closing(Judge(following.world, following.clock, config, registry, seed))
            )
            for config in configs
        ]
        first = judges[0]

        def ask(outcome: Outcome, pod: Pod, _moments: Moments) -> None:
            if only is not None and outcome.seen not in only:
                return
            theirs = theirs_of(outcome)
            for number, judge in enumerate(judges):
                compared = compared_with(outcome, judge.decide(pod, theirs))
                compared_by_config[number][outcome.seen] = compared
                if number == 0 and compared.agreement not in AGREED:
                    return

        following.go_through(first.place_in_queue, first.schedulers, ask)
    return [dict(sorted(decisions.items())) for decisions in compared_by_config]
