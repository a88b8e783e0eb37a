"""Finds the access to one cluster in kubeconfig files, and reports every mistake.

Mirrors ``ConfirmUsable`` (k8s.io/client-go v0.36, ``tools/clientcmd/validation.go``)
and ``DirectClientConfig`` (``client_config.go``).
"""

import base64
import binascii
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote, urlsplit

import attrs
import msgspec

from quaymaster._base.errors import Problem
from quaymaster._base.suggestions import did_you_mean
from quaymaster._clusters.kubernetes.access import Access, Pem
from quaymaster._clusters.kubernetes.in_cluster import in_cluster_access
from quaymaster._clusters.kubernetes.kubeconfig import (
    Entry,
    Kubeconfig,
    kubeconfig_files,
    merged,
    read_kubeconfig,
)
from quaymaster._clusters.kubernetes.kubeconfig_model import (
    Cluster,
    Context,
    ExecConfig,
    User,
)
from quaymaster._core.config.errors import ConfigErrors

__all__ = ["find_access"]

EXEC_VERSIONS: Final = (
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
)
_EXEC_EXTENSION: Final = "client.authentication.k8s.io/exec"
_INTERACTIVE: Final = ("Never", "IfAvailable", "Always")

ValueT = TypeVar("ValueT")


def find_access(
    *,
    kubeconfig: str | None = None,
    context: str = "",
    environment: Mapping[str, str] | None = None,
) -> Access:
    """Find the access to a cluster, as kubectl does.

    Args:
        kubeconfig: The only kubeconfig file to read, instead of those of the
            environment.
        context: The context to use; empty: the current one, or, without any kubeconfig
            file, the service account of the pod in which this runs.
        environment: The environment; None: that of this process.

    Raises:
        ConfigErrors: The context does not exist, or is invalid.
    """
    variables = os.environ if environment is None else environment
    files = kubeconfig_files(kubeconfig, variables)
    configs: list[Kubeconfig] = []
    problems: list[Problem] = []
    for file in files:
        try:
            configs.append(read_kubeconfig(file))
        except ConfigErrors as error:
            problems += error.problems
    if problems:
        raise ConfigErrors(problems)
    config = merged(configs)
    if not context and not config.current_context:
        inside = in_cluster_access(variables) if kubeconfig is None else None
        if inside is not None:
            return inside
    return _access(config, context)


def _access(config: Kubeconfig, chosen: str) -> Access:
    name = chosen or config.current_context
    where = ", ".join(config.files) or "kubeconfig"
    if not name:
        expected = "expected a context (--context or current-context)"
        hint = (
            ""
            if config.files
            else "; neither $KUBECONFIG nor ~/.kube/config names an existing file"
        )
        raise ConfigErrors([Problem(where=where, message=f"{expected}{hint}")])
    entry = config.contexts.get(name)
    if entry is None:
        message = f"no context {name!r}{_hint_of(name, config.contexts)}"
        raise ConfigErrors([Problem(where=where, message=message)])
    problems: list[Problem] = []
    cluster = _named(entry, "cluster", config.clusters, problems)
    user = None
    if entry.value.user:
        user = _named(entry, "user", config.users, problems)
    access = Access(
        name=f"context {name!r}", server="", namespace=entry.value.namespace
    )
    if cluster is not None:
        access = _with_cluster(access, cluster, problems)
    if user is not None:
        access = _with_user(access, user, problems)
    if problems:
        raise ConfigErrors(problems)
    if cluster is not None and access.exec and access.exec.provide_cluster_info:
        access = attrs.evolve(access, exec_cluster=_cluster_info(access, cluster))
    return access


def _hint_of(name: str, names: Collection[str]) -> str:
    hint = did_you_mean(name, names)
    return hint or f" (known: {', '.join(sorted(names)) or 'none'})"


def _named(
    context: Entry[Context],
    key: str,
    entries: Mapping[str, Entry[ValueT]],
    problems: list[Problem],
) -> Entry[ValueT] | None:
    name = getattr(context.value, key)
    entry = entries.get(name)
    if entry is None:
        message = f"no {key} {name!r}{_hint_of(name, entries)}"
        problems.append(context.problem(key, message))
    return entry


def _with_cluster(
    access: Access, cluster: Entry[Cluster], problems: list[Problem]
) -> Access:
    settings = cluster.value
    problems += _url_problems(cluster, "server", settings.server, ("https", "http"))
    if settings.proxy_url:
        schemes = ("http", "socks5", "socks5h")
        problems += _url_problems(cluster, "proxy-url", settings.proxy_url, schemes)
    authority = _pem(
        cluster,
        "certificate-authority",
        settings.certificate_authority,
        settings.certificate_authority_data,
        problems,
    )
    if settings.insecure_skip_tls_verify and authority:
        expected = "expected no certificate-authority beside it"
        problems.append(cluster.problem("insecure-skip-tls-verify", expected))
    return attrs.evolve(
        access,
        server=settings.server.rstrip("/"),
        authority=authority,
        is_insecure=settings.insecure_skip_tls_verify,
        server_name=settings.tls_server_name,
        proxy_url=settings.proxy_url,
        compresses=not settings.disable_compression,
    )


def _url_problems(
    cluster: Entry[Cluster], key: str, text: str, schemes: Collection[str]
) -> Iterator[Problem]:
    expected = (
        f"a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}"
    )
    try:
        parts = urlsplit(text)
        is_url = parts.scheme in schemes and bool(parts.hostname)
        is_url &= parts.port != 0 and text.isprintable() and " " not in text
    except ValueError:
        is_url = False
    if not is_url:
        got = repr(text) if text else "nothing"
        yield cluster.problem(key, f"expected {expected}, got {got}")


