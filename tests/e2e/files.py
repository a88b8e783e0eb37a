"""The files of a control plane: keys, tokens, kubeconfigs."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

__all__ = ["PREFIX", "make_keys", "sweep", "write_kubeconfig", "write_tokens"]

PREFIX: Final = "quaymaster-e2e"


def make_keys(folder: Path) -> None:
    """Make the keys that sign the tokens of service accounts."""
    openssl = shutil.which("openssl") or "openssl"
    key, public = folder / "accounts.key", folder / "accounts.pub"
    for words in (
        ["genrsa", "-out", str(key), "2048"],
        ["rsa", "-in", str(key), "-pubout", "-out", str(public)],
    ):
        subprocess.run([openssl, *words], check=True, capture_output=True)


def write_tokens(
    path: Path, tokens: Mapping[str, str], groups: Mapping[str, Sequence[str]]
) -> None:
    """Write the file with the token and the groups of each user."""
    lines = [
        f'{token},{name},{name},"{",".join(groups[name])}"\n'
        for name, token in tokens.items()
    ]
    path.write_text("".join(lines))


def write_kubeconfig(
    path: Path,
    url: str,
    authority: Path,
    token: str = "",
    *,
    token_file: Path | None = None,
) -> None:
    """Write a kubeconfig for one user of one server, with a token or a file with it."""
    user = {"token": token} if token_file is None else {"tokenFile": str(token_file)}
    cluster = {"server": url, "certificate-authority": str(authority)}
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "e2e", "cluster": cluster}],
        "users": [{"name": "e2e", "user": user}],
        "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
        "current-context": "e2e",
    }
    path.write_bytes(msgspec.json.encode(tree))


def sweep(parent: Path) -> None:
    """Remove the folders of processes that were killed."""
    for folder in parent.glob(f"{PREFIX}-*"):
        owner = folder.name.removeprefix(f"{PREFIX}-").partition("-")[0]
        try:
            os.kill(int(owner), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except PermissionError:
            continue
