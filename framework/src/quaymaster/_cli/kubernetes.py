"""The options for the version of Kubernetes and its feature gates."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import click

from quaymaster._base.versions.kubernetes import (
    DEFAULT_KUBERNETES,
    KUBERNETES_VERSIONS,
    Kubernetes,
    KubernetesError,
)

__all__ = ["kubernetes_options", "read_gates"]

_TRUTHS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}
"""The texts that Go, and so kube-scheduler, reads as a truth value."""

_COMPONENT: Final = "kube:"
"""The optional prefix of a gate, as kube-scheduler reads it."""


def kubernetes_options(
    *, several: bool = False, text: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options for the Kubernetes version to a command.

    The command gets ``versions``, which is empty if no option is used.

    Args:
        several: Whether there may be several versions.
        text: The help text of ``--kubernetes``; if empty, the usual one.
    """
    supported = " or ".join(KUBERNETES_VERSIONS)
    if not text:
        text = (
            f"The Kubernetes whose scheduler decides: {supported}; by default "
            f"{DEFAULT_KUBERNETES.version}."
        )
        if several:
            text += " May be repeated: each one is a variant to compare."

    def give(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def gathered(
            kubernetes_version: str | tuple[str, ...] | None,
            gates: tuple[str, ...],
            **arguments: Any,
        ) -> None:
            versions = kubernetes_version
            if not isinstance(versions, tuple):
                versions = () if versions is None else (versions,)
            command(versions=_read_kubernetes(versions, gates), **arguments)

        option = click.option(
            "--kubernetes",
            "kubernetes_version",
            metavar="VERSION",
            multiple=several,
            shell_complete=_complete_version,
            help=text,
        )
        return option(_GATES(gathered))

    return give


_GATES: Final = click.option(
    "--feature-gates",
    "gates",
    metavar="GATE=true,...",
    multiple=True,
    help="Feature gates that differ from their defaults, as in kube-scheduler. May "
    "be repeated.",
)


def _read_kubernetes(
    versions: tuple[str, ...], gates: Iterable[str]
) -> tuple[Kubernetes, ...]:
    switches = read_gates(gates)
    if not versions and switches:
        versions = (DEFAULT_KUBERNETES.version,)
    try:
        return tuple(
            Kubernetes(version, switches) for version in dict.fromkeys(versions)
        )
    except KubernetesError as error:
        is_version = error.where == "kubernetes_version"
        hint = "--kubernetes" if is_version else "--feature-gates"
        raise click.BadParameter(error.problem, param_hint=hint) from error


def read_gates(
    texts: Iterable[str], option: str = "--feature-gates"
) -> dict[str, bool]:
    """Read feature gates as kube-scheduler writes them; the last value counts.

    Args:
        texts: The values of the option.
        option: The option, for errors.

    Raises:
        BadParameter: An entry is not ``GATE=true`` or ``GATE=false``.
    """
    gates: dict[str, bool] = {}
    for entry in (part.strip() for text in texts for part in text.split(",")):
        if not entry:
            continue
        gate, equals, value = entry.removeprefix(_COMPONENT).partition("=")
        truth = _TRUTHS.get(value.strip())
        if not equals or not gate.strip() or truth is None:
            message = f"expected GATE=true or GATE=false, got {entry!r}"
            raise click.BadParameter(message, param_hint=option)
        gates[gate.strip()] = truth
    return gates


def _complete_version(
    _context: click.Context, _option: click.Parameter, incomplete: str
) -> list[str]:
    return [
        version for version in KUBERNETES_VERSIONS if version.startswith(incomplete)
    ]
