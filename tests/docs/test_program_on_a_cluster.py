"""The program on the page of real clusters runs against a server that binds."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from quaymaster.testing import make_node, make_pod
from tests.docs.snippets import read_page
from tests.kit.fake_api_server import fake_api_server, kubeconfig_for
from tests.kit.sources import ROOT

PAGE = ROOT / "docs" / "how-to" / "run-in-a-program.md"


@pytest.mark.long
def test_program_says_where_pods_go_and_ends_well_when_it_is_told_to(
    tmp_path: Path,
) -> None:
    [(name, text)] = read_page(PAGE).files.items()
    program = tmp_path / name
    program.write_text(text)
    pods = [make_pod(name="web-0", scheduler_name="harbour"), make_pod(name="other")]
    with fake_api_server([make_node(name="node-3"), *pods]) as server:
        command = [sys.executable, str(program), str(kubeconfig_for(server, tmp_path))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            assert running.stdout.readline() == "default/web-0 is on node-3\n"
            running.send_signal(signal.SIGTERM)
            assert running.stdout.read() == ""
        assert running.returncode == 0
        bound = [path for _, path, _ in server.written if path.endswith("/binding")]
    assert bound == ["/api/v1/namespaces/default/pods/web-0/binding"]
