"""Writes files completely or not at all: a full disk leaves the old content."""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Final

__all__ = ["ANYBODY", "OWNER", "write_whole"]

ANYBODY: Final = 0o666
"""The mode of new files that the umask decides about."""
OWNER: Final = 0o600
"""The mode of files that may hold secrets: only the owner reads them."""

_PERMISSIONS: Final = 0o777


def write_whole(file: Path | str, content: bytes, *, mode: int = ANYBODY) -> None:
    """Write a file so that it has its old content, or all of the new content.

    The content is written to a temporary file in the same folder, which replaces the
    file when it is on the disk. Pipes and devices are written directly.

    Args:
        file: The file; a symbolic link keeps its target's name.
        content: The new content.
        mode: The mode of a new file. A file that exists keeps its mode, unless the new
            one is `OWNER`.

    Raises:
        OSError: The file cannot be written; the error names the file.
    """
    path = Path(file)
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    target = path.resolve()
    # Names have at most 255 bytes.
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        try:
            _write_draft(draft, content, mode)
            if mode != OWNER and target.exists():
                draft.chmod(target.stat().st_mode & _PERMISSIONS)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(file)) from error
    # Only now is the new name certain to survive a crash.
    _keep_name(target.parent)


def _write_draft(draft: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _keep_name(folder: Path) -> None:
    """Write the new name to the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
