"""A real control plane on loopback, for the duration of a test."""

import errno
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

import msgspec

from tests.e2e.binaries import SERVED, server_binary
from tests.e2e.client import ApiClient, Tree
from tests.e2e.files import PREFIX, make_keys, sweep, write_kubeconfig, write_tokens
from tests.e2e.ports import answers, ask, free_ports
from tests.e2e.processes import ProcessError, Program

__all__ = ["ControlPlane"]

_OPEN: Final = "/healthz,/livez,/readyz,/metrics,/configz"
_AUDIT: Final = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""
_STARTS: Final = 3


class ControlPlane:
    """etcd and kube-apiserver, and on demand the other programs of a cluster.

    RBAC is on. ``admin`` is in ``system:masters``; a test that adds another user grants
    its rights. New nodes have no taint, because the admission plugin
    TaintNodesByCondition is disabled; the controller manager, if it runs, taints by
    condition. Pods need no service account.

    As a context manager it starts, and at the end it stops all programs that it has
    started. If it is entered again, the cluster is a new, empty one.

    Args:
        folder: The folder of logs, certificates and kubeconfigs; a temporary one by
            default.
        users: Further users by name, with their groups.
        audit: Whether all requests are recorded, for `audit_events`.
        apiserver_flags: Further flags of kube-apiserver; the last of a name counts.
        etcd_flags: Further flags of etcd.

    Attributes:
        etcd: The store.
        apiserver: The API server; tests play faults with ``kill``, ``start``, ``pause``
            and so on.
        url: Its address, which stays the same after a restart.
        folder: The folder of the files.
    """

    etcd: Program
    apiserver: Program
    url: str
    folder: Path

    def __init__(
        self,
        folder: Path | None = None,
        *,
        users: Mapping[str, Sequence[str]] | None = None,
        audit: bool = False,
        apiserver_flags: Sequence[str] = (),
        etcd_flags: Sequence[str] = (),
    ) -> None:
        self._given = folder
        self._users = {"admin": ["system:masters"], **(users or {})}
        self._audit = audit
        self._apiserver_flags = apiserver_flags
        self._etcd_flags = etcd_flags
        self._tokens = {name: secrets.token_hex(16) for name in self._users}
        self._stack = ExitStack()
        self._programs = 0

    def __enter__(self) -> Self:
        for left in reversed(range(_STARTS)):
            try:
                self._start()
            except ProcessError as error:
                self._stack.close()
                # Another process may have taken a port that was free a moment ago.
                if left == 0 or os.strerror(errno.EADDRINUSE).lower() not in str(error):
                    raise
            except BaseException:
                self._stack.close()
                raise
            else:
                break
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def kubeconfig(self, user: str = "admin") -> Path:
        """Return a kubeconfig file for one of the users."""
        return self.folder / f"{user}.kubeconfig"

    def token(self, user: str = "admin") -> str:
        """Return the bearer token of one of the users."""
        return self._tokens[user]

    @property
    def authority(self) -> Path:
        """The certificate that identifies the API server."""
        return self.folder / "certificates" / "apiserver.crt"

    def client(self, user: str = "admin") -> ApiClient:
        """Return a user's client; it is closed with the cluster at the latest."""
        client = ApiClient(self.url, self._tokens[user], self.authority)
        return self._stack.enter_context(client)

    def program(
        self, name: str, *arguments: str, is_ready: Callable[[], bool] | None = None
    ) -> Program:
        """Return a server, not started; it stops with the cluster at the latest.

        Args:
            name: The program.
            *arguments: Its arguments.
            is_ready: Whether it can be used; without this it is ready at once.
        """
        return self.run([server_binary(name), *arguments], is_ready=is_ready)

    def run(
        self,
        command: Sequence[str | Path],
        *,
        is_ready: Callable[[], bool] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Program:
        """Return any program, not started; it stops with the cluster at the latest.

        Args:
            command: Its path and arguments.
            is_ready: Whether it can be used; without this it is ready at once.
            environment: Further variables of its environment.
        """
        self._programs += 1
        name = f"{Path(command[0]).name}-{self._programs}.log"
        program = Program(
            command, self.folder / name, is_ready=is_ready, environment=environment
        )
        self._stack.callback(program.stop)
        return program

    def scheduler(
        self, config: Tree | None = None, *flags: str, user: str = "admin"
    ) -> Program:
        """Return kube-scheduler, not started, without leader election.

        Args:
            config: Further fields of its KubeSchedulerConfiguration. By default it
                tries all nodes, as Quaymaster does, and its limit of 5,000 requests per
                second does not slow it down.
            *flags: Further flags.
            user: The user of its requests.
        """
        (port,) = free_ports(1)
        connection = {"kubeconfig": str(self.kubeconfig(user))}
        tree = {
            "clientConnection": {**connection, "qps": 5000, "burst": 5000},
            "percentageOfNodesToScore": 100,
            **(config or {}),
        }
        file = self._config_file(f"kube-scheduler-{port}", tree)
        return self.program(
            "kube-scheduler",
            f"--config={file}",
            *self._serving(port),
            *flags,
            is_ready=lambda: answers(f"https://127.0.0.1:{port}/readyz"),
        )

    def quaymaster(
        self, config: Tree | None = None, *flags: str, user: str = "admin"
    ) -> Program:
        """Return ``quaymaster run``, not started, without leader election.

        Args:
            config: Further fields of its KubeSchedulerConfiguration.
            *flags: Further flags.
            user: The user of its requests.
        """
        (port,) = free_ports(1)
        file = self._config_file(f"quaymaster-{port}", config or {})
        return self.run(
            [
                Path(sys.executable).with_name("quaymaster"),
                "run",
                f"--kubeconfig={self.kubeconfig(user)}",
                f"--config={file}",
                f"--secure-port={port}",
                f"--kubernetes={SERVED}",
                *flags,
            ],
            is_ready=lambda: answers(f"https://127.0.0.1:{port}/readyz"),
        )

    def controller_manager(
        self, *flags: str, controllers: Sequence[str] = ("*",)
    ) -> Program:
        """Return kube-controller-manager, not started, without leader election.

        Args:
            *flags: Further flags.
            controllers: The controllers that run, as its flag names them.
        """
        (port,) = free_ports(1)
        return self.program(
            "kube-controller-manager",
            f"--kubeconfig={self.kubeconfig()}",
            "--leader-elect=false",
            "--kube-api-qps=2000",
            "--kube-api-burst=2000",
            f"--controllers={','.join(controllers)}",
            *self._serving(port),
            *flags,
            is_ready=lambda: answers(f"https://127.0.0.1:{port}/healthz"),
        )

    def kubelets(self) -> Program:
        """Return kwok, not started: it runs bound pods and keeps nodes ready."""
        return self.program(
            "kwok",
            f"--kubeconfig={self.kubeconfig()}",
            f"--config={Path(__file__).with_name('kubelets.yaml')}",
            "--manage-all-nodes",
            "--node-lease-duration-seconds=40",
        )

    def audit_events(self) -> Iterator[Tree]:
        """Yield the requests so far from the audit log; needs ``audit``."""
        with (self.folder / "audit.log").open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    yield msgspec.json.decode(line)

    def compact(self) -> None:
        """Compact the store: watches that resume from before get the status 410."""
        revision = self._ask_etcd("/v3/maintenance/status", {})["header"]["revision"]
        self._ask_etcd("/v3/kv/compaction", {"revision": revision, "physical": True})

    def _config_file(self, name: str, tree: Tree) -> Path:
        path = self.folder / f"{name}.yaml"  # JSON is a part of YAML
        head = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
        }
        path.write_bytes(msgspec.json.encode(head | tree))
        return path

    def _ask_etcd(self, path: str, body: Tree) -> Tree:
        answer = ask(self._store + path, msgspec.json.encode(body))
        tree: Tree = msgspec.json.decode(answer)
        return tree

    def _start(self) -> None:
        port, client_port, peer_port = free_ports(3)
        self.url = f"https://127.0.0.1:{port}"
        self._store = f"http://127.0.0.1:{client_port}"
        self.folder = self._given or self._temporary(None)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_files()
        peers = f"http://127.0.0.1:{peer_port}"
        self.etcd = self.program(
            "etcd",
            *self._etcd_arguments(peers),
            is_ready=lambda: answers(f"{self._store}/health"),
        )
        self.apiserver = self.program(
            "kube-apiserver",
            *self._server_arguments(port),
            is_ready=lambda: answers(f"{self.url}/readyz"),
        )
        self.etcd.start()
        self.apiserver.start()

    def _temporary(self, parent: Path | None) -> Path:
        name = tempfile.mkdtemp(prefix=f"{PREFIX}-{os.getpid()}-", dir=parent)
        self._stack.callback(shutil.rmtree, name, ignore_errors=True)
        return Path(name)

    def _write_files(self) -> None:
        certificates = self.folder / "certificates"
        certificates.mkdir(exist_ok=True)
        make_keys(certificates)
        write_tokens(self.folder / "tokens.csv", self._tokens, self._users)
        (self.folder / "audit.yaml").write_text(_AUDIT)
        for name, token in self._tokens.items():
            write_kubeconfig(self.kubeconfig(name), self.url, self.authority, token)

    def _etcd_arguments(self, peers: str) -> list[str]:
        memory = Path("/dev/shm")
        for parent in (memory, Path(tempfile.gettempdir())):
            sweep(parent)
        data = self._temporary(memory if memory.is_dir() else None)
        return [
            f"--data-dir={data}",
            "--unsafe-no-fsync",
            "--log-level=warn",
            f"--listen-client-urls={self._store}",
            f"--advertise-client-urls={self._store}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            *self._etcd_flags,
        ]

    def _server_arguments(self, port: int) -> list[str]:
        keys = self.folder / "certificates"
        audit = [
            f"--audit-policy-file={self.folder / 'audit.yaml'}",
            f"--audit-log-path={self.folder / 'audit.log'}",
        ]
        return [
            f"--etcd-servers={self._store}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={keys}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={keys / 'accounts.pub'}",
            f"--service-account-signing-key-file={keys / 'accounts.key'}",
            "--service-cluster-ip-range=10.0.0.0/16",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            "--endpoint-reconciler-type=none",
            *(audit if self._audit else ()),
            *self._apiserver_flags,
        ]

    def _serving(self, port: int) -> list[str]:
        """Return flags of a component that serves health and metrics to all users."""
        return [
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--authentication-kubeconfig={self.kubeconfig()}",
            f"--authorization-kubeconfig={self.kubeconfig()}",
            f"--authorization-always-allow-paths={_OPEN}",
        ]
