"""Regular expressions for which backtracking takes quadratic or exponential time.

From OWASP's page on denial of service by regular expressions, from published reports on
packages, and from the outages of Cloudflare (2019) and Stack Overflow (2016).
"""

from typing import Final, NamedTuple

__all__ = ["EVIL", "Evil"]


class Evil(NamedTuple):
    """A pattern, and the text for which it is slow: ``first + n * repeated + last``."""

    pattern: str
    first: str
    repeated: str
    last: str


EVIL: Final = (
    Evil("^a*a*a*a*a*a*a*a*a*a*b$", "", "a", ""),
    Evil("^(a+)+$", "", "a", "!"),
    Evil("^([a-zA-Z]+)*$", "", "a", "!"),
    Evil("^(a|aa)+$", "", "a", "!"),
    Evil("^(a|a?)+$", "", "a", "!"),
    Evil("^(a|a)*$", "", "a", "!"),
    Evil("^(a*)*$", "", "a", "!"),
    Evil("^((a*)*)*$", "", "a", "!"),
    Evil("^(.*a){11}$", "", "a", "!"),
    Evil("(a?){40}a{40}b", "", "a", ""),
    Evil("a{1,60}a{1,60}a{1,60}a{1,60}b", "", "a", ""),
    Evil(".*.*.*.*.*.*.*.*.*x", "", "a", ""),
    Evil("(?:a|aa)+$c", "", "a", ""),
    Evil("^(([a-z])+.)+[A-Z]([a-z])+$", "", "a", ""),
    Evil(
        "^([a-zA-Z0-9])(([.-]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}"
        "(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$",
        "",
        "a",
        "!",
    ),
    Evil(
        r"(?:(?:\"|'|\]|\}|\\|\d|(?:nan|infinity|true|false|null|undefined|symbol|math)"
        r"|`|-|\+)+[)]*;?((?:\s|-|~|!|{}|\|\||\+)*.*(?:.*=.*)))",
        "x=",
        "x",
        "",
    ),
    Evil(r"^[\s]+|[\s]+$", "a", " ", "a"),
    Evil(r"\s+$", "", " ", "a"),
    Evil(r"^(\w+\s?)*$", "", "aa ", "!"),
    Evil(r"^(\w+.)*\w*$", "", "aa.", "\n!"),
    Evil(r"^\d*[0-9](|.\d*[0-9]|)*$", "", "1", "a"),
    Evil(r"^((ab)*)+$", "", "ab", "!"),
    Evil(r"^([ab]+)+c?([ab]+)+$", "", "ab", "!"),
    Evil(r"<!--.*?-->|<!--.*", "", "<!--", ""),
    Evil(r"(/\*)+.*\*/x", "", "/*", ""),
    Evil(r"^(([\w-]+\.)+[\w-]+)+@$", "", "a.", "!"),
    Evil(r"(?i)^(?:https?://)?(?:[a-z0-9-]+\.?)+/$", "", "a.", "!"),
    Evil(r"\[(.*?)\]\((.*?)\)", "", "[", ""),
    Evil(r"(\d+|\d*\.\d+|\d+\.)+e$", "", "1", ""),
    Evil(r"^(?:(?:a+)?(?:b+)?)+c$", "", "ab", ""),
    Evil(r"(x+x+)+y", "", "x", ""),
    Evil(r"(.+)+(.+)+(.+)+=$", "", "=", "!"),
    Evil(r"^(?:[^\"]|\"\")*\"\"\"$", "", '""', "a"),
    Evil(r"(?s)^(.*)(.*)(.*)(.*)(.*)Z$", "", "Y\n", ""),
    Evil(r"(é+)+ß", "", "é", ""),
    Evil(r"(\pL+)+\d(\PL*)*$", "", "ж", "!"),
    Evil(r"\b(\w+\b)*\B!$", "", "a a", "?"),
)
