"""``quaymaster serve``."""

import importlib
import math
import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.missing_packages import not_installed
from quaymaster._base.serving.foreign_requests import is_loopback
from quaymaster._cli.inputs import InputOptions, Inputs, input_options, read_inputs
from quaymaster._cli.listening import (
    bind_option,
    check_encryption,
    plain_http_option,
    read_tls,
    tls_options,
)
from quaymaster._cli.logs import logging_to_stderr
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import print_line, progress_bar, scheduling_in, warn
from quaymaster._surfaces.service.limits import ServiceLimits

if TYPE_CHECKING:  # the extra may be missing
    from starlette.types import ASGIApp

    from quaymaster._surfaces.service.readiness import SharedReadiness

__all__ = ["command"]

_EXTRA = ("httptools", "starlette", "uvicorn")
_TOKEN = "QUAYMASTER_SERVE_TOKEN"
_DEFAULT = ServiceLimits()
_STDIN = "-"
_READ_ONCE = "standard input cannot be read a second time"


class _InputError(QuaymasterError):
    """The command cannot begin."""


@attrs.frozen(kw_only=True)
class _Access:
    """How clients authenticate.

    Attributes:
        token: The token; empty if no token is required.
        notice: The line that is printed about it.
    """

    token: str
    notice: str


@click.command("serve")
@input_options
@bind_option("127.0.0.1:8090")
@tls_options
@plain_http_option("tokens and answers")
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="The number of worker processes.",
)
@click.option(
    "--refresh",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=0,
    help="Read the input again at this interval. SIGHUP does so at once.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(),
    help="The file with the token that clients send. Without it, the environment "
    f"variable {_TOKEN} has it; without that, a token is generated and printed.",
)
@click.option(
    "--no-token",
    is_flag=True,
    help="Answer every client that can connect, except for web pages.",
)
@click.option(
    "--max-request-bytes",
    metavar="N",
    type=click.IntRange(min=1),
    default=_DEFAULT.body_bytes,
    show_default=True,
    help="The maximum size of a request.",
)
@click.option(
    "--max-request-pods",
    metavar="N",
    type=click.IntRange(min=1),
    default=_DEFAULT.pods,
    show_default=True,
    help="The maximum number of pods in a fit request.",
)
@click.option(
    "--max-simulations",
    metavar="N",
    type=click.IntRange(min=0),
    default=_DEFAULT.simulations,
    show_default=True,
    help="How many simulations each worker runs at once; more are rejected.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=_DEFAULT.timeout_seconds,
    show_default=True,
    help="The timeout of a request.",
)
def command(
    options: InputOptions,
    address: tuple[str, int],
    tls_cert_file: str | None,
    tls_private_key_file: str | None,
    plain_http: bool,
    workers: int,
    refresh: float,
    token_file: str | None,
    no_token: bool,
    max_request_bytes: int,
    max_request_pods: int,
    max_simulations: int,
    timeout: float,
) -> None:
    """Answer over HTTP whether pods would fit on a cluster kept in memory.

    The manifests are simulated as with "simulate". POST /v1/fit then answers whether
    pods fit, /v1/explain why, and /v1/simulate what happens if objects are added. No
    request affects another one. /openapi.json describes them.

    It runs until SIGINT (Ctrl-C) or SIGTERM. SIGHUP reads the input again. If the new
    input is invalid, the old one stays in use, and /healthz reports that.
    """
    _check_extra()
    # The extra may be missing.
    from quaymaster._surfaces.service.listening import listen, url_of  # noqa: PLC0415 - above
    from quaymaster._surfaces.service.readiness import SharedReadiness  # noqa: PLC0415 - above
    from quaymaster._surfaces.service.serving import ServeOptions, serve  # noqa: PLC0415 - above

    tls = read_tls(tls_cert_file, tls_private_key_file)
    check_encryption(address[0], tls, plain_http=plain_http)
    if refresh and _STDIN in options.paths:
        raise click.UsageError(f"--refresh: {_READ_ONCE}")
    limits = ServiceLimits(
        body_bytes=max_request_bytes,
        pods=max_request_pods,
        simulations=max_simulations,
        timeout_seconds=timeout,
    )
    access = _access(token_file, no_token)
    inputs = read_inputs(options)
    readiness = SharedReadiness()
    with ExitStack() as stack, logging_to_stderr():
        sockets = listen(*address, workers)
        for socket in sockets:
            stack.enter_context(socket)
        url = url_of(sockets[0], has_tls=tls is not None)
        notices = [f"listening on {url}", access.notice]
        make = _maker(options, inputs, access.token, limits, readiness, notices)
        serve(
            make if access.token else _guarded(make, address[0]),
            sockets,
            readiness,
            ServeOptions(
                tls=tls,
                refresh_seconds=refresh,
                grace_seconds=math.ceil(timeout),
                on_trouble=warn,
            ),
        )


def _maker(
    options: InputOptions,
    first: Inputs,
    token: str,
    limits: ServiceLimits,
    readiness: "SharedReadiness",
    notices: list[str],
) -> Callable[[], "ASGIApp"]:
    """Return a function that makes the application from the current input."""
    # The extra may be missing, and other commands need none of it.
    from quaymaster._surfaces.service.application import make_app  # noqa: PLC0415 - see above
    from quaymaster._surfaces.service.warm import WarmCluster  # noqa: PLC0415 - see above

    waiting = [first]

    def make() -> "ASGIApp":
        inputs = waiting.pop() if waiting else _read_again(options)
        with progress_bar() as progress, inputs.located():
            cluster = WarmCluster(
                inputs.objects,
                config=inputs.config,
                registry=inputs.registry,
                seed=options.seed,
                max_pods=options.max_pods,
                on_progress=scheduling_in(progress),
            )
        print_notices(inputs.notices)
        while notices:
            print_line(notices.pop(0))
        return make_app(cluster, token=token, limits=limits, standing=readiness.read)

    return make


def _guarded(make: Callable[[], "ASGIApp"], host: str) -> Callable[[], "ASGIApp"]:
    """Reject requests of web pages: nothing else protects a service without a token."""
    from quaymaster._surfaces.service.guarding import WithoutBrowsers  # noqa: PLC0415 - the extra may be missing

    return lambda: WithoutBrowsers(make(), is_local=is_loopback(host))


def _read_again(options: InputOptions) -> Inputs:
    if _STDIN in options.paths:
        raise _InputError(_READ_ONCE)
    try:
        return read_inputs(options)
    except click.ClickException as error:
        raise _InputError(error.format_message()) from error


def _check_extra() -> None:
    missing = [name for name in _EXTRA if not _is_installed(name)]
    if missing:
        raise _InputError(not_installed(missing, "serve"))


def _is_installed(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _access(file: str | None, is_open: bool) -> _Access:
    if is_open:
        return _Access(token="", notice="token: none, all clients are accepted")
    if file is not None:
        return _Access(token=_read_token(file), notice=f"token: the one in {file}")
    token = os.environ.get(_TOKEN, "").strip()
    if token:
        return _Access(token=token, notice=f"token: the one in {_TOKEN}")
    token = secrets.token_urlsafe(24)
    return _Access(token=token, notice=f"token: {token}")


def _read_token(file: str) -> str:
    try:
        token = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "expected UTF-8"
        raise _InputError(f"{file}: {reason}") from error
    if not token:
        raise _InputError(f"{file}: expected a token, got nothing")
    return token
