"""Generates the reference pages of experiment and tuning files from JSON Schemas."""

from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from quaymaster.experiments import experiment_schema, tuning_schema
from tests.docs.scenario_files import Schema, section

__all__ = ["PAGE", "TUNING_PAGE", "experiment_page", "tuning_page"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "experiment-files.md"

_INTRO: Final = (
    "# Experiment files\n\n"
    "This page is made from the schema of experiment files: "
    "`python -m tests.docs.reference`.\n\n"
    "`quaymaster sweep --schema` prints that schema, for editors; "
    "[Sweep](../how-to/sweep.md) begins with an example.\n\n"
    "A file is YAML or JSON, and begins with "
    "`apiVersion: simulation.quaymaster.io/v1alpha1` and `kind: Experiment`.\n"
    "`Document` is the whole file. The sections after `MetricEntry` are the parameters "
    "of the inputs and metrics that the framework has, by the names that `use` takes.\n"
    "Each metric lists its columns, with their units and formulas. `RESOURCE` is "
    "the name of a resource such as `cpu`, `pNN` a percentile such as `p99`.\n"
)
TUNING_PAGE: Final = PAGE.with_name("tuning-files.md")

_TUNING_INTRO: Final = (
    "# Tuning files\n\n"
    "This page is made from the schema of tuning files: "
    "`python -m tests.docs.reference`.\n\n"
    "`quaymaster tune --schema` prints that schema, for editors; "
    "[Tune a profile](../how-to/tune-a-profile.md) begins with an example.\n\n"
    "A file is YAML or JSON, and begins with "
    "`apiVersion: simulation.quaymaster.io/v1alpha1` and `kind: Tuning`.\n"
    "`Document` is the whole file.\n"
)
_GROUPS: Final = ("quaymaster.experiment_inputs", "quaymaster.experiment_metrics")


def _offered() -> Iterator[tuple[str, str]]:
    """Yield the class of each input and metric, with its name in files."""
    for group in _GROUPS:
        for point in entry_points(group=group):
            yield point.value.rpartition(":")[2], point.name


def experiment_page() -> str:
    """Return the page: a section for each part of a file, in the order of their use."""
    definitions: Mapping[str, Schema] = experiment_schema()["$defs"]  # type: ignore[assignment]  # JSON
    offered = dict(_offered())
    sections = [
        section(offered.get(name, name), definition) + _columns(offered.get(name, ""))
        for name, definition in definitions.items()
        if "properties" in definition
    ]
    return "\n".join([_INTRO, *sections])


def _columns(metric: str) -> str:
    """Return the table of the columns of a metric, by its name in files."""
    points = entry_points(group=_GROUPS[1], name=metric)
    columns = [column for point in points for column in point.load().columns]
    if not columns:
        return ""
    head = "\n| column | unit | formula |\n| --- | --- | --- |\n"
    rows = (
        f"| `{'.'.join(filter(None, (metric, column.name)))}` | {column.unit} "
        f"| {column.formula} |\n"
        for column in columns
    )
    return head + "".join(rows)


def tuning_page() -> str:
    """Return the page of tuning files, in the same form."""
    definitions: Mapping[str, Schema] = tuning_schema()["$defs"]  # type: ignore[assignment]  # JSON
    sections = [section(name, definition) for name, definition in definitions.items()]
    return "\n".join([_TUNING_INTRO, *sections])
