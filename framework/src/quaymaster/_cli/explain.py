"""``quaymaster explain``."""

import attrs
import click

from quaymaster._cli.attempt_values import complete_attempt, read_attempt
from quaymaster._cli.autoscaler import ScaledRun, autoscaler_option, the_autoscaler
from quaymaster._cli.explain_group import (
    GroupRequest,
    explain_group_command,
    search_suggestions,
)
from quaymaster._cli.explain_node import explain_node_command, node_name
from quaymaster._cli.explained_groups import group_document, print_group_decision
from quaymaster._cli.explained_scaling import (
    pod_scaling_document,
    print_pod_scaling,
)
from quaymaster._cli.explanations import (
    as_document,
    print_explained,
    print_explained_csv,
)
from quaymaster._cli.inputs import InputOptions, input_options, read_inputs
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
    progress_bar,
    scheduling_in,
)
from quaymaster._cli.pending import max_trials_option, pending_summary
from quaymaster._cli.suggestions import (
    print_group_suggestions,
    print_suggestions,
    print_summary,
    print_summary_csv,
    suggestions_document,
    summary_document,
)
from quaymaster._cli.values import complete_pod
from quaymaster._cli.why_not import print_why_not, why_not_document
from quaymaster._studies.simulation.explained import ExplainedPod, WhichAttempt
from quaymaster._studies.simulation.explaining import explain_pod
from quaymaster._studies.simulation.group_names import group_name
from quaymaster._studies.why.pod_group_suggestions import suggest_group_changes
from quaymaster._studies.why.suggestions import Suggestions, suggest_changes

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
    help="Which attempt to show. By default the last one; the first one if pods "
    "of the input are terminating, since they still count now.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    help=f"Show the N best nodes, and count the rest; 0 shows all. [default: "
    f"{_TOP} in a table, else all]",
)
@click.option(
    "--unbind",
    is_flag=True,
    help="Remove the pod from its node first, and schedule it again.",
)
@click.option(
    "--why-not",
    metavar="NODE",
    default="",
    help="Show why this node was not chosen: each plugin's rejection, or its "
    "scores beside those of the chosen node.",
)
@click.option(
    "--suggest",
    is_flag=True,
    help="Search for the smallest changes that place the pod, and simulate each.",
)
@click.option(
    "--all-pending",
    is_flag=True,
    help="Show why all pending pods have no node, by owner and cause; used without "
    "POD.",
)
@max_trials_option()
@autoscaler_option()
@output_option(
    OutputFormat.TABLE, OutputFormat.CSV, OutputFormat.JSON, OutputFormat.YAML
)
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
    autoscaler_file: str | None,
    output: OutputFormat,
) -> None:
    """Show why a pod is placed where it is: every node, plugin and score.

    POD is a pod as NAME or NAMESPACE/NAME, or a workload as KIND/NAME or
    NAMESPACE/KIND/NAME, with kubectl's names for kinds: pod/web-0, deploy/web,
    shop/deployments.apps/web, sts/db. For a workload, a pod that has no node is shown,
    or else the first that is scheduled. With -n, POD is searched in that namespace
    only. For several pods, separated by commas, or for all pending pods, a summary is
    shown.

    The manifests are simulated as with "simulate", and one attempt of the pod is shown,
    in the state of the cluster at that time. If pods of the input are terminating, the
    first attempt is shown: the decision while they still exist.

    With --autoscaler, each group of nodes has its reason to grow for the pod, or not to
    grow. POD may also be node/NAME then: why is this node removed, or why not?
    """
    request = _Request(attempt, unbind, why_not, suggest, max_trials, autoscaler_file)
    if node := node_name(pod):
        if autoscaler_file is None:
            raise click.UsageError(f"{pod}: a node is explained with --autoscaler only")
        _refuse_for_node(request, is_topped=top is not None)
        explain_node_command(node, autoscaler_file, options, output)
        return
    if all_pending or "," in pod:
        _refuse(request)
        names = () if all_pending else tuple(filter(None, pod.split(",")))
        paths = (pod, *options.paths) if all_pending and pod else options.paths
        _summarize(names, attrs.evolve(options, paths=paths), request, output)
        return
    if not pod:
        raise click.UsageError("Missing argument 'POD'; or --all-pending.")
    if group_name(pod, options.namespace or "") is not None:
        if unbind or why_not:
            option = "--unbind" if unbind else "--why-not"
            raise click.UsageError(f"{option} needs a pod, not a PodGroup")
        if autoscaler_file is not None:
            raise click.UsageError("--autoscaler needs a pod or a node, not a PodGroup")
        group = GroupRequest(pod, attempt, top, suggest, max_trials)
        explain_group_command(group, options, output)
        return
    if autoscaler_file is not None and suggest:
        raise click.UsageError("--suggest tries changes without --autoscaler")
    if output is OutputFormat.CSV and (why_not or suggest or autoscaler_file):
        option = "--why-not" if why_not else "--suggest"
        option = "--autoscaler" if autoscaler_file else option
        raise click.UsageError(f"{option} cannot be printed by -o csv")
    _explain(pod, options, request, top, output)


