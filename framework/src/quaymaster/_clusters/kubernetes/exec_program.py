"""Runs a credential program, such as those of cloud providers.

Mirrors k8s.io/client-go v0.36, ``plugin/pkg/client/auth/exec/exec.go``.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects.time import Time
from quaymaster._base.errors import TimeError
from quaymaster._clusters.kubernetes.access import Access, Pem
from quaymaster._clusters.kubernetes.errors import CredentialsError
from quaymaster._clusters.kubernetes.kubeconfig_model import ExecConfig

__all__ = ["Issued", "ask_program"]

VARIABLE: Final = "KUBERNETES_EXEC_INFO"
_KIND: Final = "ExecCredential"


@attrs.frozen(kw_only=True)
class Issued:
    """The credentials that a program returned.

    Attributes:
        token: A bearer token, or empty.
        certificate: A client certificate, if any.
        key: Its key.
        expires: When they expire, in seconds since the epoch; None: never.
    """

    token: str = attrs.field(default="", repr=False)
    certificate: Pem = Pem()
    key: Pem = Pem()
    expires: float | None = None


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


def ask_program(access: Access, config: ExecConfig) -> Issued:
    """Run the program of an access once.

    Its messages go to standard error. It may prompt on the terminal, if any and if its
    ``interactiveMode`` allows that.

    Raises:
        CredentialsError: It cannot be run, fails, or prints something else.
    """
    is_interactive = _is_interactive(access, config)
    question = _question(access, config, is_interactive=is_interactive)
    environment = {
        **os.environ,
        **{variable.name: variable.value for variable in config.env},
        VARIABLE: msgspec.json.encode(question).decode(),
    }
    where = f"{access.exec_where} ({config.command})"
    try:
        # Standard error is not captured, as programs prompt their users there.
        done = subprocess.run(
            [config.command, *config.args],
            env=environment,
            stdin=None if is_interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=False,
        )
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        hint = f"; {config.install_hint}" if config.install_hint else ""
        raise CredentialsError(where, f"cannot be run: {why}{hint}") from error
    if done.returncode:
        raise CredentialsError(where, f"failed with exit code {done.returncode}")
    return _issued(done.stdout, config.api_version, where)


def _is_interactive(access: Access, config: ExecConfig) -> bool:
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    if config.interactive_mode == "Always" and not has_terminal:
        message = "interactiveMode: Always needs a terminal as standard input"
        raise CredentialsError(access.exec_where, message)
    return has_terminal and config.interactive_mode != "Never"


def _question(
    access: Access, config: ExecConfig, *, is_interactive: bool
) -> Mapping[str, object]:
    spec: dict[str, object] = {"interactive": is_interactive}
    if config.provide_cluster_info:
        spec["cluster"] = access.exec_cluster
    return {"apiVersion": config.api_version, "kind": _KIND, "spec": spec}


def _issued(text: bytes, version: str, where: str) -> Issued:
    """Decode the output of a program."""
    expected = f"expected an {_KIND} of {version} as its output"
    try:
        answer = msgspec.json.decode(text, type=_Answer)
    except msgspec.DecodeError as error:
        raise CredentialsError(where, f"{expected}: {error}") from error
    if (answer.api_version, answer.kind) != (version, _KIND):
        got = f"{answer.kind!r} of {answer.api_version!r}"
        raise CredentialsError(where, f"{expected}, got {got}")
    status = answer.status
    if status is None or not (status.token or status.client_certificate_data):
        message = f"{expected} with a status.token or status.clientCertificateData"
        raise CredentialsError(where, message)
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        pair = "status.clientCertificateData and status.clientKeyData"
        raise CredentialsError(where, f"{expected} with both {pair}, or none")
    return Issued(
        token=status.token,
        certificate=Pem(data=status.client_certificate_data.encode()),
        key=Pem(data=status.client_key_data.encode()),
        expires=_time(status.expiration_timestamp, where),
    )


def _time(text: str | None, where: str) -> float | None:
    try:
        return None if text is None else Time.parse(text)
    except TimeError as error:
        raise CredentialsError(where, f"status.expirationTimestamp: {error}") from error
