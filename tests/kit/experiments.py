"""An input and metrics for experiments; other processes can import them."""

import os
import signal
from collections.abc import Iterable
from pathlib import Path

import attrs

from quaymaster.experiments import (
    Arrival,
    Curve,
    ExperimentInput,
    InputContext,
    Measured,
    Metric,
    Workload,
)
from quaymaster.simulation import Run, Step
from quaymaster.testing import make_node, make_pod

__all__ = ["LogBook", "Ships", "StormyShips"]


@attrs.frozen(kw_only=True)
class Ships(ExperimentInput):
    """Pods of one CPU for a node of two."""

    pods: int = 3
    gap: float = 0.0
    stays: float | None = None
    turn_away: bool = False
    priority: int = 0

    def make(self, context: InputContext) -> Workload:
        """Make the node and the pods."""
        capacity = {"cpu": "2", "memory": "4Gi", "pods": "10"}
        node = make_node(
            name=f"quay-{context.seed}",
            capacity=capacity,
            annotations={"simulation.quaymaster.io/price-per-hour": "3.6"},
        )
        return Workload(
            objects=[node],
            arrivals=(
                Arrival(
                    obj=make_pod(
                        name=f"ship-{number}",
                        requests={"cpu": "1"},
                        priority=self.priority * number,
                    ),
                    at=number * self.gap,
                    stays=self.stays,
                )
                for number in range(self.pods)
            ),
            turn_away=self.turn_away,
        )

    def reads(self, folder: Path) -> Iterable[Path]:
        """Return no files."""
        return ()


@attrs.define(kw_only=True, eq=False)
class LogBook(Metric):
    """Records the calls of a metric, one line each."""

    title: str = ""
    _lines: list[str] = attrs.field(init=False, factory=list)

    def begin(self, run: Run) -> None:
        """Record the number of nodes."""
        self._lines.append(f"{self.title}{len(run.snapshot.nodes)} nodes")

    def arrive(self, run: Run) -> None:
        """Record the arrival."""
        self._lines.append("arrived")

    def step(self, run: Run, step: Step) -> None:
        """Record the pod and the outcome."""
        self._lines.append(f"{step.pod.name} {step.outcome.value}")

    def time_passes(self, run: Run, seconds: float) -> None:
        """Record the seconds."""
        self._lines.append(f"{seconds:g} s")

    def end(self, run: Run) -> Measured:
        """Return the recorded lines."""
        text = ", ".join(self._lines)
        return Measured(
            values={"": text, "at": run.now}, curves=[Curve(name="x", x=[1], y=[None])]
        )


@attrs.frozen(kw_only=True)
class StormyShips(Ships):
    """Ships whose making fails or ends the process.

    Attributes:
        harm: ``raise`` fails; ``die`` ends the process each time; ``die once`` ends it
            the first time only.
        marker: The file that marks that the process has ended once.
    """

    harm: str = ""
    marker: str = "marker"

    def make(self, context: InputContext) -> Workload:
        """Do the harm, and then make the pods if the process is still there."""
        marker = context.folder / self.marker
        if self.harm == "raise":
            raise LookupError("no berth is left")
        if self.harm == "die" or (self.harm == "die once" and not marker.exists()):
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().make(context)
