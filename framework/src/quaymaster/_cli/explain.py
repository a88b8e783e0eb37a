"""``quaymaster explain``."""

import click

from quaymaster._cli.inputs import InputOptions, input_options, read_inputs
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
    print_table,
)
from quaymaster.explanation import Explanation, NodeScores
from quaymaster.simulation import ExplainedPod, explain_pod

__all__ = ["command"]


@click.command("explain")
@click.argument("pod")
@input_options
@output_option(OutputFormat.TABLE, OutputFormat.JSON, OutputFormat.YAML)
def command(
    pod: str,
    options: InputOptions,
    output: OutputFormat,
) -> None:
    """Show why one pod goes where it goes: every node, plugin and score.

    POD is a pod as namespace/name or name, or a workload as kind/name, which stands
    for its first pod. The manifests are simulated as with "simulate"; shown is the
    pod's last attempt, in the cluster as it was then.
    """
    inputs = read_inputs(options)
    with inputs.located():
        explained = explain_pod(
            pod,
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
        )
    notices = (*inputs.notices, *explained.notices)
    if output is OutputFormat.TABLE:
        _print(explained)
    else:
        document = _as_document(explained)
        document["warnings"] = notice_documents(notices)
        print_document(document, output)
    print_notices(notices)


def _as_document(explained: ExplainedPod) -> dict[str, object]:
    found = explained.explanation
    return {
        "pod": explained.pod,
        "scheduler": explained.scheduler,
        "outcome": explained.outcome,
        "node": explained.node,
        "message": explained.message,
        "rejections": [
            {
                "node": one.node,
                "plugin": one.plugin,
                "code": one.code.label,
                "reasons": list(one.reasons),
            }
            for one in (found.rejections if found else ())
        ],
        "scores": [_scores(one) for one in (found.scores if found else ())],
    }


def _scores(scores: NodeScores) -> dict[str, object]:
    return {
        "node": scores.node,
        "total": scores.total,
        "plugins": {
            name: {
                "raw": score.raw,
                "normalized": score.normalized,
                "weighted": score.weighted,
            }
            for name, score in scores.plugins.items()
        },
    }


def _print(explained: ExplainedPod) -> None:
    where = f" on {explained.node}" if explained.node else ""
    print_line(f"{explained.pod}: {explained.outcome}{where}")
    if explained.message:
        print_line(explained.message)
    if explained.explanation is not None:
        _print_nodes(explained.explanation)
        _print_scores(explained.explanation, explained.node)


def _print_nodes(found: Explanation) -> None:
    if found.rejections:
        print_line()
        print_table(
            ("NODE", "REJECTED BY", "REASONS"),
            [
                (one.node, one.plugin or "-", ", ".join(one.reasons))
                for one in found.rejections
            ],
        )


def _print_scores(found: Explanation, winner: str) -> None:
    if not found.scores:
        return
    print_line()
    plugins = list(found.scores[0].plugins)
    print_table(
        ("NODE", *plugins, "TOTAL", ""),
        [
            (
                one.node,
                *(
                    f"{score.raw} -> {score.normalized} -> {score.weighted}"
                    for score in one.plugins.values()
                ),
                one.total,
                "<- winner" if one.node == winner else "",
            )
            for one in found.scores
        ],
    )
    print_line("scores: raw -> normalized -> weighted")
