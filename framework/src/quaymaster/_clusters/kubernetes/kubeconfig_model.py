"""The data model of kubeconfig files.

Mirrors k8s.io/client-go v0.36, ``tools/clientcmd/api/v1/types.go``, without the fields
that only writers of such files need.
"""

import msgspec
from msgspec import field

__all__ = [
    "Cluster",
    "Context",
    "ExecConfig",
    "ExecEnv",
    "KubeconfigFile",
    "NamedCluster",
    "NamedContext",
    "NamedExtension",
    "NamedUser",
    "User",
]


class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """A part of a kubeconfig file."""


class NamedExtension(_Part, frozen=True, kw_only=True):
    """Data for other programs, by a name."""

    name: str = ""
    extension: dict[str, object] = {}


class Cluster(_Part, frozen=True, kw_only=True):
    """How to reach an API server."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[NamedExtension, ...] = ()


class ExecEnv(_Part, frozen=True, kw_only=True):
    """A variable in the environment of a program."""

    name: str = ""
    value: str = ""


class ExecConfig(_Part, frozen=True, kw_only=True, rename="camel"):
    """A credential program."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[ExecEnv, ...] = ()
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class User(_Part, frozen=True, kw_only=True):
    """The credentials of a user."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = field(default="", name="tokenFile")
    as_: str = field(default="", name="as")
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    as_user_extra: dict[str, tuple[str, ...]] = {}
    username: str = ""
    password: str = ""
    auth_provider: dict[str, object] | None = None
    exec: ExecConfig | None = None


class Context(_Part, frozen=True, kw_only=True):
    """A cluster, a user and a namespace."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedCluster(_Part, frozen=True, kw_only=True):
    """A cluster by its name."""

    name: str = ""
    cluster: Cluster = Cluster()


class NamedUser(_Part, frozen=True, kw_only=True):
    """A user by its name."""

    name: str = ""
    user: User = User()


class NamedContext(_Part, frozen=True, kw_only=True):
    """A context by its name."""

    name: str = ""
    context: Context = Context()


class KubeconfigFile(_Part, frozen=True, kw_only=True):
    """A whole file."""

    current_context: str = ""
    clusters: tuple[NamedCluster, ...] = ()
    users: tuple[NamedUser, ...] = ()
    contexts: tuple[NamedContext, ...] = ()
