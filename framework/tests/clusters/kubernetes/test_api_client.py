"""The client of an API server sends credentials and retries rejections."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest

from quaymaster.testing import make_pod
from tests.kit.certificates import (
    encoded,
    make_certificate,
    mutual_tls_context,
)
from tests.kit.fake_api_server import (
    ApiRefusal,
    FakeApiServer,
    fake_api_server,
    kubeconfig_for,
)
from tests.kit.internals.kubernetes import (
    Access,
    ApiClient,
    ApiError,
    CredentialsError,
    Issuer,
    Resource,
    find_access,
    list_pages,
)

PODS = Resource("v1", "Pod", "pods")
PATH = PODS.path()
VERSIONS = (
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
)


@pytest.fixture
def server() -> Iterator[FakeApiServer]:
    with fake_api_server([make_pod(name=f"p{index}") for index in range(3)]) as server:
        yield server


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def client(server: FakeApiServer, slept: list[float]) -> Iterator[ApiClient]:
    client = ApiClient(
        Access(name="context 'here'", server=server.url), sleep=slept.append
    )
    yield client
    client.close()


def names(pages: Sequence[bytes]) -> list[str]:
    return [
        item["metadata"]["name"] for page in pages for item in json.loads(page)["items"]
    ]


def test_lists_come_in_pages(server: FakeApiServer, client: ApiClient) -> None:
    server.items[PATH] *= 250
    pages = list_pages(client, PODS)
    assert [len(names([page])) for page in pages] == [500, 250]
    first, second = server.requests_for(PATH)
    assert first.query == {"limit": "500"}
    assert second.query == {"limit": "500", "continue": "500"}


def test_list_that_expires_between_pages_is_read_whole(
    server: FakeApiServer, client: ApiClient
) -> None:
    server.items[PATH] *= 250
    server.refusals[PATH] = [None, ApiRefusal(410, "Expired")]
    assert len(names(list_pages(client, PODS))) == 750
    assert [request.query.get("continue") for request in server.requests_for(PATH)] == [
        None,
        "500",
        None,
    ]
    assert server.requests_for(PATH)[-1].query == {}


def test_request_to_a_busy_server_is_repeated_after_retry_after(
    server: FakeApiServer, client: ApiClient, slept: list[float]
) -> None:
    server.refusals[PATH] = [
        ApiRefusal(429, headers={"Retry-After": "7"}),
        ApiRefusal(429),
        ApiRefusal(503, headers={"Retry-After": "600"}),
    ]
    assert names(list_pages(client, PODS)) == ["p0", "p1", "p2"]
    assert slept == [7, 1, 60]


def test_server_that_stays_busy_is_an_error(
    server: FakeApiServer, client: ApiClient, slept: list[float]
) -> None:
    server.refusals[PATH] = [ApiRefusal(429, "TooManyRequests")] * 99
    with pytest.raises(ApiError, match="429 TooManyRequests"):
        client.get(PATH)
    assert len(slept) == 10


def test_refusal_is_one_line_with_the_servers_words(
    server: FakeApiServer, client: ApiClient
) -> None:
    server.refusals[PATH] = [ApiRefusal(403, "Forbidden")]
    with pytest.raises(ApiError) as error:
        client.get(PATH)
    assert str(error.value) == (
        f"context 'here' ({server.url}): GET {PATH}: 403 Forbidden: {PATH} is refused"
    )
    assert (error.value.code, error.value.reason) == (403, "Forbidden")


def test_redirection_is_a_refusal(server: FakeApiServer, client: ApiClient) -> None:
    server.refusals[PATH] = [ApiRefusal(302, headers={"Location": "/login"})]
    with pytest.raises(ApiError, match=f"GET {PATH}: 302 Found"):
        client.get(PATH)


def test_error_about_a_token_that_cannot_be_sent_does_not_show_it(
    server: FakeApiServer,
) -> None:
    client = ApiClient(Access(name="here", server=server.url, token="a\nb"))
    with pytest.raises(ApiError, match=r"contains characters invalid in HTTP$"):
        client.get(PATH)


def test_answers_are_compressed_unless_that_is_switched_off(
    server: FakeApiServer, client: ApiClient
) -> None:
    client.get(PATH)
    plain = ApiClient(Access(name="here", server=server.url, compresses=False))
    plain.get(PATH)
    plain.close()
    accepted = [request.headers.get("Accept-Encoding") for request in server.requests]
    assert accepted == ["gzip", None]


def test_kept_connection_that_was_closed_is_made_again(
    server: FakeApiServer, client: ApiClient
) -> None:
    client.get(PATH)
    server.refusals[PATH] = [ApiRefusal(403, headers={"Connection": "close"})]
    with pytest.raises(ApiError):
        client.get(PATH)
    assert client.get(PATH)


def test_unreachable_server_is_an_error_of_one_line() -> None:
    client = ApiClient(Access(name="here", server="http://127.0.0.1:1"))
    with pytest.raises(ApiError, match=r"here .*: connection refused$"):
        client.get(PATH)


def test_token_file_is_read_again(server: FakeApiServer, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    client = ApiClient(Access(name="here", server=server.url, token_file=str(file)))
    client.get(PATH)
    file.write_text("two\n")
    client.get(PATH)
    client.close()
    shown = [request.headers["Authorization"] for request in server.requests]
    assert shown == ["Bearer one", "Bearer two"]


def test_missing_token_file_is_an_error(server: FakeApiServer) -> None:
    client = ApiClient(Access(name="here", server=server.url, token_file="nowhere"))
    with pytest.raises(CredentialsError, match=r"^nowhere: no such file or directory$"):
        client.get(PATH)


def test_basic_credentials_and_impersonation_are_sent(server: FakeApiServer) -> None:
    access = Access(
        name="here",
        server=server.url,
        username="jane",
        password="secret",
        headers=(("Impersonate-User", "jim"),),
    )
    client = ApiClient(access)
    client.get(PATH)
    client.close()
    [request] = server.requests
    assert request.headers["Authorization"] == "Basic amFuZTpzZWNyZXQ="
    assert request.headers["Impersonate-User"] == "jim"
    assert "secret" not in repr(access)


PROGRAM = """\
import json, os, pathlib
log = pathlib.Path({log!r})
runs = log.read_text().splitlines() if log.exists() else []
log.write_text("\\n".join([*runs, os.environ["KUBERNETES_EXEC_INFO"]]))
status = {{"token": f"token-{{len(runs)}}", **{status!r}}}
print(json.dumps({{"apiVersion": {version!r}, "kind": "ExecCredential",
                  "status": status}}))
