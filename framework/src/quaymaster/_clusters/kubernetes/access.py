"""How to reach one API server, and as whom."""

from collections.abc import Callable, Mapping
from typing import Final

import attrs

from quaymaster._clusters.kubernetes.kubeconfig_model import ExecConfig

__all__ = ["Access", "Pem"]


@attrs.frozen(kw_only=True)
class Pem:
    """Certificates or a key in PEM, in a file or as they are.

    Attributes:
        file: The file; empty if there is none.
        data: The content; wins over the file.
    """

    file: str = ""
    data: bytes = attrs.field(default=b"", repr=False)

    def __bool__(self) -> bool:
        return bool(self.file or self.data)


_NONE: Final = Pem()


@attrs.frozen(kw_only=True)
class Access:
    """How to reach one API server, and as whom.

    Attributes:
        name: How messages call it, such as ``context 'prod'``.
        server: Its URL.
        namespace: The namespace of objects that name none.
        authority: Who vouches for the server; without one, the system's authorities.
        is_insecure: Whether its certificate goes unchecked.
        server_name: The name that the certificate must have; empty: the host's.
        proxy_url: The proxy to go through; empty: what the environment says.
        compresses: Whether answers may be compressed.
        certificate: The client certificate.
        key: Its key.
        token: A bearer token.
        token_file: A file with a bearer token, read anew from time to time.
        username: A name for basic authentication.
        password: Its password.
        exec: A program that gives credentials.
        exec_where: Where the file says so, for messages.
        exec_cluster: What the program may be told about the cluster.
        headers: Whom to act as, as headers.
        reread: Finds the same access anew, where files may change while it is used. A
            client asks it after a refusal, and when it got no answer.
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
