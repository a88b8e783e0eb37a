"""Inputs of experiments whose result is not a function of the seed."""

import random
from pathlib import Path

import attrs

from quaymaster.experiments import Arrival, ExperimentInput, InputContext, Workload
from quaymaster.testing import make_node, make_pod

__all__ = ["Unsteady"]


@attrs.frozen(kw_only=True)
class Unsteady(ExperimentInput):
    """Pods for one node, as large as the hash of a text or luck decide.

    Attributes:
        by: ``hash``, ``random``, or nothing for a steady number.
    """

    by: str = ""

    def make(self, _context: InputContext) -> Workload:
        """Make the node and the pods."""
        numbers = {
            "hash": hash("quay") % 1000,
            "random": random.randrange(1000),
        }
        count = numbers.get(self.by, 3)
        return Workload(
            objects=[make_node(name="n", capacity={"cpu": "9", "pods": "9"})],
            arrivals=[
                Arrival(obj=make_pod(name="p", requests={"cpu": f"{count + 1}m"}))
            ],
        )

    def reads(self, _folder: Path) -> list[Path]:
        """Return no files."""
        return []
