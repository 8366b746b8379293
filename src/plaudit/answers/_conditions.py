r"""What is said beside an answer: `k \in \mathbb{Z}`, "where n is an integer", "for all x"."""

from typing import NamedTuple

from plaudit.answers._split import CLOSING, OPENING
from plaudit.answers._tokens import Token
from plaudit.answers._tree import CannotReadError

_CONDITION_WORDS = frozenset(["where", "for", "with", "such", "given", "over", "measured"])
_FREE_WORDS = frozenset(
    "where for with such given over measured all any every each is are an a the that be some and"
    " arbitrary integer integers real number numbers constant constants value values".split()
)
_EVERY = ("all", "any", "every", "each")
_CASE_WORDS = frozenset("if when unless otherwise even odd depending except not".split())


class Given(NamedTuple):
    """What was said beside the answer.

    integers: the letters that run over the integers
    conditions: words that limit the answer further, as they stand
    """

    integers: frozenset[str] = frozenset()
    conditions: tuple[str, ...] = ()


def without_condition(
    part: list[Token], after_others: bool, said: bool
) -> tuple[list[Token], frozenset[str] | None]:
    """An element without the condition behind it, and the integers that the condition names."""
    if after_others and (whole := integers_named(part, said)) is not None:
        return [], whole
    depth = 0
    for place, token in enumerate(part):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth == 0 and token.kind == "word" and token.text.lower() in _CONDITION_WORDS:
            rest = part[place + 1 :]
            if any(t.kind == "word" and t.text.lower() in _CASE_WORDS for t in rest):
                raise CannotReadError("cases")
            if not place and not after_others:
                raise CannotReadError("a condition alone")
            kept = part[:place]
            while kept and kept[-1].text == "(":
                kept = kept[:-1]
            return kept, integers_named(rest, said) or frozenset()
    if len(part) > 4 and part[-1].text == ")":
        start = max((place for place, t in enumerate(part) if t.text == "("), default=0)
        integers = integers_named(part[start + 1 : -1], said)
        if start and integers is not None:
            return part[:start], integers
    return part, None


def limits(condition: list[Token]) -> list[str]:
    """The words and numbers of a condition that say more than which letters there are."""
    found: list[str] = []
    quantified = [t.text.lower() for t in condition[:2]] in (["for", word] for word in _EVERY)
    if quantified:
        return found  # of which letters it holds is no limit
    for token in condition:
        if token.text == r"\in":
            break  # the set of numbers that a letter is from
        if token.kind in ("word", "num") and token.text.lower() not in _FREE_WORDS:
            found.append(token.text.lower())
    return found


def integers_named(part: list[Token], said: bool) -> frozenset[str] | None:
    r"""The letters that a condition such as k \in \mathbb{Z} names; None where it is none.

    Conditions that name no integers, such as x > 0, are none here.
    """
    texts = [token.text for token in part]
    if "=" in texts:
        return None
    about = frozenset(t.text for t in part if t.kind == "let" and t.text not in "RZNQ")
    if "integer" in texts or "integers" in texts:
        return about
    if r"\in" in texts and about:
        domain = texts[texts.index(r"\in") + 1 :]
        if domain[:1] == [r"\mathbb"] and {"Z", "N"} & set(domain[1:3]):
            return about
        if domain[:1] in (["Z"], ["N"]) and len(domain) < 4:
            return about
        if domain[:1] == [r"\mathbb"] and (said or texts.index(r"\in") > 1):
            return frozenset()
    return None