def _pem(
    entry: Entry[ValueT], key: str, file: str, text: str, problems: list[Problem]
) -> Pem:
    """Read a certificate or key; files are only checked, and read later."""
    if text and file:
        message = f"expected {key} or {key}-data, got both"
        problems.append(entry.problem(key, message))
    if text:
        data = _decoded(text)
        if data is None:
            message = "expected PEM in base64, got something else"
            problems.append(entry.problem(f"{key}-data", message))
        return Pem(data=data or b"")
    path = entry.resolved(file)
    if path:
        try:
            Path(path).open("rb").close()
        except (OSError, ValueError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            problems.append(entry.problem(key, f"cannot read {path}: {why}"))
    return Pem(file=path)


def _decoded(text: str) -> bytes | None:
    try:
        # Go's decoder skips line ends, so they are valid in kubeconfig files.
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if b"-----BEGIN" in data else None


def _with_user(access: Access, user: Entry[User], problems: list[Problem]) -> Access:
    settings = user.value
    problems += _user_problems(user)
    certificate = _pem(
        user,
        "client-certificate",
        settings.client_certificate,
        settings.client_certificate_data,
        problems,
    )
    key = _pem(
        user, "client-key", settings.client_key, settings.client_key_data, problems
    )
    if settings.exec is not None:
        problems += _exec_problems(user, settings.exec)
    # As upstream, the program is not run if the file has credentials.
    has_own = settings.token or settings.token_file or settings.username or certificate
    return attrs.evolve(
        access,
        certificate=certificate,
        key=key,
        token=settings.token,
        token_file=user.resolved(settings.token_file),
        username=settings.username,
        password=settings.password,
        exec=None if has_own else _exec_of(user, settings.exec),
        exec_where=f"{user.file}: {user.path}.exec",
        headers=tuple(_impersonation(settings)),
    )


def _user_problems(user: Entry[User]) -> Iterator[Problem]:
    settings = user.value
    has_certificate = settings.client_certificate or settings.client_certificate_data
    has_key = settings.client_key or settings.client_key_data
    if has_certificate and not has_key:
        message = "expected client-key or client-key-data with a client certificate"
        yield user.problem("", message)
    if settings.token and (settings.username or settings.password):
        yield user.problem("", "expected a token or a username, got both")
    if (
        settings.as_uid or settings.as_groups or settings.as_user_extra
    ) and not settings.as_:
        message = "expected 'as' with as-uid, as-groups or as-user-extra"
        yield user.problem("", message)
    if settings.auth_provider is not None:
        message = "no longer exists: use exec with a credential program"
        yield user.problem("auth-provider", message)


def _exec_problems(user: Entry[User], settings: ExecConfig) -> Iterator[Problem]:
    if not settings.command:
        yield user.problem("exec.command", "expected a program, got nothing")
    if settings.api_version not in EXEC_VERSIONS:
        expected = f"expected {' or '.join(EXEC_VERSIONS)}"
        got = repr(settings.api_version) if settings.api_version else "nothing"
        yield user.problem("exec.apiVersion", f"{expected}, got {got}")
    mode = settings.interactive_mode
    may_be_left_out = settings.api_version == EXEC_VERSIONS[1]
    if mode not in _INTERACTIVE and not (may_be_left_out and not mode):
        expected = f"expected one of {', '.join(_INTERACTIVE)}"
        got = repr(mode) if mode else "nothing"
        yield user.problem("exec.interactiveMode", f"{expected}, got {got}")
    for index, variable in enumerate(settings.env):
        if not variable.name:
            path = f"exec.env[{index}].name"
            yield user.problem(path, "expected a name, got nothing")


def _exec_of(user: Entry[User], settings: ExecConfig | None) -> ExecConfig | None:
    """Return the program; a relative path is resolved from its file's folder."""
    if settings is None or os.path.basename(settings.command) == settings.command:  # noqa: PTH119 - as upstream
        return settings
    return msgspec.structs.replace(settings, command=user.resolved(settings.command))


def _impersonation(user: User) -> Iterator[tuple[str, str]]:
    if user.as_:
        yield "Impersonate-User", user.as_
    if user.as_uid:
        yield "Impersonate-Uid", user.as_uid
    for group in user.as_groups:
        yield "Impersonate-Group", group
    for key, values in user.as_user_extra.items():
        for value in values:
            yield f"Impersonate-Extra-{quote(key, safe='')}", value


def _cluster_info(access: Access, cluster: Entry[Cluster]) -> dict[str, object]:
    """Return the data about the cluster for a program, as in ``ExecCredential``."""
    settings, info = cluster.value, dict[str, object](server=access.server)
    if settings.tls_server_name:
        info["tls-server-name"] = settings.tls_server_name
    if settings.insecure_skip_tls_verify:
        info["insecure-skip-tls-verify"] = True
    data = access.authority.data
    if access.authority.file:
        data = Path(access.authority.file).read_bytes()
    if data:
        info["certificate-authority-data"] = base64.b64encode(data).decode()
    if settings.proxy_url:
        info["proxy-url"] = settings.proxy_url
    if settings.disable_compression:
        info["disable-compression"] = True
    for extension in settings.extensions:
        if extension.name == _EXEC_EXTENSION:
            info["config"] = extension.extension
    return info
