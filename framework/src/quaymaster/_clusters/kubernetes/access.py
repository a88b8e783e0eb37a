"""The address of an API server, and the credentials for it."""

from collections.abc import Callable, Mapping
from typing import Final

import attrs

from quaymaster._clusters.kubernetes.kubeconfig_model import ExecConfig

__all__ = ["Access", "Pem"]


@attrs.frozen(kw_only=True)
class Pem:
    """Certificates or a key in PEM, in a file or inline.

    Attributes:
        file: The file, or empty.
        data: The inline content, which overrides the file.
    """

    file: str = ""
    data: bytes = attrs.field(default=b"", repr=False)

    def __bool__(self) -> bool:
        return bool(self.file or self.data)


_NONE: Final = Pem()


@attrs.frozen(kw_only=True)
class Access:
    """The address of an API server, and the credentials for it.

    Attributes:
        name: Its name in messages, such as ``context 'prod'``.
        server: Its URL.
        namespace: The namespace of objects without one.
        authority: The authorities that sign the server's certificate; empty: those of
            the system.
        is_insecure: Whether its certificate is not verified.
        server_name: The name that the certificate must have; empty: the host's.
        proxy_url: The proxy to use; empty: that of the environment.
        compresses: Whether responses may be compressed.
        certificate: The client certificate.
        key: Its key.
        token: A bearer token.
        token_file: A file with a bearer token, which is read for each request.
        username: A name for basic authentication.
        password: Its password.
        exec: A credential program.
        exec_where: The place of the program in the kubeconfig file, for messages.
        exec_cluster: The data about the cluster that the program may receive.
        headers: The impersonation headers.
        reread: Reads the same access again from files that may have changed. A client
            calls it after a refusal, and after a request without a response.
    """

    name: str
    server: str
    namespace: str = ""
    authority: Pem = _NONE
    is_insecure: bool = False
    server_name: str = ""
    proxy_url: str = attrs.field(default="", repr=False)
    compresses: bool = True
    certificate: Pem = _NONE
    key: Pem = _NONE
    token: str = attrs.field(default="", repr=False)
    token_file: str = ""
    username: str = ""
    password: str = attrs.field(default="", repr=False)
    exec: ExecConfig | None = None
    exec_where: str = ""
    exec_cluster: Mapping[str, object] = attrs.field(factory=dict)
    headers: tuple[tuple[str, str], ...] = ()
    reread: Callable[[], "Access"] | None = attrs.field(
        default=None, eq=False, repr=False
    )
