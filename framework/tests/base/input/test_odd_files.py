"""Any path that users give is read, or rejected with an error of one line."""

import codecs
import gzip
import os
from pathlib import Path

import pytest

from quaymaster.manifests import ManifestErrors, load
from tests.kit.internals.input import (
    LONGEST_STREAM,
    PATIENCE_MS,
    UnreadableError,
    read_file,
)

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"
JSON = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}'


def problems(*paths: Path | str) -> list[str]:
    with pytest.raises(ManifestErrors) as caught:
        load(paths)
    folder = f"{Path(paths[0]).parent}/"
    return [str(problem).replace(folder, "") for problem in caught.value.problems]


@pytest.mark.parametrize("text", [NODE, JSON], ids=["yaml", "json"])
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_byte_order_marks_are_understood(
    tmp_path: Path, mark: bytes, encoding: str, text: str
) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(mark + text.encode(encoding))
    assert [obj.key for obj in load([path]).objects] == ["a"]


def test_what_gzip_has_compressed_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml.gz").write_bytes(gzip.compress(NODE.encode()))
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"not in a directory"))
    assert [obj.key for obj in load([tmp_path]).objects] == ["a"]


DEEP = 100_000


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.yaml", NODE.encode() + b"\0", "byte 46: control characters"),
        ("a.json", b'{"a": \0}', "line 1, column 7: invalid character"),
        ("a.yaml", NODE.encode() + b"x: \xe9t\xe9", "byte 50: invalid"),
        ("a.yaml", b"\xff\xfe\x00\xd8a", "expected UTF-16, as it begins: "),
        ("a.gz", gzip.compress(b"x", mtime=0)[:-1], "expected gzip, as it begins: "),
        ("a.yaml", bytes(range(256)), "byte 0: control characters"),
        ("a.json", b"[" * DEEP, "nested too deeply"),
        ("a.json", b"[" * DEEP + b"]" * DEEP, "nested too deeply"),
        ("a.json", b'{"a":' * DEEP, "nested too deeply"),
        ("a.yaml", b"- " * DEEP, "line 1, column 1001: nested more than 500"),
        ("a.yaml", b"? " * DEEP, "line 1, column 1001: nested more than 500"),
        ("a.yaml", b"# x\n" + b"{a: " * DEEP, "line 2, column 2001: nested more"),
        (
            "a.json",
            JSON.replace('"a"', '"a", "generation": ' + "9" * 5000).encode(),
            "(Node a): metadata.generation: expected an integer",
        ),
        (
            "a.json",
            JSON.replace('"a"', r'"\ud800"').encode(),
            r"\ud800 is half a character",
        ),
    ],
)
def test_unreadable_text_is_an_error(
    tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    (problem,) = problems(path)
    assert expected in problem
    assert len(problem) < 200


MANY = 400_000


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        " ",
        "\n",
        ": ",
        "'",
        '"',
        "- ",
        "#",
        " #",
        "{{ ",
        "a: ",
        "?",
        "a",
        "\\",
        "}",
    ],
)
@pytest.mark.parametrize("before", ["", "a: ", "a: b\n", "- "])
def test_long_repetitions_are_read_quickly(
    tmp_path: Path, before: str, piece: str
) -> None:
    """A regular expression that backtracks would take hours."""
    path = tmp_path / "a.yaml"
    path.write_text(f"{before}{piece * (MANY // len(piece))}x\n")
    assert problems(path)


def test_aliases_that_multiply_are_an_error(tmp_path: Path) -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join(9 * [f'*{before}'])}]")
    path = tmp_path / "a.yaml"
    path.write_text("\n".join(lines))
    (problem,) = problems(path)
    assert problem.endswith("document contains excessive aliasing")


def test_aliases_that_repeat_a_long_text_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    text = "x" * 1_000_000
    path.write_text(f"a: &a {text}\nb: [{', '.join(200 * ['*a'])}]\n")
    (problem,) = problems(path)
    assert problem.endswith("document contains excessive aliasing")


def test_device_is_rejected(tmp_path: Path) -> None:
    assert problems("/dev/zero") == ["zero: a device, which holds no manifests"]


def test_pipe_without_a_writer_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PATIENCE_MS, 1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert problems(pipe) == ["pipe: no process writes to this pipe"]


def test_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, NODE.encode())
    os.close(writer)
    try:
        loaded = load([f"/dev/fd/{reader}"])
    finally:
        os.close(reader)
    assert [obj.key for obj in loaded.objects] == ["a"]


def test_pipes_in_a_directory_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "up").symlink_to(tmp_path)
    (tmp_path / "a.yaml").write_text(NODE)
    assert len(load([tmp_path]).objects) == 1


def test_stream_without_an_end_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LONGEST_STREAM, 1 << 30 >> 20)
    reader, writer = os.pipe()
    os.write(writer, b"#" * 2000)
    os.close(writer)
    try:
        with pytest.raises(UnreadableError, match="from a pipe; give it as a file"):
            read_file(f"/dev/fd/{reader}")
    finally:
        os.close(reader)


def test_link_to_itself_and_empty_name_are_errors(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert problems(loop) == ["loop: too many levels of symbolic links"]
    assert problems("") == ["'': expected a path"]
    assert problems("a\0b") == [r"'a\x00b': expected a path, which has no NUL"]
