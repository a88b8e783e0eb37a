"""The columns of PodGroups in results: one row for each group."""

from typing import Final

from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.tables import Fit
from quaymaster._studies.simulation.explained_groups import ExplainedGroup

__all__ = ["POD_GROUPS"]


def _domains(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in sorted(counts.items()))


POD_GROUPS: Final = Columns[ExplainedGroup](
    Column("group", heading="PodGroup", fit=Fit.NAME),
    Column("outcome", value=lambda group: group.outcome.value),
    Column("pods", value=lambda group: len(group.members)),
    Column("placed"),
    Column("minCount"),
    Column("topologyKey", is_optional=True),
    Column("domains", value=lambda group: dict(group.domains), text=_domains),
    Column("message", fit=Fit.MESSAGE, is_optional=True),
)
