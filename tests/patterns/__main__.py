"""``python -m tests.patterns``: write the list of regular expressions."""

from tests.patterns.listed import FILE, lines

if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