"""


AccessAndLog: TypeAlias = tuple[Access, Callable[[], list[Any]]]
Program: TypeAlias = Callable[..., AccessAndLog]


@pytest.fixture
def program(server: FakeApiServer, tmp_path: Path) -> Program:
    """Return a function that configures a credential program and reads its inputs."""

    def made(
        version: str = VERSIONS[0], **settings: Any
    ) -> tuple[Access, Callable[[], list[Any]]]:
        log = tmp_path / "log"
        status = settings.pop("status", {})
        text = PROGRAM.format(log=str(log), version=version, status=status)
        config = {
            "apiVersion": version,
            "command": sys.executable,
            "args": ["-S", "-c", text],
            "interactiveMode": "Never",
            **settings,
        }
        extension = {
            "name": "client.authentication.k8s.io/exec",
            "extension": {"audience": "harbour"},
        }
        file = kubeconfig_for(
            server,
            tmp_path,
            user={"exec": config},
            cluster={"extensions": [extension]},
        )

        def inputs() -> list[Any]:
            return [json.loads(line) for line in log.read_text().splitlines()]

        return find_access(kubeconfig=str(file)), inputs

    return made


@pytest.mark.parametrize("version", VERSIONS)
def test_program_returns_a_token_and_runs_again_after_a_rejection(
    server: FakeApiServer, program: Program, version: str
) -> None:
    access, inputs = program(version)
    server.token = "token-1"
    client = ApiClient(access)
    client.get(PATH)
    client.get(PATH)
    client.close()
    assert [call["apiVersion"] for call in inputs()] == [version, version]
    assert inputs()[0]["spec"] == {"interactive": False}


def test_program_whose_tokens_are_rejected_twice_is_an_error(
    server: FakeApiServer, program: Program
) -> None:
    access, inputs = program()
    server.token = "another"
    client = ApiClient(access)
    with pytest.raises(ApiError, match="401 Unauthorized"):
        client.get(PATH)
    client.close()
    assert len(inputs()) == 2


def test_program_runs_again_once_its_token_expires(
    server: FakeApiServer, program: Program
) -> None:
    access, inputs = program(status={"expirationTimestamp": "1970-01-01T00:01:40Z"})
    now = 99.0
    client = ApiClient(access, now=lambda: now)
    client.get(PATH)
    client.get(PATH)
    assert len(inputs()) == 1
    now = 100.0
    client.get(PATH)
    client.close()
    assert len(inputs()) == 2
    assert server.requests[-1].headers["Authorization"] == "Bearer token-1"


def test_program_runs_once_for_many_clients(
    server: FakeApiServer, program: Program
) -> None:
    access, inputs = program()
    server.token = "token-1"
    issuer = Issuer()
    clients = [ApiClient(access, issuer=issuer) for _ in range(3)]
    for _ in range(2):
        for client in clients:
            client.get(PATH)
    for client in clients:
        client.close()
    # Once at first, and once after the token was rejected, for all clients.
    assert len(inputs()) == 2


def test_program_gets_the_cluster_info_if_configured(
    server: FakeApiServer, program: Program
) -> None:
    access, inputs = program(provideClusterInfo=True)
    client = ApiClient(access)
    client.get(PATH)
    client.close()
    cluster = {"server": server.url, "config": {"audience": "harbour"}}
    assert inputs()[0]["spec"]["cluster"] == cluster


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"args": ["-S", "-c", "raise SystemExit(3)"]}, "failed with exit code 3"),
        ({"args": ["-S", "-c", "print('hello')"]}, "expected an ExecCredential of"),
        (
            {"command": "/nowhere", "installHint": "get it at x"},
            "cannot be run: no such file or directory; get it at x",
        ),
        ({"interactiveMode": "Always"}, "needs a terminal as standard input"),
        (
            {"status": {"clientCertificateData": "x"}},
            "with both status.clientCertificateData and status.clientKeyData",
        ),
    ],
    ids=["fails", "says something else", "is missing", "must ask", "half a pair"],
)
def test_program_without_credentials_is_an_error(
    program: Program, settings: dict[str, Any], message: str
) -> None:
    access, _ = program(**settings)
    with pytest.raises(CredentialsError, match=r"users\[0\].user.exec") as error:
        ApiClient(access).get(PATH)
    assert message in str(error.value)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a self-signed certificate for harbour.example."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secure(certificates: Path) -> Iterator[FakeApiServer]:
    """Start a server that requires client certificates."""
    context = mutual_tls_context(certificates)
    with fake_api_server([make_pod(name="p")], tls=context) as server:
        yield server


@pytest.mark.long
@pytest.mark.parametrize("as_data", [True, False], ids=["data", "files"])
def test_certificates_of_both_sides_are_shown_and_checked(
    secure: FakeApiServer, certificates: Path, tmp_path: Path, as_data: bool
) -> None:
    cert, key = certificates / "cert.pem", certificates / "key.pem"
    ending = "-data" if as_data else ""
    shown = encoded if as_data else str
    file = kubeconfig_for(
        secure,
        tmp_path,
        cluster={
            f"certificate-authority{ending}": shown(cert),
            "tls-server-name": "harbour.example",
        },
        user={
            f"client-certificate{ending}": shown(cert),
            f"client-key{ending}": shown(key),
        },
    )
    client = ApiClient(find_access(kubeconfig=str(file)))
    assert names(list_pages(client, PODS)) == ["p"]
    client.close()
    assert secure.requests[0].client == "harbour.example"


@pytest.mark.long
def test_server_with_an_untrusted_certificate_gets_no_request(
    secure: FakeApiServer, tmp_path: Path
) -> None:
    file = str(kubeconfig_for(secure, tmp_path))
    with pytest.raises(ApiError, match="its certificate is not trusted: self-signed"):
        ApiClient(find_access(kubeconfig=file)).get(PATH)
    insecure = {"insecure-skip-tls-verify": True}
    file = str(kubeconfig_for(secure, tmp_path, cluster=insecure))
    client = ApiClient(find_access(kubeconfig=file))
    assert client.get(PATH)
    client.close()


def test_program_may_give_a_certificate(
    secure: FakeApiServer, certificates: Path, tmp_path: Path
) -> None:
    answer = {
        "apiVersion": VERSIONS[0],
        "kind": "ExecCredential",
        "status": {
            "clientCertificateData": (certificates / "cert.pem").read_text(),
            "clientKeyData": (certificates / "key.pem").read_text(),
        },
    }
    (tmp_path / "answer").write_text(json.dumps(answer))
    config = {
        "apiVersion": VERSIONS[0],
        "command": "cat",
        "args": [str(tmp_path / "answer")],
        "interactiveMode": "IfAvailable",
    }
    file = kubeconfig_for(
        secure,
        tmp_path,
        cluster={"insecure-skip-tls-verify": True},
        user={"exec": config},
    )
    client = ApiClient(find_access(kubeconfig=str(file)))
    client.get(PATH)
    client.close()
    assert secure.requests[0].client == "harbour.example"


def test_client_reads_a_rewritten_kubeconfig(tmp_path: Path) -> None:
    with fake_api_server([make_pod(name="p0")]) as server:
        server.token = "first"

        def find() -> Access:
            return find_access(kubeconfig=str(tmp_path / "kubeconfig"))

        kubeconfig_for(server, tmp_path, user={"token": "first"})
        client = ApiClient(attrs.evolve(find(), reread=find))
        try:
            client.get(PATH)
            kubeconfig_for(server, tmp_path, user={"token": "second"})
            server.token = "second"
            with pytest.raises(ApiError, match="401"):
                client.get(PATH)
            client.get(PATH)
        finally:
            client.close()
