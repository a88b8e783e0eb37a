"""Questions of the live page that are answered by other commands' code."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.results import ProgressFn
from quaymaster._surfaces.reporting.tables import ReportTable

__all__ = ["Study", "StudyInput", "StudyPage"]


@attrs.frozen(kw_only=True, eq=False)
class StudyInput:
    """What a study starts from.

    Attributes:
        objects: The objects.
        config: The scheduler's configuration.
        seed: Decides the choice between equally good nodes, and generated names.
        lines: What the user wrote, such as the changes of a cluster, in order.
        on_progress: Called with the progress of simulations.
    """

    objects: Sequence[ApiObject]
    config: SchedulerConfig
    seed: int
    lines: tuple[str, ...]
    on_progress: ProgressFn


@attrs.frozen(kw_only=True, eq=False)
class StudyPage:
    """The answer of a study: what its page shows.

    Attributes:
        title: The title of the page.
        runs: What was observed.
        tables: Tables beside the runs.
        steps: Whether the runs are states of one cluster, each after a step.
    """

    title: str
    runs: Sequence[ObservedRun]
    tables: Sequence[ReportTable]
    steps: bool = False


Study: TypeAlias = Callable[[StudyInput], StudyPage]
"""Answers a question; raises a `QuaymasterError` about invalid lines."""
