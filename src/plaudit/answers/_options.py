r"""Letters of options: what an answer picks, and what a question lists."""

import re
import unicodedata
from functools import lru_cache

_FORMATTING = re.compile(
    r"\[\[|\]\]|"
    r"\\(?:text|textbf|mathrm|mathbf|boxed|textrm|rm|bf|mbox|operatorname)\b|[\\${}*~`\"]"
    r"|<\|\w++\|>|</?s>|<eos>"  # the tokens that end a text
)
_LEAD = re.compile(
    r"^(?:it\s++is\s++|it's\s++|i\s++(?:choose|pick|select)\s++)?(?:the\s++|my\s++)?"
    r"(?:(?:correct|right|best|final)\s++)?(?:option|choice|answer|letter|pick|guess)s?\s*+(?:is|:|=)?\s*+"
    r"|^it(?:'s|\s++is)\s++|^i(?:'d|\s++would)?\s++(?:choose|pick|say|go\s++with)\s++|^not\s++\(?[A-Z]\)?,?\s++but\s++",
    re.IGNORECASE,
)
_QUOTED_LETTER = re.compile(r"['‘’]([A-Za-z])['’]")
_LETTER = re.compile(
    r"^[(\[]?\s*+([A-Za-z])\s*+[)\]]?\s*+(?=$|[.:)\],;!-]|\?$|\(|only$|because\b|since\b)"
)
_LETTER_ALONE = re.compile(r"^[(\[]?\s*+([A-Z])\s*+[)\]]\s*+(\S.*)?$", re.DOTALL)
# Two letters, with "and" or "or" between them, or at least one of , & / ; and space. Possessive, so
# that a long row of commas is read once.
_SEVERAL = re.compile(
    r"^\W*+([A-J])(?:\W*+(?:and|or)(?:[,&/;\s]*+(?:and|or))*+|(?=[^\w,&/;\s]*+[,&/;\s]))\W*+"
    r"([A-J])\b(?!\w)"
)
# What takes a letter back: "B (incorrect)", "B. No, it is G". An option's own text may be "No".
_DENIED = re.compile(r"\((?:incorrect|wrong|not correct)\)\W*+$", re.IGNORECASE)
_CORRECTED = re.compile(
    r"\b(?:[Nn]o|[Ww]ait|[Aa]ctually)\b,?\s(?:wait,?\s|no,?\s|actually,?\s)?(?:it(?:'s|\sis)\s)?"
    r"\(?([A-Z])\)?\W*+$"
)
_LONGEST_CORRECTION = 60  # characters
_TWO_IN_PARENTHESES = re.compile(r"\(([A-Z])\)(?:[\s,;/&]|and\b|or\b)++\(([A-Z])\)")
_BOTH = re.compile(r"\b(?:both|either|neither)\b", re.IGNORECASE)


def _plain_choice(text: str) -> str:
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(_FORMATTING.sub(" ", text).split()).strip().rstrip(".").strip()


def read_choice(text: str) -> str | None:
    r"""The letter of an option that a text is; None if there is none, or more than one."""
    plain = _QUOTED_LETTER.sub(r"\1", _LEAD.sub("", _plain_choice(text).lstrip("-–— ")))
    if several_choices(plain):
        return None
    if len(plain) == 1 and plain.isalpha():
        return plain.upper()
    found = _LETTER.match(plain) or _LETTER_ALONE.match(plain)
    if found is None or (found[1].islower() and plain[:1] != "("):
        return None
    letter, tail = found[1].upper(), plain[found.end(1) :][-_LONGEST_CORRECTION:]
    corrected = _CORRECTED.search(tail)
    is_taken_back = _DENIED.search(tail) or (corrected and corrected[1] != letter)
    return None if is_taken_back else letter


def several_choices(text: str) -> bool:
    """Whether a text picks more than one option."""
    plain = _plain_choice(text)
    two = _TWO_IN_PARENTHESES.match(plain)
    if two and two[1] != two[2]:
        return True
    found = _SEVERAL.match(_BOTH.sub("", plain))
    if found is None or found[1] == found[2]:
        return False
    between = plain[plain.index(found[1]) + 1 :].strip()
    # "A: B cells" is an option with its text.
    return not between.startswith((":", ".", ")")) or bool(_BOTH.search(plain))


