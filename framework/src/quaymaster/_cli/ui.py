"""``quaymaster ui``."""

import os
import secrets
import socket
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from quaymaster._base.errors import QuaymasterError
from quaymaster._cli.inputs import InputOptions, input_options, read_inputs
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import announce, print_line
from quaymaster._cli.signals import interruptible
from quaymaster._core.config.load import shipped_profiles

__all__ = ["command"]

_HOST = "127.0.0.1"
_TOKEN_BYTES = 24


class UiError(QuaymasterError):
    """The page cannot be served."""


@click.command("ui")
@input_options
@click.option(
    "--port",
    type=click.IntRange(min=0, max=65535),
    default=8765,
    show_default=True,
    metavar="N",
    help="The port on 127.0.0.1; 0 selects a free port.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
def command(options: InputOptions, port: int, opens: bool) -> None:
    """Show a cluster in a browser: simulate, explain, change, plan, compare.

    It prints an address of this machine with a token, and serves the page there until
    SIGINT (Ctrl-C) or SIGTERM. The page opens on the cluster of PATH, as that of
    "capacity --report". From there, it simulates other manifests and profiles,
    explains pods, suggests changes, and answers as what-if, plan and compare do. No
    data leaves the machine.
    """
    from quaymaster._surfaces.reporting.report import check_installed  # noqa: PLC0415

    check_installed("bokeh", "httptools", "starlette", "uvicorn", extra="ui")
    # Before reading the input, which may take long: report a busy port at once.
    with _listening(port) as listening, interruptible():
        _serve(options, listening, opens=opens)


def _serve(options: InputOptions, listening: socket.socket, *, opens: bool) -> None:
    inputs = read_inputs(options, needs_paths=False, asks_extenders=False)
    print_notices(inputs.notices)
    # Imported here, so that --help is fast.
    from quaymaster._cli.ui_studies import make_studies  # noqa: PLC0415
    from quaymaster._surfaces.reporting.web import make_app, serve  # noqa: PLC0415
    from quaymaster._surfaces.reporting.workbench import Workbench  # noqa: PLC0415

    workbench = Workbench(
        inputs.objects,
        registry=inputs.registry,
        seed=options.seed,
        max_pods=options.max_pods,
        kubernetes=options.configured.kubernetes,
        studies=make_studies(inputs, options),
        without_missing=options.configured.without_missing,
        **_config_of(options.configured.file),
    )
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    address = f"http://{_HOST}:{listening.getsockname()[1]}/?token={token}"
    announce(f"open {address}")
    if opens:
        webbrowser.open(address)
    with suppress(KeyboardInterrupt):
        serve(make_app(workbench, token), listening)
    print_line("stopped")


def _config_of(name: str | None) -> dict[str, str]:
    """The text of the named configuration, for editing."""
    if name is None:
        return {}
    path = Path(name)
    if not path.is_file():
        return {"config": shipped_profiles()[name].read_text(encoding="utf-8")}
    return {"config": path.read_text(encoding="utf-8")}


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((_HOST, port))
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        message = f"--port {port}: {why}; --port 0 selects a free port"
        raise UiError(message) from error
