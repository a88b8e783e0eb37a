"""How each kind of result is displayed: as its command prints it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from quaymaster._base.displayed import Displayed
from quaymaster._base.errors import counted
from quaymaster._cli.comparisons import FIGURE_KEYS, figure_rows, print_comparison
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.displays.node_map import show_map
from quaymaster._cli.documents.capacity import NodeRoomPart
from quaymaster._cli.documents.explain import AttemptPart, ChangePart, PendingGroupPart
from quaymaster._cli.documents.parts import (
    DocumentPart,
    NodeScoresPart,
    RejectionPart,
    UnscheduledPart,
)
from quaymaster._cli.documents.plan import PlannedGroupPart
from quaymaster._cli.documents.scenario import AssertionPart
from quaymaster._cli.documents.simulate import PlacementPart
from quaymaster._cli.explanations import (
    print_explained,
    print_explained_csv,
    print_explanation,
    print_explanation_csv,
)
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import print_line
from quaymaster._cli.plans import print_plan, print_plan_csv
from quaymaster._cli.replayed import print_decisions_csv, print_replay
from quaymaster._cli.rerun import print_rerun
from quaymaster._cli.results import duration, print_pods_csv, print_result
from quaymaster._cli.rooms import (
    print_capacity,
    print_nodes_csv,
    print_room,
    print_room_csv,
)
from quaymaster._cli.scenario_results import print_assertions_csv, print_scenarios
from quaymaster._cli.suggestions import (
    print_suggestions,
    print_suggestions_csv,
    print_summary,
    print_summary_csv,
)
from quaymaster._cli.sweep_results import print_runs, print_runs_csv, print_sweep
from quaymaster._cli.tune_results import print_tuning, print_tuning_csv
from quaymaster._cli.what_if_results import print_answer, print_events_csv
from quaymaster._cli.why_not import print_why_not
from quaymaster._core.cycle.explanation import Explanation
from quaymaster._studies.capacity.calls import CapacityResult
from quaymaster._studies.capacity.figures import Room
from quaymaster._studies.capacity.measuring import measure_room
from quaymaster._studies.comparing.comparing import Comparison
from quaymaster._studies.experiments.sweeping import SweepResult
from quaymaster._studies.planning.plans import Plan
from quaymaster._studies.planning.what_if_results import WhatIfResult
from quaymaster._studies.recording.compared import ReplayResult
from quaymaster._studies.recording.rerunning import RerunResult
from quaymaster._studies.scenarios.scenario import ScenarioResult
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.explained import ExplainedPod
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.tuning.tuned import TuneResult
from quaymaster._studies.why.pending_groups import PendingSummary
from quaymaster._studies.why.suggestions import Suggestions

__all__ = ["DISPLAYS", "Display", "display_of"]

_TOP: Final = 10
"""How many nodes an explanation shows, as ``explain`` does."""

_Print: TypeAlias = Callable[[Any], None]


@attrs.frozen
class Display:
    """How results of a class are displayed.

    Attributes:
        show: Prints a result for people.
        print_rows: Prints its rows as CSV.
        parts: The documented types of the rows.
    """

    show: _Print
    print_rows: _Print = attrs.field(default=lambda _: None)
    parts: Sequence[type[DocumentPart]] = ()


class FigurePart(DocumentPart, frozen=True):
    """A figure of a variant with a seed."""

    variant: str
    seed: int
    figure: str
    value: float


class EvaluationPart(DocumentPart, frozen=True):
    """The means of an objective for a profile, and half of their intervals' widths."""

    profile: str
    trial: int | None
    objective: str
    tuned: dict[str, float]
    held_out: dict[str, float]


def display_of(result: Displayed) -> Display:
    """Return how a result is displayed; a class derived from a result's is like it."""
    return next(DISPLAYS[kind] for kind in type(result).__mro__ if kind in DISPLAYS)


def _show_simulation(result: SimulationResult) -> None:
    print_result(result, wide=False)
    print_notices(result.notices)


def _show_explained(explained: ExplainedPod) -> None:
    if explained.why_not is not None:
        print_why_not(explained)
    else:
        print_explained(explained, top=_TOP, every=False)
    print_notices(explained.notices)


def _show_capacity(measured: CapacityResult) -> None:
    show_map(measured.room)
    print_capacity(measured, 0, wide=False)
    print_notices(measured.result.notices)


def _show_room(room: Room) -> None:
    show_map(room)
    print_room(room)


def _show_plan(plan: Plan) -> None:
    print_plan(plan)
    print_notices(plan.notices)


def _show_what_if(result: WhatIfResult) -> None:
    print_answer(result)
    print_notices(result.notices)


def _show_sweep(result: SweepResult) -> None:
    print_runs(result)
    print_sweep(result)


def _show_run(run: Run) -> None:
    state = run.observe()
    print_line(
        f"after {duration(state.at)}: {counted(state.attempts, 'attempt')}, "
        f"{counted(state.placed, 'pod')} placed, {state.pending} pending, "
        f"{state.waiting} waiting on Permit"
    )
    room = measure_room(run.simulation)
    show_map(room)
    print_room(room)


def _show_pending(summary: PendingSummary) -> None:
    print_summary(summary, suggested=bool(summary.trials))
    print_notices(summary.notices)


def _show_replay(result: ReplayResult) -> None:
    print_replay(result, top=_TOP)
    print_notices(result.notices)


_NODES: Final = (AttemptPart, NodeScoresPart, RejectionPart)

DISPLAYS: Final[Mapping[type, Display]] = {
    SimulationResult: Display(
        _show_simulation, print_pods_csv, (PlacementPart, UnscheduledPart)
    ),
    ExplainedPod: Display(
        _show_explained,
        lambda explained: print_explained_csv(explained, top=0, every=True),
        _NODES,
    ),
    Explanation: Display(
        lambda explanation: print_explanation(explanation, top=_TOP),
        print_explanation_csv,
        _NODES,
    ),
    PendingSummary: Display(_show_pending, print_summary_csv, (PendingGroupPart,)),
    Suggestions: Display(print_suggestions, print_suggestions_csv, (ChangePart,)),
    Comparison: Display(
        print_comparison,
        lambda comparison: print_csv(figure_rows(comparison), FIGURE_KEYS),
        (FigurePart,),
    ),
    CapacityResult: Display(_show_capacity, print_nodes_csv, (NodeRoomPart,)),
    Room: Display(_show_room, print_room_csv, (NodeRoomPart,)),
    Plan: Display(_show_plan, print_plan_csv, (PlannedGroupPart,)),
    WhatIfResult: Display(_show_what_if, print_events_csv),
    SweepResult: Display(_show_sweep, print_runs_csv),
    ScenarioResult: Display(
        lambda result: print_scenarios([result], wide=False),
        lambda result: print_assertions_csv([result]),
        (AssertionPart,),
    ),
    ReplayResult: Display(_show_replay, print_decisions_csv),
    RerunResult: Display(
        print_rerun,
        lambda result: print_pods_csv(result.result),
        (PlacementPart, UnscheduledPart),
    ),
    Run: Display(
        _show_run,
        lambda run: print_room_csv(measure_room(run.simulation)),
        (NodeRoomPart,),
    ),
    TuneResult: Display(print_tuning, print_tuning_csv, (EvaluationPart,)),
}
"""The class of a result -> how it is displayed."""