_OPTION = re.compile(r"(?:^|\s)\(?([A-Z])[).:]\s*+")
_SMALL_OPTION = re.compile(r"(?:^|\s)\(?([a-z])[).]\s++")


@lru_cache(maxsize=1024)
def options_in(question: str) -> tuple[str, ...]:
    """Return the texts of the options that a question lists, A first; empty if it lists none.

    >>> options_in("Which is it? A) red B) blue"), options_in("(a) 1/2 (b) 2/3")
    (('red', 'blue'), ('1/2', '2/3'))
    """
    return tuple(_options(question, _OPTION) or _options(question, _SMALL_OPTION))


def _options(question: str, pattern: re.Pattern[str]) -> list[str]:
    found = list(pattern.finditer(question[:20_000]))
    start = next((at for at, one in enumerate(found) if one[1] in "Aa"), None)
    if start is None:
        return []
    options: list[str] = []
    for one, following in zip(found[start:], [*found[start + 1 :], None], strict=True):
        if ord(one[1].upper()) != ord("A") + len(options):
            break
        end = following.start() if following else len(question)
        options.append(question[one.end() : end].strip(" \n,;"))
    return options if len(options) > 1 else []


def lists_options(text: str) -> bool:
    """Whether a text lists options with their letters, as a question does."""
    return len(options_in(_plain_choice(text))) > 1


# -- Several letters

_LETTERS = re.compile(r"[A-J]{2,10}|[A-Ja-j](?:\s?[,;&/ ]\s?(?:and\s)?[A-Ja-j]){1,9}")
_ALL_THAT_APPLY = re.compile(
    r"\b(?:all|every|each|which (?:two|three|of)|two"
    r"|three|apply|applies|correct ones|select|tick|mark"
    r"|check)\b|\bwhich are\b",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"(?<![\w'])(?:\(([A-Ja-j])\)|([A-J])(?![\w'])\)?)")
_ARTICLE = re.compile(
    r"\bA(?=\s(?!and\b|or\b|is\b|are\b|apply|applies|only\b|as\b)[a-z])|\bI(?=\s[a-z'])"
)
_REASON = re.compile(
    r"\b(?:because|since|whereas|while|but|(?<!well )as (?=[A-Z]\b)|unlike|however)\b.*"
    r"|\([^()]{2,}\)",
    re.DOTALL,
)
_NONE_OF = re.compile(
    r"\b(?:except|all but|none of|neither|anything but|rather than|or)\b", re.IGNORECASE
)
_NOT = re.compile(
    r"\b(?:not|never|isn't|aren't|doesn't|don't|wrong|false|incorrect)\b", re.IGNORECASE
)


def letters_of_gold(gold: str, question: str, has_choices: bool) -> frozenset[str] | None:
    """Return the letters of a gold such as ACD or "a, c"; None if it is something else."""
    plain = _plain_choice(gold).replace("(", "").replace(")", "")
    if not _LETTERS.fullmatch(plain):
        return None
    letters = [letter.upper() for letter in plain if letter.isalpha() and letter in _OPTION_LETTERS]
    listed = has_choices or bool(options_in(question))
    if len({*letters}) != len(letters) or not listed or not _ALL_THAT_APPLY.search(question):
        return None
    return frozenset(letters)


_OPTION_LETTERS = frozenset("ABCDEFGHIJabcdefghij")


def letters_chosen(text: str) -> frozenset[str]:
    """Return the options that a text picks; those that it rules out are left out.

    >>> sorted(letters_chosen("Both C and D apply, because A is not a gas."))
    ['C', 'D']
    """
    plain = _plain_choice(text)
    bare = re.sub(r"[^A-Za-z]", "", re.sub(r"\band\b", "", plain))
    if (
        bare
        and len(bare) <= 10
        and re.fullmatch(r"[A-J]++|[a-j]++", bare)
        and len({*bare}) == len(bare)
    ):
        return frozenset(bare.upper())
    said = _REASON.sub("", _ARTICLE.sub("", plain))
    if _NONE_OF.search(said):
        return frozenset()
    clauses = [
        part
        for part in re.split(r"[.;]|,(?!\s*\(?[A-J]\b\)?\s*(?:$|,|and\b))", said)
        if not _NOT.search(part)
    ]
    return frozenset(
        (one[1] or one[2]).upper() for clause in clauses for one in _CHOSEN.finditer(clause)
    )
