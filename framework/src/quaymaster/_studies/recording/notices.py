"""Notices about what a record lacks and cannot show."""

from collections.abc import Iterator
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._studies.recording.files import RecordFile
from quaymaster._studies.recording.state import RecordState
from quaymaster._studies.recording.survey import Survey

__all__ = ["notices_of", "notices_of_groups", "unknown_of"]

_SAMPLED_FROM: Final = 100  # nodes, upstream's ``minFeasibleNodesToFind``
_ALL: Final = 100

_ALWAYS: Final = (
    "the order in which pods of several priorities, or tried again, left the queue",
    "what the scheduler had seen of the last changes, on watches without common order",
    "pods that had a node and were not bound yet, and pods that waited on Permit",
    "attempts that failed for the same reasons as the one before: they change nothing",
    "which of several equally good nodes the scheduler drew",
    "the scheduler's configuration: plugins, weights and arguments are those given",
)


def unknown_of(
    survey: Survey, state: RecordState, config: SchedulerConfig, most_nodes: int
) -> tuple[str, ...]:
    """Return the facts that a record cannot show.

    Args:
        survey: The decisions.
        state: The record at its end.
        config: Our configuration.
        most_nodes: The largest number of nodes.
    """
    if not survey.outcomes:
        return ()
    return (*_ALWAYS, *_sometimes(state, config, most_nodes))


def _sometimes(
    state: RecordState, config: SchedulerConfig, most_nodes: int
) -> Iterator[str]:
    if most_nodes > _SAMPLED_FROM and config.percentage_of_nodes_to_score >= _ALL:
        yield (
            f"which of the {most_nodes} nodes the scheduler looked at: of more than "
            f"{_SAMPLED_FROM} it takes a part, unless percentageOfNodesToScore is 100"
        )
    gaps = len(state.begins) - 1
    if gaps:
        yield f"what happened while nothing was recorded: {counted(gaps, 'gap')}"


def notices_of(file: RecordFile, state: RecordState) -> tuple[Notice, ...]:
    """Return the notices about a record that was read to its end."""
    return tuple(_notices(file, state))


def notices_of_groups(decisions: int) -> Iterator[Notice]:
    """Yield a notice about decisions that a scheduler may have made for whole groups.

    Args:
        decisions: The number of decisions about pods of PodGroups.
    """
    if decisions:
        yield Notice(
            reason=NoticeReason.UNFOLLOWED_FIELDS,
            path="spec.schedulingGroup",
            message=f"{counted(decisions, 'decision')} about pods of PodGroups: each "
            "pod is compared alone, so they may differ; the scheduler tries a group "
            "as a whole",
        )


def _notices(file: RecordFile, state: RecordState) -> Iterator[Notice]:
    if not file.is_whole:
        message = "the file was cut off: what follows its last whole line is lost"
        yield Notice(reason=NoticeReason.UNREAD_KINDS, message=message)
    if state.unknown:
        message = (
            f"{counted(state.unknown, 'change')} of kinds that no plugin declares "
            "were left out"
        )
        yield Notice(reason=NoticeReason.UNREAD_KINDS, message=message)
