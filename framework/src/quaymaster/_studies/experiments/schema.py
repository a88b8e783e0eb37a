"""The JSON Schema of experiment files, for editors."""

from typing import Final

from quaymaster._core.config.type_schema import DIALECT, Definitions
from quaymaster._studies.experiments.completions import Completion
from quaymaster._studies.experiments.costs import NodeCost
from quaymaster._studies.experiments.energy import Energy
from quaymaster._studies.experiments.fairness import Fairness
from quaymaster._studies.experiments.goodput import Goodput
from quaymaster._studies.experiments.manifests import Manifests
from quaymaster._studies.experiments.model import API_VERSION, KIND, Document
from quaymaster._studies.experiments.outcomes import (
    PlacedPods,
    PreemptedPods,
    WaitingTime,
)
from quaymaster._studies.experiments.scaling import EvictedPods, NodeHours
from quaymaster._studies.experiments.slowdowns import Slowdown
from quaymaster._studies.experiments.states import (
    FragmentedRoom,
    Imbalance,
    Utilisation,
)
from quaymaster._studies.experiments.swf_input import SwfInput
from quaymaster._studies.experiments.time_curves import OverTime
from quaymaster._studies.experiments.times import TimeTaken
from quaymaster._studies.experiments.trace_input import TraceInput

__all__ = ["experiment_schema"]

_PARAMETERS: Final = (
    *(Manifests, TraceInput, SwfInput),
    *(PlacedPods, Utilisation, FragmentedRoom, Imbalance),
    *(NodeCost, WaitingTime, PreemptedPods, TimeTaken),
    *(NodeHours, EvictedPods),
    *(Completion, Slowdown, OverTime, Fairness, Goodput, Energy),
)


def experiment_schema() -> dict[str, object]:
    """Describe experiment files.

    Returns:
        A JSON Schema, draft 2020-12. It is generated from the classes that files are
        read into, with the descriptions in their docstrings. ``$defs`` also has the
        parameters of the inputs and metrics of the framework.
    """
    definitions = Definitions()
    document = definitions.of(Document)
    definitions.amend(Document, "apiVersion", {"const": API_VERSION})
    definitions.amend(Document, "kind", {"const": KIND})
    for parameters in _PARAMETERS:
        definitions.of(parameters)
    return {"$schema": DIALECT, "title": KIND, **document, "$defs": definitions.named}
