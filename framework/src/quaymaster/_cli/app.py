"""The command line: what there is, and how it is called."""

import click

from quaymaster._cli import (
    config,
    explain,
    extender,
    perf,
    plugins,
    simulate,
    version,
)

__all__ = ["app"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def app() -> None:
    """The Kubernetes scheduling framework: simulate, explain and check scheduling."""


app.add_command(simulate.command)
app.add_command(explain.command)
app.add_command(extender.command)
app.add_command(perf.command)
app.add_command(plugins.group)
app.add_command(config.group)
app.add_command(version.command)
