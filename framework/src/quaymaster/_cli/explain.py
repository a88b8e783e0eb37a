"""``quaymaster explain``."""

import attrs
import click

from quaymaster._cli.explanations import as_document, print_explained
from quaymaster._cli.inputs import InputOptions, Inputs, input_options, read_inputs
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    progress_bar,
    scheduling_in,
    trying_in,
)
from quaymaster._cli.suggestions import (
    print_suggestions,
    print_summary,
    suggestions_document,
    summary_document,
)
from quaymaster._cli.values import complete_attempt, complete_pod, read_attempt
from quaymaster._cli.why_not import print_why_not, why_not_document
from quaymaster._studies.simulation.calls import explain_pod
from quaymaster._studies.simulation.explained import ExplainedPod, WhichAttempt
from quaymaster._studies.why.suggestions import MAX_TRIALS, Suggestions, suggest_changes
from quaymaster._studies.why.summary import PendingSummary, explain_pending

__all__ = ["command"]

_TOP = 10


@click.command("explain")
@click.argument("pod", required=False, default="", shell_complete=complete_pod)
@input_options
@click.option(
    "--attempt",
    "--attempts",
    "attempt",
    metavar="N|first|last|all",
    default=WhichAttempt.AUTO.value,
    callback=read_attempt,
    shell_complete=complete_attempt,
    help="Which attempt to take apart. By default the last one; the first one if pods "
    "of the input are terminating, since they still count now.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    help=f"Show the N best nodes, and the rest as a number; 0 shows all. [default: "
    f"{_TOP} in a table, all in JSON and YAML]",
)
@click.option(
    "--unbind",
    is_flag=True,
    help="Take the pod from the node that it came with, and schedule it anew.",
)
@click.option(
    "--why-not",
    metavar="NODE",
    default="",
    help="Show what became of this node: what every plugin says against it, or its "
    "scores beside those of the node that was chosen.",
)
@click.option(
    "--suggest",
    is_flag=True,
    help="Look for the smallest changes that would place the pod, and try each out.",
)
@click.option(
    "--all-pending",
    is_flag=True,
    help="Show why pods have no node, all of them, by owner and by cause; no POD is "
    "given then.",
)
@click.option(
    "--max-trials",
    metavar="N",
    type=click.IntRange(min=1),
    default=MAX_TRIALS,
    show_default=True,
    help="How many simulations --suggest may run.",
)
@output_option(OutputFormat.TABLE, OutputFormat.JSON, OutputFormat.YAML)
def command(
    pod: str,
    options: InputOptions,
    attempt: WhichAttempt | int,
    top: int | None,
    unbind: bool,
    why_not: str,
    suggest: bool,
    all_pending: bool,
    max_trials: int,
    output: OutputFormat,
) -> None:
    """Show why one pod goes where it goes: every node, plugin and score.

    POD is a pod as NAME or NAMESPACE/NAME, or anything that has pods as KIND/NAME or
    NAMESPACE/KIND/NAME, with kubectl's names for kinds: pod/web-0, deploy/web,
    shop/deployments.apps/web, sts/db.
    A workload stands for the first of its pods that is tried. With -n, POD is looked
    for in that namespace only. Of several pods, with commas in between, or of all that
    are pending, there is a summary.

    The manifests are simulated as with "simulate", and one attempt of the pod is shown,
    in the cluster as it was then. Where pods of the input are terminating, that is the
    first one: the decision of now, not the one after they are gone.
    """
    asked = _Asked(attempt, unbind, why_not, suggest, max_trials)
    if all_pending or "," in pod:
        _refuse(asked)
        names = () if all_pending else tuple(filter(None, pod.split(",")))
        paths = (pod, *options.paths) if all_pending and pod else options.paths
        _summarize(names, attrs.evolve(options, paths=paths), asked, output)
        return
    if not pod:
        raise click.UsageError("Missing argument 'POD'; or --all-pending.")
    _explain(pod, options, asked, top, output)


@attrs.frozen
class _Asked:
    """What is asked of pods.

    Attributes:
        attempt: Which attempt is shown.
        unbind: Whether the pod is scheduled anew.
        why_not: The node that is asked about, or empty.
        suggest: Whether changes are looked for.
        max_trials: How many simulations that may take.
    """

    attempt: WhichAttempt | int
    unbind: bool
    why_not: str
    suggest: bool
    max_trials: int


def _refuse(asked: _Asked) -> None:
    """Refuse what can be asked of one pod only."""
    given = {
        "--attempt": asked.attempt is not WhichAttempt.AUTO,
        "--unbind": asked.unbind,
        "--why-not": bool(asked.why_not),
    }
    for option, is_given in given.items():
        if is_given:
            raise click.UsageError(f"{option} is about one POD")


def _explain(
    pod: str,
    options: InputOptions,
    asked: _Asked,
    top: int | None,
    output: OutputFormat,
) -> None:
    inputs = read_inputs(options)
    with progress_bar() as progress, inputs.located():
        explained = explain_pod(
            pod,
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            attempt=asked.attempt,
            namespace=options.namespace or "",
            unbind=asked.unbind,
            why_not=asked.why_not,
            on_progress=scheduling_in(progress),
            max_pods=options.max_pods,
            as_it_is=options.is_live,
        )
    suggestions = _suggestions(pod, inputs, options, asked) if asked.suggest else None
    notices = (*inputs.notices, *explained.notices)
    if output is OutputFormat.TABLE:
        _print(explained, suggestions, asked, top)
    else:
        document = as_document(explained, top or 0)
        if explained.why_not is not None:
            document["whyNot"] = why_not_document(explained.why_not)
        if suggestions is not None:
            document["suggestions"] = suggestions_document(suggestions)
        document["warnings"] = notice_documents(notices)
        print_document(document, output)
    print_notices(notices)


def _print(
    explained: ExplainedPod,
    suggestions: Suggestions | None,
    asked: _Asked,
    top: int | None,
) -> None:
    if asked.why_not:
        print_why_not(explained)
    else:
        print_explained(
            explained,
            top=_TOP if top is None else top,
            every=asked.attempt is WhichAttempt.ALL,
        )
    if suggestions is not None:
        print_suggestions(suggestions)


def _suggestions(
    pod: str, inputs: Inputs, options: InputOptions, asked: _Asked
) -> Suggestions:
    with progress_bar() as progress, inputs.located():
        return suggest_changes(
            pod,
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            namespace=options.namespace or "",
            max_pods=options.max_pods,
            as_it_is=options.is_live,
            max_trials=asked.max_trials,
            on_trial=trying_in(progress),
        )


def _summarize(
    pods: tuple[str, ...], options: InputOptions, asked: _Asked, output: OutputFormat
) -> None:
    inputs = read_inputs(options)
    summary = _summary(pods, inputs, options, asked)
    notices = (*inputs.notices, *summary.notices)
    if output is OutputFormat.TABLE:
        print_summary(summary, suggested=asked.suggest)
    else:
        document = summary_document(summary)
        document["warnings"] = notice_documents(notices)
        print_document(document, output)
    print_notices(notices)


def _summary(
    pods: tuple[str, ...], inputs: Inputs, options: InputOptions, asked: _Asked
) -> PendingSummary:
    with progress_bar() as progress, inputs.located():
        return explain_pending(
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            pods=pods,
            namespace=options.namespace or "",
            seed=options.seed,
            suggest=asked.suggest,
            on_progress=scheduling_in(progress),
            on_trial=trying_in(progress),
            max_pods=options.max_pods,
            as_it_is=options.is_live,
            max_trials=asked.max_trials,
        )
