"""Kubeconfig files are merged and checked."""

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster.config import ConfigErrors
from tests.kit.internals.kubernetes import (
    Kubeconfig,
    find_access,
    in_cluster_access,
    merged,
    read_kubeconfig,
)

SERVER = "https://harbour.example:6443"
PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()
EXEC = {
    "apiVersion": "client.authentication.k8s.io/v1",
    "command": "credentials",
    "interactiveMode": "Never",
}


def tree(
    *,
    cluster: Mapping[str, Any] | None = None,
    user: Mapping[str, Any] | None = None,
    name: str = "a",
) -> dict[str, Any]:
    """Return a kubeconfig with one cluster, user and context of the same name."""
    return {
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": name, "user": {**(user or {})}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    def written(content: object, name: str = "config") -> str:
        (tmp_path / name).write_text(json.dumps(content))
        return str(tmp_path / name)

    return written


def test_first_file_that_names_an_entry_wins_with_the_whole_entry(
    write: Callable[..., str],
) -> None:
    first = write(tree(user={"token": "one"}), "first")
    other = tree(user={"token": "two", "as": "somebody"})
    other["contexts"].append({"name": "b", "context": {"cluster": "a", "user": "a"}})
    second = write({**other, "current-context": "b"}, "second")
    environment = {"KUBECONFIG": f"{first}:/nowhere:{second}:{first}"}
    assert find_access(environment=environment).name == "context 'a'"
    access = find_access(context="b", environment=environment)
    assert (access.token, access.headers) == ("one", ())


def test_explicit_file_is_not_merged_and_must_exist(write: Callable[..., str]) -> None:
    file = write(tree(user={"token": "one"}))
    environment = {"KUBECONFIG": write(tree(user={"token": "two"}), "other")}
    access = find_access(kubeconfig=file, environment=environment)
    assert access.token == "one"
    with pytest.raises(ConfigErrors, match="nowhere: No such file"):
        find_access(kubeconfig="nowhere", environment=environment)


NAMES = st.dictionaries(st.sampled_from("abc"), st.integers(0, 9), max_size=3)


@st.composite
def configs(draw: st.DrawFn) -> Kubeconfig:
    """Draw names with any content, because merging ignores the content."""
    content: Any = [draw(NAMES) for _ in range(3)]
    return Kubeconfig(
        current_context=draw(st.sampled_from(["", "a", "b"])),
        clusters=content[0],
        users=content[1],
        contexts=content[2],
    )


@given(configs(), configs(), configs())
def test_merging_is_associative_and_keeps_the_first(
    first: Kubeconfig, second: Kubeconfig, third: Kubeconfig
) -> None:
    whole = merged([first, second, third])
    assert merged([merged([first, second]), third]) == whole
    assert merged([first, merged([second, third])]) == whole
    assert merged([first, first, second]) == merged([first, second])
    for part in ("clusters", "users", "contexts"):
        found = getattr(whole, part)
        for name, value in found.items():
            holders = [getattr(each, part) for each in (first, second, third)]
            assert value == next(each[name] for each in holders if name in each)


def test_paths_are_relative_to_the_file_that_names_them(
    write: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "ca.pem").write_text("")
    user = {"tokenFile": "tokens/t"}
    file = write(tree(cluster={"certificate-authority": "ca.pem"}, user=user))
    access = find_access(kubeconfig=file)
    assert access.authority.file == str(tmp_path / "ca.pem")
    assert access.token_file == str(tmp_path / "tokens/t")


@pytest.mark.parametrize(
    ("command", "expected"),
    [("bin/get", "{}/bin/get"), ("get", "get"), ("/bin/get", "/bin/get")],
    ids=["below the file", "in the path", "absolute"],
)
def test_program_path_is_relative_to_its_file(
    write: Callable[..., str], tmp_path: Path, command: str, expected: str
) -> None:
    file = write(tree(user={"exec": {**EXEC, "command": command}}))
    found = find_access(kubeconfig=file).exec
    assert found is not None
    assert found.command == expected.format(tmp_path)


def test_program_does_not_run_if_the_file_has_credentials(
    write: Callable[..., str],
) -> None:
    file = write(tree(user={"exec": EXEC, "token": "one"}))
    assert find_access(kubeconfig=file).exec is None


def test_impersonation_becomes_headers(write: Callable[..., str]) -> None:
    user = {
        "as": "jane",
        "as-uid": "7",
        "as-groups": ["crew", "deck"],
        "as-user-extra": {"ship/line": ["blue"]},
    }
    assert find_access(kubeconfig=write(tree(user=user))).headers == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "crew"),
        ("Impersonate-Group", "deck"),
        ("Impersonate-Extra-ship%2Fline", "blue"),
    )


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no server": (
        {"cluster": {"server": ""}},
        (
            "clusters[0].cluster.server: expected a URL that begins with https:// or "
            "http://, got nothing"
        ),
    ),
    "odd proxy": (
        {"cluster": {"proxy-url": "ftp://x"}},
        (
            "clusters[0].cluster.proxy-url: expected a URL that begins with http:// or "
            "socks5:// or socks5h://, got 'ftp://x'"
        ),
    ),
    "insecure with an authority": (
        {
            "cluster": {
                "insecure-skip-tls-verify": True,
                "certificate-authority-data": PEM,
            }
        },
        (
            "clusters[0].cluster.insecure-skip-tls-verify: expected no "
            "certificate-authority beside it"
        ),
    ),
    "wrong type": (
        {"cluster": {"insecure-skip-tls-verify": "yes"}},
        (
            "clusters[0].cluster.insecure-skip-tls-verify: expected true or false, "
            "got 'yes'"
        ),
    ),
    "no base64": (
        {"cluster": {"certificate-authority-data": "?"}},
        (
            "clusters[0].cluster.certificate-authority-data: expected PEM in base64, "
            "got something else"
        ),
    ),
    "certificate without a key": (
        {"user": {"client-certificate-data": PEM}},
        (
            "users[0].user: expected client-key or client-key-data with a client "
            "certificate"
        ),
    ),
    "file and data": (
        {"user": {"client-certificate-data": PEM, "client-certificate": "/dev/null"}},
        (
            "users[0].user.client-certificate: expected client-certificate or "
            "client-certificate-data, got both"
        ),
    ),
    "missing file": (
        {"cluster": {"certificate-authority": "/nowhere.pem"}},
        (
            "clusters[0].cluster.certificate-authority: cannot read /nowhere.pem: "
            "no such file or directory"
        ),
    ),
    "two ways to say who": (
        {"user": {"token": "t", "username": "u"}},
        "users[0].user: expected a token or a username, got both",
    ),
    "groups of nobody": (
        {"user": {"as-groups": ["crew"]}},
        "users[0].user: expected 'as' with as-uid, as-groups or as-user-extra",
    ),
    "old provider": (
        {"user": {"auth-provider": {"name": "gcp"}}},
        (
            "users[0].user.auth-provider: no longer exists: use exec with a "
            "credential program"
        ),
    ),
    "no program": (
        {"user": {"exec": {**EXEC, "command": ""}}},
        "users[0].user.exec.command: expected a program, got nothing",
    ),
    "no mode": (
        {"user": {"exec": {**EXEC, "interactiveMode": ""}}},
        (
            "users[0].user.exec.interactiveMode: expected one of Never, IfAvailable, "
            "Always, got nothing"
        ),
    ),
    "old version": (
        {"user": {"exec": {**EXEC, "apiVersion": "v0"}}},
        (
            "users[0].user.exec.apiVersion: expected client.authentication.k8s.io/v1 "
            "or client.authentication.k8s.io/v1beta1, got 'v0'"
        ),
    ),
}