@attrs.frozen
class _Request:
    """The options about the pods to explain.

    Attributes:
        attempt: Which attempt is shown.
        unbind: Whether the pod is removed from its node first.
        why_not: The node of ``--why-not``, or empty.
        suggest: Whether to search for changes.
        max_trials: The maximum number of simulations for that.
        autoscaler_file: The file of the autoscaler, or None.
    """

    attempt: WhichAttempt | int
    unbind: bool
    why_not: str
    suggest: bool
    max_trials: int
    autoscaler_file: str | None


def _refuse(request: _Request) -> None:
    """Reject options that need exactly one pod."""
    options = {
        "--attempt": request.attempt is not WhichAttempt.AUTO,
        "--unbind": request.unbind,
        "--why-not": bool(request.why_not),
        "--autoscaler": request.autoscaler_file is not None,
    }
    for option, is_given in options.items():
        if is_given:
            raise click.UsageError(f"{option} needs exactly one POD")


def _refuse_for_node(request: _Request, *, is_topped: bool) -> None:
    """Reject options that need a pod."""
    options = {
        "--attempt": request.attempt is not WhichAttempt.AUTO,
        "--top": is_topped,
        "--unbind": request.unbind,
        "--why-not": bool(request.why_not),
        "--suggest": request.suggest,
    }
    for option, is_given in options.items():
        if is_given:
            raise click.UsageError(f"{option} needs a pod, not a node")


def _explain(
    pod: str,
    options: InputOptions,
    request: _Request,
    top: int | None,
    output: OutputFormat,
) -> None:
    factory = the_autoscaler(request.autoscaler_file)
    inputs = read_inputs(options, kinds=ScaledRun(factory).kinds)
    with progress_bar() as progress, inputs.located():
        explained = explain_pod(
            pod,
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            attempt=request.attempt,
            namespace=options.namespace or "",
            unbind=request.unbind,
            why_not=request.why_not,
            on_progress=scheduling_in(progress),
            max_pods=options.max_pods,
            as_it_is=options.is_live,
            autoscaler=factory,
        )
    suggestions = None
    if request.suggest and explained.group is not None:
        namespace, _, name = explained.group.group.partition("/")
        suggestions = search_suggestions(
            suggest_group_changes,
            f"{namespace}/podgroup/{name}",
            inputs,
            options,
            request.max_trials,
        )
    elif request.suggest:
        suggestions = search_suggestions(
            suggest_changes, pod, inputs, options, request.max_trials
        )
    notices = (*inputs.notices, *explained.notices)
    if output is OutputFormat.TABLE:
        _print(explained, suggestions, request, top)
        if explained.scaling is not None:
            print_pod_scaling(explained.scaling)
    elif output is OutputFormat.CSV:
        every = request.attempt is WhichAttempt.ALL
        print_explained_csv(explained, top=top or 0, every=every)
    else:
        document = as_document(explained, top or 0)
        if explained.group is not None:
            document["podGroup"] = group_document(explained.group)
        if explained.why_not is not None:
            document["whyNot"] = why_not_document(explained.why_not)
        if suggestions is not None:
            document["suggestions"] = suggestions_document(suggestions)
        if explained.scaling is not None:
            document["scaling"] = pod_scaling_document(explained.scaling)
        document["warnings"] = notice_documents(notices)
        print_document(document, output)
    print_notices(notices)


def _print(
    explained: ExplainedPod,
    suggestions: Suggestions | None,
    request: _Request,
    top: int | None,
) -> None:
    if request.why_not:
        print_why_not(explained)
    else:
        print_explained(
            explained,
            top=_TOP if top is None else top,
            every=request.attempt is WhichAttempt.ALL,
        )
        if explained.group is not None:
            print_line()
            print_group_decision(explained.group, top=_TOP if top is None else top)
    if suggestions is not None and explained.group is not None:
        print_group_suggestions(suggestions)
    elif suggestions is not None:
        print_suggestions(suggestions)


def _summarize(
    pods: tuple[str, ...],
    options: InputOptions,
    request: _Request,
    output: OutputFormat,
) -> None:
    inputs = read_inputs(options)
    summary = pending_summary(
        inputs,
        options,
        suggest=request.suggest,
        max_trials=request.max_trials,
        pods=pods,
    )
    notices = (*inputs.notices, *summary.notices)
    if output is OutputFormat.TABLE:
        print_summary(summary, suggested=request.suggest)
    elif output is OutputFormat.CSV:
        print_summary_csv(summary)
    else:
        document = summary_document(summary)
        document["warnings"] = notice_documents(notices)
        print_document(document, output)
    print_notices(notices)
