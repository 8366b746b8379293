r"""Numbers in another base: `1010_2`, `3C7_{16}`, `4343 (base 6)`."""

import re

from plaudit.answers._tree import Node, number
from plaudit.answers._vocabulary import NUMBER_WORDS

_DIGITS = r"(?P<sign>-?)[({]?(?P<digits>[0-9A-Za-z]*+(?:\.[0-9A-Za-z]*+)?(?:\\overline\{[0-9A-Za-z]++\})?)[)}]?"
_BASE = r"[{(]*+(?:base)?(?P<base>\d++|[a-z]++)[)}]*+"
_WRITTEN = re.compile(_DIGITS + "_" + _BASE)
_SAID = re.compile(_DIGITS + r"[,(]?(?:in)?base[-(]?" + _BASE, re.IGNORECASE)


def read_base(text: str) -> Node | None:
    r"""The number in a base that a text without spaces is; None where it is none.

    >>> read_base("1010_{2}").val
    ('1010', 2)
    >>> read_base("-(101)_2").val, read_base("4343(base6)").val
    (('-101', 2), ('4343', 6))
    >>> read_base("x_2") is None, read_base("57_{10}").op
    (True, 'num')
    """
    if "_" not in text and "base" not in text.lower():
        return None
    found = _WRITTEN.fullmatch(text) or _SAID.fullmatch(text)
    if found is None:
        return None
    digits, base = found["digits"].upper(), found["base"]
    size = int(base) if base.isdigit() and len(base) < 3 else NUMBER_WORDS.get(base, 0)
    plain = digits.replace(".", "").replace("\\OVERLINE", "").replace("{", "").replace("}", "")
    if not plain or not 2 <= size <= 36 or not any(map(str.isdigit, plain)):
        # AB_{16} has no digit below ten, but x_2 and A_2 are letters with an index.
        if not (2 <= size <= 36 and len(plain) > 1 and size > 10):
            return None
    if any(_digit(digit) >= size for digit in plain):
        return Node("base", (), (found["sign"] + digits, size))
    if size == 10 and digits.isdigit():
        return number(int(found["sign"] + digits))
    stripped = digits.lstrip("0") or "0"
    return Node("base", (), (found["sign"] + stripped, size))


def _digit(sign: str) -> int:
    return int(sign) if sign.isdigit() else ord(sign) - ord("A") + 10
