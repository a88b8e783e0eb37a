"""The pages of ``quaymaster run`` are like those of kube-scheduler."""

import json
import re
import ssl
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.e2e.control_plane import ControlPlane
from tests.e2e.loads import GROUP_GATES
from tests.e2e.ports import ask
from tests.e2e.processes import Program, eventually
from tests.kit.certificates import make_certificate

PATHS = ("/healthz", "/livez", "/readyz", "/metrics", "/configz", "/no-such-page")
WHO = ("nobody", "monitor", "stranger", "admin", "forged")
OPEN_TO_ALL = "--authorization-always-allow-paths"
ABSENT = re.compile(
    "scheduler_(batch|get_node_hint|store_schedule|async_api|pending_async|podgroup|dra"
    "|resourceclaim|volume)"
)


@pytest.fixture(scope="module")
def plane(servers: None) -> Iterator[ControlPlane]:
    with ControlPlane(users={"monitor": [], "stranger": []}) as plane:
        client = plane.client()
        head = {"apiVersion": "rbac.authorization.k8s.io/v1"}
        rule = {"nonResourceURLs": ["/metrics", "/no-such-page"], "verbs": ["get"]}
        named = {"metadata": {"name": "monitor"}}
        client.create({**head, **named, "kind": "ClusterRole", "rules": [rule]})
        group = "rbac.authorization.k8s.io"
        role = {"apiGroup": group, "kind": "ClusterRole", "name": "monitor"}
        subject = {"apiGroup": group, "kind": "User", "name": "monitor"}
        binding = {"roleRef": role, "subjects": [subject]}
        client.create({**head, **named, "kind": "ClusterRoleBinding", **binding})
        yield plane


def url_of(program: Program) -> str:
    """Return the address of a scheduler's pages."""
    [port] = [word for word in program.command if word.startswith("--secure-port=")]
    return f"https://127.0.0.1:{port.partition('=')[2]}"


def response_to(plane: ControlPlane, url: str, who: str) -> tuple[int, str]:
    """Return the response of a page to a user."""
    token = "" if who == "nobody" else plane.token(who) if who != "forged" else who
    try:
        return HTTPStatus.OK, ask(url, token=token).decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def refusal(text: str) -> str:
    """Return the message of an error; empty for another response."""
    message: str = json.loads(text).get("message", "") if text[:1] == "{" else ""
    return message


def both(plane: ControlPlane) -> Iterator[Program]:
    """Yield kube-scheduler with default authorization, and Quaymaster; not started."""
    program = plane.scheduler(None, "--authentication-tolerate-lookup-failure=true")
    program.command = [
        word for word in program.command if not word.startswith(OPEN_TO_ALL)
    ]
    yield program
    yield plane.quaymaster()


def test_everybody_is_answered_as_by_kube_scheduler(plane: ControlPlane) -> None:
    found = []
    for program in both(plane):
        with program:
            answers = {
                (who, path): response_to(plane, url_of(program) + path, who)
                for who in WHO
                for path in PATHS
            }
        found.append(
            {key: (code, refusal(text)) for key, (code, text) in answers.items()}
        )
    theirs, ours = found
    assert ours == theirs
    assert {code for code, _ in ours.values()} == {200, 401, 403, 404}


def test_client_is_authenticated_by_the_clusters_authorities(
    servers: None, tmp_path: Path
) -> None:
    make_certificate(tmp_path)
    authorities = (f"--client-ca-file={tmp_path / 'cert.pem'}",)
    with ControlPlane(apiserver_flags=authorities) as plane:
        for program in both(plane):
            with program:
                url = f"{url_of(program)}/metrics"
                # The ConfigMap must have been read before.
                eventually(partial(is_known, url, tmp_path), what="a known client")
                assert "system:anonymous" in refusal(
                    response_to(plane, url, "nobody")[1]
                )


def is_known(url: str, certificates: Path) -> bool:
    """Whether a server recognizes the user of a client certificate."""
    return 'User \\"harbour.example\\" cannot' in shown(url, certificates)


def shown(url: str, certificates: Path) -> str:
    """Return the response to a request with a client certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
    try:
        with urlopen(url, timeout=30, context=context) as answer:
            text: str = answer.read().decode()
    except HTTPError as error:
        return error.read().decode()
    except OSError:
        return ""
    return text


def test_metrics_are_those_of_kube_scheduler(plane: ControlPlane) -> None:
    found = []
    for program in both(plane):
        with program:
            code, text = response_to(plane, f"{url_of(program)}/metrics", "monitor")
        assert code == HTTPStatus.OK
        found.append(dict(re.findall(r"# TYPE (scheduler_\w+) (\w+)\n", text)))
    theirs, ours = found
    expected = {name: kind for name, kind in theirs.items() if not ABSENT.match(name)}
    assert expected
    assert {name: ours.get(name) for name in expected} == expected


def test_scheduler_that_is_told_to_stop_ends_well(plane: ControlPlane) -> None:
    with plane.quaymaster() as program:
        assert program.stop() == 0
    assert program.log.read_text().rstrip().endswith("stopped")


def test_scheduler_without_the_groups_that_it_needs_ends_with_one_message(
    plane: ControlPlane,
) -> None:
    program = plane.quaymaster(None, GROUP_GATES)
    program.start(wait=False)
    assert program.wait() == 1
    (line,) = program.log.read_text().splitlines()
    assert f"{plane.url}: PodGroup (scheduling.k8s.io/v1beta1) is not served" in line
