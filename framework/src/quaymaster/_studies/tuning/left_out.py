"""Finds objectives that leave out pods that never ran."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from quaymaster._studies.experiments.metrics import Value
from quaymaster._studies.experiments.offers import METRICS
from quaymaster._studies.tuning.tuning import Tuning

__all__ = ["LeftOutPods"]


class LeftOutPods:
    """Counts the pods that the columns of objectives leave out.

    A search that minimises the wait of bound pods finds configurations under which the
    pods that wait for long never run.

    Args:
        tuning: The tuning, with its objectives.
    """

    def __init__(self, tuning: Tuning) -> None:
        self._columns = dict(_columns(tuning))
        self._runs = 0
        self._pods: Counter[tuple[str, str]] = Counter()
        self._runs_with: Counter[tuple[str, str]] = Counter()

    def note(self, values: Mapping[str, Value]) -> None:
        """Note the results of a run."""
        self._runs += 1
        for objective, columns in self._columns.items():
            for column in columns:
                count = values.get(column)
                if isinstance(count, int) and count > 0:
                    self._pods[objective, column] += count
                    self._runs_with[objective, column] += 1

    def warnings(self) -> Sequence[str]:
        """Return a sentence for each objective and each column that counts pods."""
        return [
            f"the objective {objective} leaves out {pods} pods that never ran: "
            f"{column} is above 0 in {self._runs_with[objective, column]} of "
            f"{self._runs} runs"
            for (objective, column), pods in sorted(self._pods.items())
        ]


def _columns(tuning: Tuning) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the objectives, each with the columns that count what it leaves out."""
    for objective in tuning.objectives:
        for name, used in tuning.experiment.metrics.items():
            inner = objective.metric.removeprefix(f"{name}.")
            if objective.metric not in (name, f"{name}.{inner}"):
                continue
            inner = "" if objective.metric == name else inner
            for column in METRICS.columns(used):
                if column.is_named(inner) and column.leaves_out:
                    yield (
                        objective.metric,
                        [f"{name}.{other}" for other in column.leaves_out],
                    )
