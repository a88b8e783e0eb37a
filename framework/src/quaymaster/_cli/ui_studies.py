"""The studies of the live page: what-if, plan and capacity, by their own code."""

from collections.abc import Mapping, Sequence
from functools import partial, wraps

import attrs
import click

from quaymaster._base.errors import QuaymasterError
from quaymaster._cli.capacity_report import capacity_tables
from quaymaster._cli.change_reader import ChangeReader
from quaymaster._cli.inputs import InputOptions, Inputs
from quaymaster._cli.plan_report import plan_tables
from quaymaster._cli.what_if_report import what_if_tables
from quaymaster._studies.capacity.calls import capacity
from quaymaster._studies.capacity.pod_text import pod_of_text
from quaymaster._studies.changes.change import ClusterChange
from quaymaster._studies.changes.node_changes import FailureMode
from quaymaster._studies.changes.rotation import RotateNodes
from quaymaster._studies.planning.groups import parse_node_group
from quaymaster._studies.planning.observed_plan import observe_plan
from quaymaster._studies.planning.planning import plan
from quaymaster._studies.planning.what_if import what_if
from quaymaster._surfaces.reporting.studies import Study, StudyInput, StudyPage

__all__ = ["CHANGES", "make_studies"]

CHANGES = (
    *("drain", "rotate", "cordon", "uncordon", "remove", "fail", "fail-zone"),
    *("add-nodes", "scale", "delete", "set-image", "repack"),
)
"""The changes that the page offers: those that read no file of this machine."""
_PLAN_SECONDS = 60.0
"""How long a plan is improved; the page has no way to stop it."""


class StudyError(QuaymasterError):
    """A line of the page is invalid."""


def make_studies(inputs: Inputs, options: InputOptions) -> Mapping[str, Study]:
    """Return the studies by name.

    Args:
        inputs: What the command has read.
        options: The options about the input.
    """
    studies = {"what-if": _what_if, "plan": _plan, "capacity": _capacity}
    return {
        name: _with_plain_errors(partial(study, inputs, options))
        for name, study in studies.items()
    }


def _with_plain_errors(study: Study) -> Study:
    @wraps(study)
    def plain(given: StudyInput) -> StudyPage:
        try:
            return study(given)
        except click.ClickException as error:
            raise StudyError(error.format_message()) from error

    return plain


def _what_if(inputs: Inputs, options: InputOptions, given: StudyInput) -> StudyPage:
    result = what_if(
        given.objects,
        _changes(inputs, options, given),
        config=given.config,
        registry=inputs.registry,
        seed=given.seed,
        on_progress=given.on_progress,
        max_pods=options.max_pods,
        observe=True,
    )
    return StudyPage(
        title="What if",
        runs=result.observed,
        tables=what_if_tables(result),
        steps=True,
    )


def _changes(
    inputs: Inputs, options: InputOptions, given: StudyInput
) -> Sequence[ClusterChange]:
    reader = ChangeReader(
        attrs.evolve(inputs, objects=given.objects, config=given.config),
        options,
        RotateNodes(nodes=""),
        FailureMode.AT_ONCE,
    )
    changes: list[ClusterChange] = []
    for line in given.lines:
        name, _, text = line.strip().partition(" ")
        if name not in CHANGES:
            expected = ", ".join(CHANGES)
            raise StudyError(f"unknown change {name!r}; expected one of: {expected}")
        changes += reader.read(name, text.strip())
    if not changes:
        raise StudyError("expected at least one change, such as 'drain NODE'")
    return changes


def _plan(inputs: Inputs, options: InputOptions, given: StudyInput) -> StudyPage:
    groups = list(map(parse_node_group, given.lines))
    if not groups:
        example = "cpu=8,memory=32Gi,price=0.4"
        raise StudyError(f"expected at least one group of nodes, such as {example}")
    planned = plan(
        given.objects,
        groups=groups,
        config=given.config,
        registry=inputs.registry,
        seed=given.seed,
        time_limit=_PLAN_SECONDS,
        max_pods=options.max_pods,
    )
    shown = planned if planned.is_found else planned.partial or planned
    run = observe_plan(
        given.objects,
        shown,
        config=given.config,
        registry=inputs.registry,
        seed=given.seed,
        max_pods=options.max_pods,
    )
    return StudyPage(title="Plan", runs=[run], tables=plan_tables(planned, shown))


def _capacity(inputs: Inputs, options: InputOptions, given: StudyInput) -> StudyPage:
    namespace = options.namespace or ""
    pods = [(line, pod_of_text(line, namespace=namespace)) for line in given.lines]
    measured = capacity(
        given.objects,
        config=given.config,
        registry=inputs.registry,
        seed=given.seed,
        pods=pods,
        on_progress=given.on_progress,
        max_pods=options.max_pods,
        observe=True,
    )
    assert measured.observed is not None, "the run was observed"
    tables = [
        attrs.evolve(table, is_last=False) if pods and not index else table
        for index, table in enumerate(capacity_tables(measured))
    ]
    return StudyPage(title="Capacity", runs=[measured.observed], tables=tables)
