"""``quaymaster explain podgroup/NAME``."""

from collections.abc import Callable

import attrs
import click

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
    trying_in,
)
from quaymaster._cli.suggestions import (
    print_group_suggestions,
    suggestions_document,
)
from quaymaster._studies.simulation.explained import WhichAttempt
from quaymaster._studies.simulation.explained_groups import ExplainedGroup
from quaymaster._studies.simulation.explaining_groups import explain_group
from quaymaster._studies.why.pod_group_suggestions import suggest_group_changes
from quaymaster._studies.why.suggestions import Suggestions

__all__ = ["GroupRequest", "explain_group_command", "search_suggestions"]

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
    """Explain a group, and print it.

    Args:
        request: The options about the group.
        options: The options about the input.
        output: The form of the output.

    Raises:
        click.UsageError: Suggestions cannot be printed in that form.
    """
    if request.suggest and output is OutputFormat.CSV:
        raise click.UsageError("--suggest cannot be printed by -o csv")
    inputs = read_inputs(options)
    explained = _explained(request, inputs, options)
    suggestions = None
    if request.suggest:
        suggestions = search_suggestions(
            suggest_group_changes, request.group, inputs, options, request.max_trials
        )
    notices = (*inputs.notices, *explained.notices)
    every = request.attempt is WhichAttempt.ALL
    if output is OutputFormat.TABLE:
        top = _TOP if request.top is None else request.top
        print_explained_group(explained, top=top, every=every)
        if suggestions is not None:
            print_group_suggestions(suggestions)
    elif output is OutputFormat.CSV:
        print_explained_group_csv(explained, every=every)
    else:
        document = group_document(explained)
        if suggestions is not None:
            document["suggestions"] = suggestions_document(suggestions)
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


def search_suggestions(
    suggest: Callable[..., Suggestions],
    name: str,
    inputs: Inputs,
    options: InputOptions,
    max_trials: int,
) -> Suggestions:
    """Search for the changes with which a pod or a group fits.

    Args:
        suggest: `suggest_changes` or `suggest_group_changes`.
        name: The pod or the group, in the words of that function.
        inputs: The input.
        options: The options about the input.
        max_trials: The maximum number of simulations.
    """
    with progress_bar() as progress, inputs.located():
        return suggest(
            name,
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            namespace=options.namespace or "",
            max_pods=options.max_pods,
            max_trials=max_trials,
            on_trial=trying_in(progress),
            as_it_is=options.is_live,
        )
