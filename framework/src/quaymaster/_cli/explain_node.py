"""``quaymaster explain node/NAME``."""

from quaymaster._api.objects import Node
from quaymaster._cli.autoscaler import the_autoscaler
from quaymaster._cli.explained_scaling import (
    node_document,
    print_explained_node,
    print_pods_of_node_csv,
)
from quaymaster._cli.inputs import InputOptions, read_inputs
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    print_document,
    progress_bar,
    scheduling_in,
)
from quaymaster._studies.autoscaling.explaining_nodes import explain_node
from quaymaster._studies.simulation.autoscaler import kinds_of
from quaymaster._studies.simulation.kinds import kind_fits

__all__ = ["explain_node_command", "node_name"]


def node_name(text: str) -> str:
    """Return the node of ``node/NAME``; empty if the text names something else."""
    kind, _, name = text.partition("/")
    is_node = kind_fits(kind, Node.kind, Node.api_version)
    return name if is_node and "/" not in name else ""


def explain_node_command(
    name: str, autoscaler_file: str, options: InputOptions, output: OutputFormat
) -> None:
    """Explain why an autoscaler removes a node, or does not.

    Args:
        name: The node.
        autoscaler_file: The file of the autoscaler.
        options: The options about the input.
        output: The form of the output.
    """
    factory = the_autoscaler(autoscaler_file)
    assert factory is not None, "there is a file"
    inputs = read_inputs(options, kinds=kinds_of(factory))
    with progress_bar() as progress, inputs.located():
        explained = explain_node(
            name,
            inputs.objects,
            factory,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            on_progress=scheduling_in(progress),
            max_pods=options.max_pods,
        )
    notices = (*inputs.notices, *explained.notices)
    if output is OutputFormat.TABLE:
        print_explained_node(explained)
    elif output is OutputFormat.CSV:
        print_pods_of_node_csv(explained)
    else:
        warnings = {"warnings": notice_documents(notices)}
        print_document(node_document(explained) | warnings, output)
    print_notices(notices)
