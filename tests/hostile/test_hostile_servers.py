"""Whatever an API server answers, a command ends with a result or one-line errors."""

from pathlib import Path

import pytest

from tests.hostile.servers import MODES, hostile_server
from tests.kit.internals.cli import main

pytestmark = pytest.mark.long


@pytest.mark.parametrize("mode", MODES)
def test_list_ends_in_a_result_or_in_lines(
    mode: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with hostile_server(mode, tmp_path) as kubeconfig:
        arguments = ["simulate", "--kubeconfig", str(kubeconfig)]
        monkeypatch.setattr("sys.argv", ["quaymaster", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
    out, err = capsys.readouterr()
    assert stop.value.code in (0, 2)
    assert (stop.value.code == 2) <= bool(err)
    assert "Traceback" not in err
    assert "SECRET-TOKEN" not in out + err
    assert "\x1b" not in out + err
    assert max(map(len, err.splitlines()), default=0) < 4000