@pytest.mark.parametrize(("parts", "message"), MISTAKES.values(), ids=list(MISTAKES))
def test_mistake_is_reported_with_its_place(
    write: Callable[..., str], parts: dict[str, Any], message: str
) -> None:
    file = write(tree(**parts))
    with pytest.raises(ConfigErrors) as error:
        find_access(kubeconfig=file)
    assert f"{file}: {message}" in str(error.value).splitlines()


def test_all_mistakes_are_reported_at_once(write: Callable[..., str]) -> None:
    content = tree(cluster={"server": "x"}, user={"token": "t", "password": "p"})
    with pytest.raises(ConfigErrors) as error:
        find_access(kubeconfig=write(content))
    assert len(error.value.problems) == 2


def test_error_for_an_unknown_context_lists_the_existing_ones(
    write: Callable[..., str],
) -> None:
    file = write(tree(name="harbour"))
    with pytest.raises(ConfigErrors, match="no context 'harbor'; did you mean 'harb"):
        find_access(kubeconfig=file, context="harbor")


def test_names_come_once_in_a_file(write: Callable[..., str]) -> None:
    content = tree()
    content["users"] *= 2
    with pytest.raises(ConfigErrors, match=r"users\[1\].name: expected another name"):
        read_kubeconfig(write(content))


def test_missing_kubeconfig_is_an_error_that_names_the_places(tmp_path: Path) -> None:
    with pytest.raises(ConfigErrors, match="names an existing file"):
        find_access(environment={"HOME": str(tmp_path)})


def test_pod_uses_its_service_account(tmp_path: Path) -> None:
    for name, text in (("token", "t"), ("ca.crt", ""), ("namespace", "crew\n")):
        (tmp_path / name).write_text(text)
    environment = {
        "KUBERNETES_SERVICE_HOST": "fd00::1",
        "KUBERNETES_SERVICE_PORT": "443",
    }
    access = in_cluster_access(environment, str(tmp_path))
    assert access is not None
    assert (access.server, access.namespace) == ("https://[fd00::1]:443", "crew")
    assert access.token_file == str(tmp_path / "token")
    assert in_cluster_access({}, str(tmp_path)) is None
