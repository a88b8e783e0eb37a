"""Inputs that are too large or too deep end in one line."""

from pathlib import Path

import pytest

from tests.kit.fake_api_server import FakeApiServer, fake_api_server, kubeconfig_for
from tests.kit.internals.cli import MAIN, main


def test_exhausted_memory_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def exhaust(**_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(MAIN, exhaust)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    errors = capsys.readouterr().err
    assert errors == "the memory is not sufficient for this input\n"


def test_deep_list_of_a_server_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = b'{"items": [' + b'{"a": ' * 100_000
    monkeypatch.setattr(FakeApiServer, "_page", lambda *_: deep)
    with fake_api_server() as server:
        kubeconfig = kubeconfig_for(server, tmp_path)
        arguments = ["simulate", "--kubeconfig", str(kubeconfig)]
        monkeypatch.setattr("sys.argv", ["quaymaster", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
    assert stop.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "nested too deeply" in line
