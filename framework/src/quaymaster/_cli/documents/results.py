"""All results that commands print as JSON and YAML, with their types.

The reference page of results and the JSON Schemas are made from these types. A result
has exactly their keys.
"""

from typing import Any, Final

import attrs

from quaymaster._cli.documents.capacity import CapacityDocument
from quaymaster._cli.documents.compare import CompareDocument
from quaymaster._cli.documents.consolidate import ConsolidateDocument
from quaymaster._cli.documents.doctor import FindingDocument
from quaymaster._cli.documents.explain import ExplainDocument, PendingDocument
from quaymaster._cli.documents.explain_group import ExplainGroupDocument
from quaymaster._cli.documents.explain_node import ExplainNodeDocument
from quaymaster._cli.documents.perf import PerfDocument
from quaymaster._cli.documents.plan import PlanDocument
from quaymaster._cli.documents.plugins import (
    PackageDocument,
    PluginDocument,
    PluginKindDocument,
    PluginRowDocument,
)
from quaymaster._cli.documents.replay import ReplayDocument, RerunDocument
from quaymaster._cli.documents.scenario import ScenarioDocument
from quaymaster._cli.documents.simulate import SimulateDocument
from quaymaster._cli.documents.what_if import WhatIfDocument

__all__ = ["RESULTS", "Result"]


@attrs.frozen
class Result:
    """A result of a command.

    Attributes:
        name: The name of its schema.
        command: The command that prints it.
        type: The type of the result.
    """

    name: str
    command: str
    type: Any


RESULTS: Final = (
    Result("simulate", "simulate -o json", SimulateDocument),
    Result("explain", "explain POD -o json", ExplainDocument),
    Result("explain-group", "explain podgroup/NAME -o json", ExplainGroupDocument),
    Result("explain-node", "explain node/NAME -o json", ExplainNodeDocument),
    Result("explain-pending", "explain --all-pending -o json", PendingDocument),
    Result("capacity", "capacity -o json", CapacityDocument),
    Result("plan", "plan -o json", PlanDocument),
    Result("consolidate", "consolidate -o json", ConsolidateDocument),
    Result("what-if", "what-if -o json", WhatIfDocument),
    Result("compare", "compare -o json", CompareDocument),
    Result("scenario", "scenario run -o json", list[ScenarioDocument]),
    Result("replay", "replay -o json", ReplayDocument),
    Result("replay-what-if", "replay --what-if -o json", RerunDocument),
    Result("perf", "perf --json FILE", PerfDocument),
    Result("doctor", "doctor -o json", list[FindingDocument]),
    Result("plugins-list", "plugins list -o json", list[PluginRowDocument]),
    Result("plugins-show", "plugins show NAME -o json", PluginDocument),
    Result("plugins-kinds", "plugins kinds -o json", list[PluginKindDocument]),
    Result("plugins-check", "plugins check PACKAGE -o json", PackageDocument),
)
"""All results, in the order of the commands."""
