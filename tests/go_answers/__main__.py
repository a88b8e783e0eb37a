"""Records Go's answers, or compares new ones: see README.md."""

import argparse
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from tests.go_answers.comparing import is_same, our_answer
from tests.go_answers.texts import KINDS, Question, questions

_DATA: Final = Path(__file__).parent / "data"
_SEED: Final = 35
_COUNTS: Final = {
    "quantity": 1500,
    "duration": 800,
    "selector": 1200,
    "expression": 1500,
}
_EXAMPLES: Final = 20


def _answers(recorder: str, asking: list[Question]) -> list[Any]:
    lines = "".join(f"{json.dumps(question)}\n" for question in asking)
    command = [str(Path(recorder).resolve())]
    done = subprocess.run(
        command, input=lines, text=True, check=True, capture_output=True
    )
    return [*map(json.loads, done.stdout.splitlines())]


def _record(recorder: str) -> None:
    for kind in KINDS:
        made = [*questions(kind, _COUNTS[kind], _SEED)]
        lines = [
            json.dumps([question["text"], answer], ensure_ascii=False)
            for question, answer in zip(made, _answers(recorder, made), strict=True)
        ]
        content = gzip.compress("\n".join(lines).encode(), mtime=0)
        (_DATA / f"{kind}.jsonl.gz").write_bytes(content)


def _compare(recorder: str, count: int, seed: int) -> int:
    different = 0
    for kind in KINDS:
        made = [*questions(kind, count, seed)]
        found = [
            (question["text"], go, ours)
            for question, go in zip(made, _answers(recorder, made), strict=True)
            if not is_same(question, go, ours := our_answer(question))
        ]
        sys.stdout.write(f"{kind}: {len(made)} texts, {len(found)} differences\n")
        for text, go, ours in sorted(found, key=lambda row: len(row[0]))[:_EXAMPLES]:
            sys.stdout.write(f"  {text!r}: Go {go}, ours {ours}\n")
        different += len(found)
    return 1 if different else 0


def main() -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.go_answers")
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("recorder", help="the program of recorder.go.txt")
    parser.add_argument("count", nargs="?", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=_SEED + 1)
    options = parser.parse_args()
    if options.action == "compare":
        return _compare(options.recorder, options.count, options.seed)
    _record(options.recorder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
