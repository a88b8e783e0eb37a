"""``config validate`` checks extenders without a request to them."""

from pathlib import Path

import pytest
import yaml

from quaymaster.config import ConfigErrors
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER
from tests.kit.internals.cli import ConfigSource, read_config

REGISTRY = PluginRegistry.discover()
GOOD: dict[str, object] = {"urlPrefix": "http://127.0.0.1:8888", "filterVerb": "filter"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(*extenders: dict[str, object], asks: bool = True) -> list[str]:
    """Return the warnings of a configuration with these extenders."""
    document = {
        **HEADER,
        "extenders": list(extenders),
    }
    Path("s.yaml").write_text(yaml.safe_dump(document))
    _, notices = read_config(ConfigSource(file="s.yaml"), REGISTRY, asks_extenders=asks)
    return [str(notice) for notice in notices]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("http://127.0.0.1:8888", True),
        ("https://gate.example/v1/", True),
        ("http://[::1]:80/x", True),
        ("", False),
        ("127.0.0.1:8888", False),
        ("localhost:8888", False),
        ("ftp://host", False),
        ("http://two words/", False),
        ("http://host\n/path", False),
        ("http://host/two words", True),
        ("http:///filter", False),
        ("http://host:port", False),
        ("http://host:99999", False),
        ("http://[::1", False),
        ("unix:///run/extender.sock", False),
    ],
)
def test_url_needs_a_scheme_and_a_host(url: str, good: bool) -> None:
    wrong = {**GOOD, "urlPrefix": url}
    if good:
        assert read(GOOD, wrong) == []
        return
    with pytest.raises(ConfigErrors) as caught:
        read(GOOD, wrong)
    assert str(caught.value) == (
        "s.yaml: extenders[1].urlPrefix: expected a URL such as "
        f"http://127.0.0.1:8888/scheduler, got {url!r}"
    )


@pytest.mark.usefixtures("folder")
def test_all_extenders_mistakes_come_at_once() -> None:
    with pytest.raises(ConfigErrors) as caught:
        read({**GOOD, "filterVerb": "fil ter"}, {**GOOD, "urlPrefix": "x"})
    assert [problem.path for problem in caught.value.problems] == [
        "extenders[0].filterVerb",
        "extenders[1].urlPrefix",
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("settings", "warning"),
    [
        ({"filterVerb": "/filter"}, "filterVerb: expected no slash at the beginning"),
        ({"urlPrefix": "http://h/x?y=1"}, "urlPrefix: expected no query"),
        ({"enableHTTPS": True}, "enableHTTPS: has no effect: since urlPrefix begins"),
        ({"tlsConfig": {"insecure": True}}, "tlsConfig: has no effect: since urlPref"),
        ({"filterVerb": ""}, "urlPrefix: is never called: expected one of filterVerb"),
        (
            {"urlPrefix": "https://h", "tlsConfig": {"certFile": "none.pem"}},
            "tlsConfig: expected a key as well",
        ),
        (
            {"urlPrefix": "https://h", "tlsConfig": {"caFile": "none.pem"}},
            "tlsConfig.caFile: no such file here: 'none.pem'",
        ),
    ],
)
def test_probable_mistakes_that_upstream_accepts_are_warnings(
    settings: dict[str, object], warning: str
) -> None:
    [first, *_] = read(GOOD, {**GOOD, **settings})
    assert first.startswith(f"s.yaml: extenders[1].{warning}")


@pytest.mark.usefixtures("folder")
def test_extender_that_only_takes_a_resource_off_the_scheduler_needs_no_verb() -> None:
    heeded = {"name": "example.com/gpu", "ignoredByScheduler": True}
    assert read({"urlPrefix": "http://h", "managedResources": [heeded]}) == []


def test_invalid_certificate_is_an_error(folder: Path) -> None:
    (folder / "bad.pem").write_text("none")
    with pytest.raises(ConfigErrors, match=r"extenders\[0\]\.tlsConfig: cannot be"):
        read({**GOOD, "urlPrefix": "https://h", "tlsConfig": {"caFile": "bad.pem"}})


@pytest.mark.usefixtures("folder")
def test_extenders_that_are_not_used_are_not_checked() -> None:
    assert read({**GOOD, "urlPrefix": "nowhere"}, asks=False) == []
