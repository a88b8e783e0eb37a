"""The command line: the group of all commands."""

import click

from quaymaster._cli import (
    capacity,
    compare,
    completion,
    config,
    debug,
    deploy,
    doctor,
    explain,
    extender,
    perf,
    plan,
    plugins,
    record,
    replay,
    run,
    scenario,
    serve,
    simulate,
    snapshot,
    ui,
    version,
    what_if,
)

__all__ = ["app"]


def _print_version(context: click.Context, _option: click.Parameter, on: bool) -> None:
    if on and not context.resilient_parsing:
        version.print_version()
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version, and which kube-scheduler it decides like.",
)
def app() -> None:
    """The Kubernetes scheduling framework: simulate, explain and check scheduling.

    The exit code is 0 if it is done; 1 if it is, but not all is as it should be (see
    --require-all, --require-same, --strict and --verify of the commands, perf and
    plugins check); 2 if the command line or the input is wrong; 130 after Ctrl-C (0 if
    that stops "extender").
    """


app.add_command(simulate.command)
app.add_command(explain.command)
app.add_command(plan.command)
app.add_command(compare.command)
app.add_command(scenario.group)
app.add_command(capacity.command)
app.add_command(snapshot.command)
app.add_command(ui.command)
app.add_command(serve.command)
app.add_command(run.command)
app.add_command(deploy.group)
app.add_command(doctor.command)
app.add_command(debug.group)
app.add_command(what_if.command)
app.add_command(extender.command)
app.add_command(perf.command)
app.add_command(record.command)
app.add_command(replay.command)
app.add_command(plugins.group)
app.add_command(config.group)
app.add_command(completion.command)
app.add_command(version.command)
