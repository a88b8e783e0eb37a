r"""Names of Unicode classes in regular expressions, such as ``Greek`` of ``\p{Greek}``.

Mirrors ``unicodeTable`` of Go's ``regexp/syntax`` (Go 1.26): names are compared without
case, spaces, underscores and hyphens. RE2 has the characters of most classes.
"""

import functools
import itertools
import sys
from typing import Final

import re2  # type: ignore[import-untyped]  # has no types

__all__ = ["class_of"]

_CATEGORIES: Final = """
    Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm
    So Z Zl Zp Zs
    """
_SCRIPTS: Final = """
    Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah
    Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal
    Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform
    Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan
    Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha
    Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo Hatran
    Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi
    Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi
    Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B
    Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen
    Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive
    Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari
    Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki
    Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian
    Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene
    Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra
    Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese
    Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa
    Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho
    Warang_Citi Yezidi Yi Zanabazar_Square
    """
_ALIASES: Final = {
    "Close_Punctuation": "Pe",
    "Combining_Mark": "M",
    "Connector_Punctuation": "Pc",
    "Control": "Cc",
    "Currency_Symbol": "Sc",
    "Dash_Punctuation": "Pd",
    "Decimal_Number": "Nd",
    "Enclosing_Mark": "Me",
    "Final_Punctuation": "Pf",
    "Format": "Cf",
    "Initial_Punctuation": "Pi",
    "Letter": "L",
    "Letter_Number": "Nl",
    "Line_Separator": "Zl",
    "Lowercase_Letter": "Ll",
    "Mark": "M",
    "Math_Symbol": "Sm",
    "Modifier_Letter": "Lm",
    "Modifier_Symbol": "Sk",
    "Nonspacing_Mark": "Mn",
    "Number": "N",
    "Open_Punctuation": "Ps",
    "Other_Letter": "Lo",
    "Other_Number": "No",
    "Other_Punctuation": "Po",
    "Other_Symbol": "So",
    "Paragraph_Separator": "Zp",
    "Private_Use": "Co",
    "Punctuation": "P",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Spacing_Mark": "Mc",
    "Surrogate": "Cs",
    "Symbol": "S",
    "Titlecase_Letter": "Lt",
    "Uppercase_Letter": "Lu",
    "cntrl": "Cc",
    "digit": "Nd",
    "punct": "P",
}
_ASSIGNED: Final = r"\pL\pM\pN\pP\pS\pZ\p{Cc}\p{Cf}\p{Co}\p{Cs}"
_COMPOSED: Final = {
    "Any": r"\x{0}-\x{10ffff}",
    "Ascii": r"\x00-\x7f",
    "Assigned": _ASSIGNED,
    "Lc": r"\p{Lu}\p{Ll}\p{Lt}",
    "Casedletter": r"\p{Lu}\p{Ll}\p{Lt}",
}
"""Classes that are unions of RE2's, as the inside of a class."""
_COMPLEMENTS: Final = {
    "Cn": _ASSIGNED,
    "Unassigned": _ASSIGNED,
    "C": r"\pL\pM\pN\pP\pS\pZ",
    "Other": r"\pL\pM\pN\pP\pS\pZ",
}
"""Classes that are everything but a union of RE2's."""


_NOTHING: Final = r"\x{d800}"


def _canonical(name: str) -> str:
    return "".join(each for each in name if each not in "_- ").capitalize()


_NAMES: Final = {
    **{_canonical(name): name for name in _SCRIPTS.split()},
    **{_canonical(name): category for name, category in _ALIASES.items()},
    **{name: name for name in _CATEGORIES.split()},
}


def class_of(name: str, *, negated: bool, folded: bool) -> str | None:
    """Return the inside of a class of RE2 for a name of Go.

    Args:
        name: The name, such as ``Greek``.
        negated: Whether the class has all other characters.
        folded: Whether upper and lower case are the same.

    Returns:
        Text to put between brackets, or None for a name that Go does not have.
    """
    if not name.isascii():
        return None
    name = _canonical(name)
    if name in _NAMES:
        return rf"\{'P' if negated else 'p'}{{{_NAMES[name]}}}"
    if name in _COMPLEMENTS:
        inside = _COMPLEMENTS[name]
        return inside if negated else _complement(inside, folded=folded)
    if name in _COMPOSED:
        inside = _COMPOSED[name]
        return _complement(inside, folded=folded) if negated else inside
    return None


@functools.cache
def _complement(inside: str, *, folded: bool) -> str:
    """Write the characters that a class lacks as ranges.

    RE2 cannot write the complement of a union within a class, so its own tables are
    read here once, by a search through all characters.
    """
    matches = re2.compile(f"(?{'i' if folded else ''})[^{inside}]+".encode()).finditer(
        _all_characters()
    )
    runs = [match.group().decode() for match in matches]
    # No text has a surrogate, so this is a class without characters.
    return (
        "".join(f"\\x{{{ord(run[0]):x}}}-\\x{{{ord(run[-1]):x}}}" for run in runs)
        or _NOTHING
    )


@functools.cache
def _all_characters() -> bytes:
    """Return all characters; surrogates are none."""
    codes = itertools.chain(range(0xD800), range(0xE000, sys.maxunicode + 1))
    return "".join(map(chr, codes)).encode()
