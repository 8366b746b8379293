r"""Numbers in another base: `1010_2`, `3C7_{16}`, `4343 (base 6)`."""

import re

from plaudit.answers._tree import Node, number
from plaudit.answers._vocabulary import NUMBER_WORDS

_DIGITS = re.compile(
    r"(?P<sign>-?)[({]?(?P<digits>[0-9A-Za-z]*+(?:\.[0-9A-Za-z]*+)?"
    r"(?:\\overline\{[0-9A-Za-z]++\})?)[)}]?[,(]?"
)
_BASE = re.compile(r"[-{(]*+(?P<base>\d++|[a-z]++)[)}]*+")


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
    left, sign, right = text.partition("_")
    if not sign:
        place = text.lower().index("base")
        left, right = text[:place].removesuffix("in"), text[place + len("base") :]
    right = right.replace("base", "")
    found, base_found = _DIGITS.fullmatch(left), _BASE.fullmatch(right)
    if found is None or base_found is None:
        return None
    digits, base = found["digits"].upper(), base_found["base"]
    size = int(base) if base.isdigit() and len(base) < 3 else NUMBER_WORDS.get(base, 0)
    plain = digits.replace(".", "").replace("\\OVERLINE", "").replace("{", "").replace("}", "")
    if not plain or not 2 <= size <= 36:
        return None
    if not any(map(str.isdigit, plain)) and (len(plain) < 2 or size <= 10):
        return None  # AB_{16} is a number, but x_2 and A_2 are letters with an index
    if any(_digit(digit) >= size for digit in plain):
        return Node("base", (), (found["sign"] + digits, size))
    if size == 10 and digits.isdigit():
        return number(int(found["sign"] + digits))
    stripped = digits.lstrip("0") or "0"
    return Node("base", (), (found["sign"] + stripped, size))


def _digit(sign: str) -> int:
    return int(sign) if sign.isdigit() else ord(sign) - ord("A") + 10
