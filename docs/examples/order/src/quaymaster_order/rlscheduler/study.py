"""The study: its sequences of jobs, its policies, and experiments with them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from quaymaster.experiments import Experiment, parse_experiment

__all__ = ["JOBS", "POLICIES", "PUBLISHED", "SEQUENCES", "experiment"]

_PROFILES: Final = Path(__file__).parent / "profiles"
_PLUGINS: Final = {"strict": "HeadOfLine", "easy": "EasyBackfilling"}

_NEVER: Final = 1e9

JOBS: Final = 1024
"""The number of jobs of a sequence."""

SEQUENCES: Final = (6181, 1259, 5004, 6216, 8959, 1929, 3787, 8837, 3919, 6080)
"""The index of the first job of each sequence in the trace."""

POLICIES: Final[Mapping[str, str]] = {
    "FCFS": "FirstCome",
    "WFP3": "quaymaster_order.rlscheduler:PUBLISHED_WFP3",
    "UNICEP": "quaymaster_order.rlscheduler:PUBLISHED_UNICEP",
    "SJF": "ShortestFirst",
    "F1": "F1",
}
"""Name in the study -> the argument ``orderBy``."""

PUBLISHED: Final[Mapping[str, float]] = {
    "FCFS": 7909.35,
    "WFP3": 19447.86,
    "UNICEP": 22125.02,
    "SJF": 257.72,
    "F1": 241.28,
}
"""The mean bounded slowdown of the ten sequences, by the published simulator."""


def experiment(
    trace: Path,
    *,
    policies: Sequence[str] = tuple(POLICIES),
    sequences: Sequence[int] = SEQUENCES,
    backfilling: bool = False,
) -> Experiment:
    """Make the experiment: each sequence with each policy.

    Args:
        trace: The file of the trace Lublin-1, ``lublin_256.swf``.
        policies: The policies, by their names in the study.
        sequences: The indices of the first jobs.
        backfilling: Whether the study's EASY backfilling is on.

    Raises:
        ExperimentErrors: Something cannot be run.
    """
    profile = "easy" if backfilling else "strict"
    plugin = _PLUGINS[profile]
    document = {
        "apiVersion": "simulation.quaymaster.io/v1alpha1",
        "kind": "Experiment",
        "name": "rlscheduler",
        # The study's simulator lets arrivals in before departures of the same second.
        "departuresFirst": False,
        # Only the end of a job makes room: it is useless to try again after some time.
        "options": {"maxInUnschedulableSeconds": _NEVER},
        "plugins": {name: f"quaymaster_order:{name}" for name in _PLUGINS.values()},
        "inputs": [
            {
                "name": "lublin-1",
                "use": "swf",
                "parameters": {
                    "file": str(trace.absolute()),
                    "count": JOBS,
                    "processors": "Larger",
                },
            }
        ],
        "profiles": [{"name": profile, "config": str(_PROFILES / f"{profile}.yaml")}],
        "parameters": [
            {"name": "first", "input": "first", "values": list(sequences)},
            {
                "name": "policy",
                "config": f"profiles[0].pluginConfig[{plugin}].args.orderBy",
                "values": [POLICIES[policy] for policy in policies],
            },
        ],
        "metrics": [
            {"name": "slowdown"},
            {"name": "starts", "use": "quaymaster_order.rlscheduler:Starts"},
        ],
    }
    return parse_experiment(json.dumps(document))
