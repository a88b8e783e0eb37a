"""``quaymaster explain``."""

import click

from quaymaster._cli.explanations import as_document, print_explained
from quaymaster._cli.inputs import InputOptions, input_options, read_inputs
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    progress_bar,
    scheduling_in,
)
from quaymaster._cli.values import complete_pod
from quaymaster._simulation.calls import explain_pod
from quaymaster._simulation.explained import WhichAttempt

__all__ = ["command"]

_TOP = 10


def _attempt(
    _context: click.Context, _option: click.Parameter, text: str
) -> WhichAttempt | int:
    """Read ``--attempt``: a number, or a word."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    try:
        return WhichAttempt(text.lower())
    except ValueError as error:
        words = ", ".join(WhichAttempt)
        message = f"expected a number from 1, or one of {words}, got {text!r}"
        raise click.BadParameter(message) from error


def _complete_attempt(
    _context: click.Context, _option: click.Parameter, incomplete: str
) -> list[str]:
    return [word.value for word in WhichAttempt if word.startswith(incomplete)]


@click.command("explain")
@click.argument("pod", shell_complete=complete_pod)
@input_options
@click.option(
    "--attempt",
    "--attempts",
    "attempt",
    metavar="N|first|last|all",
    default=WhichAttempt.AUTO.value,
    callback=_attempt,
    shell_complete=_complete_attempt,
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
@output_option(OutputFormat.TABLE, OutputFormat.JSON, OutputFormat.YAML)
def command(
    pod: str,
    options: InputOptions,
    attempt: WhichAttempt | int,
    top: int | None,
    unbind: bool,
    output: OutputFormat,
) -> None:
    """Show why one pod goes where it goes: every node, plugin and score.

    POD is a pod as NAME or NAMESPACE/NAME, or anything that has pods as KIND/NAME, with
    kubectl's names for kinds: pod/web-0, deploy/web, deployments.apps/web, sts/db.
    A workload stands for the first of its pods that is tried. With -n, POD is looked
    for in that namespace only.

    The manifests are simulated as with "simulate", and one attempt of the pod is shown,
    in the cluster as it was then. Where pods of the input are terminating, that is the
    first one: the decision of now, not the one after they are gone.
    """
    inputs = read_inputs(options)
    with progress_bar() as progress, inputs.located():
        explained = explain_pod(
            pod,
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            attempt=attempt,
            namespace=options.namespace or "",
            unbind=unbind,
            on_progress=scheduling_in(progress),
            max_pods=options.max_pods,
        )
    notices = (*inputs.notices, *explained.notices)
    if output is OutputFormat.TABLE:
        print_explained(
            explained,
            top=_TOP if top is None else top,
            every=attempt is WhichAttempt.ALL,
        )
    else:
        document = as_document(explained, top or 0)
        document["warnings"] = notice_documents(notices)
        print_document(document, output)
    print_notices(notices)
