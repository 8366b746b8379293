r"""The option that an answer picks: `C`, `(C)`, `\text{C}`, `C. 42`, or the text of option C."""

import re

_DRESS = re.compile(
    r"\\(?:text|textbf|mathrm|mathbf|boxed|textrm|rm|bf|mbox|operatorname)\b|[\\${}*~`\"]"
)
_LEAD = re.compile(
    r"^(?:it\s++is\s++|it's\s++|i\s++(?:choose|pick)\s++)?(?:the\s++)?(?:(?:correct|right|best|final)\s++)?(?:option|choice|answer|letter)s?\s*+"
    r"(?:is|:|=)?\s*+",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"^[(\[]?\s*+([A-Za-z])\s*+[)\]]?\s*+(?=$|[.:)\],;?!-]|\(|only$|because\b|since\b)"
)
_LETTER_ALONE = re.compile(r"^[(\[]?\s*+([A-Z])\s*+[)\]]\s*+(\S.*)?$", re.DOTALL)
# Two letters, with "and" or "or" between them, or at least one of , & / ; and space. Possessive, so
# that a long row of commas is read once.
_SEVERAL = re.compile(
    r"^\W*+([A-J])(?:\W*+(?:and|or)(?:[,&/;\s]*+(?:and|or))*+|(?=[^\w,&/;\s]*+[,&/;\s]))\W*+"
    r"([A-J])\b(?!\w)"
)
_BOTH = re.compile(r"\b(?:both|either|neither)\b", re.IGNORECASE)


def _plain(text: str) -> str:
    return " ".join(_DRESS.sub(" ", text).split()).strip().rstrip(".").strip()


def read_choice(text: str) -> str | None:
    r"""The letter of an option that a text is; None where it is none, or more than one.

    >>> [read_choice(text) for text in (r"\text{(C) } 42", "B.", "A triangle", "B or C")]
    ['C', 'B', None, None]
    """
    plain = _LEAD.sub("", _plain(text))
    if several_choices(plain):
        return None
    if len(plain) == 1 and plain.isalpha():
        return plain.upper()
    found = _LETTER.match(plain) or _LETTER_ALONE.match(plain)
    if found is None or (found[1].islower() and plain[:1] != "("):
        return None
    return found[1].upper()


def several_choices(text: str) -> bool:
    """Whether a text picks more than one option.

    >>> several_choices("A, B, C, D"), several_choices("Both A and B"), several_choices("C. 42")
    (True, True, False)
    """
    plain = _plain(text)
    found = _SEVERAL.match(_BOTH.sub("", plain))
    if found is None or found[1] == found[2]:
        return False
    between = plain[plain.index(found[1]) + 1 :].strip()
    # "A: B cells" is an option with its text.
    return not between.startswith((":", ".", ")")) or bool(_BOTH.search(plain))
