"""The JSON Schema of scenario files, for editors."""

from quaymaster._core.config.type_schema import DIALECT, Definitions
from quaymaster._studies.scenarios.arrivals import Repeat
from quaymaster._studies.scenarios.checks import Assertion, Checks, WaitUntil
from quaymaster._studies.scenarios.model import (
    ACTIONS,
    API_VERSION,
    KIND,
    Document,
    Step,
)
from quaymaster._studies.scenarios.run_times import RunTime

__all__ = ["scenario_schema"]

_PROCESSES = ("constant", "poisson", "bursts", "diurnal")
_DISTRIBUTIONS = ("constant", "uniform", "exponential", "lognormal", "empirical")
_CONDITIONS = (
    "placed",
    "pods",
    "nodes",
    "utilization",
    "balance",
    "pendingTime",
    "evictions",
    "podGroups",
)


def scenario_schema() -> dict[str, object]:
    """Describe scenario files.

    Returns:
        A JSON Schema, draft 2020-12. It is made of the classes that files are read
        into, with the descriptions in their docstrings.
    """
    definitions = Definitions()
    document = definitions.of(Document)
    definitions.amend(Document, "apiVersion", {"const": API_VERSION})
    definitions.amend(Document, "kind", {"const": KIND})
    for record, keys in (
        (Step, tuple(ACTIONS.values())),
        (Checks, _CONDITIONS),
        (WaitUntil, _CONDITIONS),
        (Assertion, _CONDITIONS),
        (Repeat, _PROCESSES),
        (RunTime, _DISTRIBUTIONS),
    ):
        one_of = [{"required": [key]} for key in keys]
        definitions.extend(record, {"oneOf": one_of})
    return {"$schema": DIALECT, "title": KIND, **document, "$defs": definitions.named}
