"""``quaymaster explain podgroup/NAME``."""

import attrs

from quaymaster._cli.explained_groups import (
    group_document,
    print_explained_group,
    print_explained_group_csv,
)
from quaymaster._cli.inputs import InputOptions, Inputs, read_inputs
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    print_document,
    progress_bar,
    scheduling_in,
)
from quaymaster._studies.simulation.explained import WhichAttempt
from quaymaster._studies.simulation.explained_groups import ExplainedGroup
from quaymaster._studies.simulation.explaining_groups import explain_group

__all__ = ["GroupRequest", "explain_group_command"]

_TOP = 10


@attrs.frozen
class GroupRequest:
    """The options about the group to explain.

    Attributes:
        group: The group, as given.
        attempt: Which attempt is shown.
        top: How many placements are shown; None for the default.
        suggest: Whether to search for changes.
        max_trials: The maximum number of simulations for that.
    """

    group: str
    attempt: WhichAttempt | int
    top: int | None
    suggest: bool
    max_trials: int


def explain_group_command(
    request: GroupRequest, options: InputOptions, output: OutputFormat
) -> None:
    """Explain a group, and print it."""
    inputs = read_inputs(options)
    explained = _explained(request, inputs, options)
    notices = (*inputs.notices, *explained.notices)
    every = request.attempt is WhichAttempt.ALL
    if output is OutputFormat.TABLE:
        top = _TOP if request.top is None else request.top
        print_explained_group(explained, top=top, every=every)
    elif output is OutputFormat.CSV:
        print_explained_group_csv(explained, every=every)
    else:
        document = group_document(explained)
        document["warnings"] = notice_documents(notices)
        print_document(document, output)
    print_notices(notices)


def _explained(
    request: GroupRequest, inputs: Inputs, options: InputOptions
) -> ExplainedGroup:
    with progress_bar() as progress, inputs.located():
        return explain_group(
            request.group,
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            attempt=request.attempt,
            namespace=options.namespace or "",
            on_progress=scheduling_in(progress),
            max_pods=options.max_pods,
            as_it_is=options.is_live,
        )
