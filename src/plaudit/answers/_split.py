"""Tokens in pieces: what stands between commas, words and signs, outside of all brackets."""

from collections import Counter
from collections.abc import Collection

from plaudit.answers._tokens import Token

OPENING = frozenset(["(", "[", "{", r"\{", r"\langle", r"\begin", r"\lfloor", r"\lceil"])
CLOSING = frozenset([")", "]", "}", r"\}", r"\rangle", r"\end", r"\rfloor", r"\rceil"])


def split(
    found: list[Token], signs: Collection[str], words: Collection[str] = ()
) -> tuple[list[list[Token]], list[str]]:
    """The pieces between separators that stand in no brackets, and the separators."""
    parts: list[list[Token]] = [[]]
    between: list[str] = []
    depth = 0
    for token in found:
        if token.text in OPENING:
            depth += 1
        elif token.text in CLOSING:
            depth -= 1
        is_word = token.kind == "word"
        separates = token.text.lower() in words if is_word else token.text in signs
        if depth == 0 and separates:
            # ", and" is one separator.
            if parts[-1] or not between:
                parts.append([])
                between.append(token.text.lower())
            else:
                between[-1] = token.text.lower()
        else:
            parts[-1].append(token)
    return parts, between


def with_round_brackets(found: list[Token]) -> list[Token]:
    """Brackets turned outwards, ]a,b[, as the round ones that they mean."""
    count = Counter(token.text for token in found)
    first = next((t.text for t in found if t.text in OPENING or t.text in CLOSING), "")
    if first != "]" and (count["["] == count["]"] or count["("] != count[")"]):
        return found
    turned, open_now = [], False
    for token in found:
        if token.text in ("]", "["):
            outwards = (token.text == "]") != open_now
            open_now = not open_now
            sign = ("(" if open_now else ")") if outwards else token.text
            token = token._replace(text=sign)
        turned.append(token)
    return turned


def without_dollars(found: list[Token]) -> list[Token]:
    """Without the signs that begin and end a formula: a currency stands before a number alone."""
    kept: list[Token] = []
    for place, token in enumerate(found):
        if token.text == "$":
            following = found[place + 1] if place + 1 < len(found) else None
            before = kept[-1].kind if kept else ""
            closes = sum(t.text == "$" for t in found[place + 1 :]) % 2 == 1
            if not following or following.kind != "num" or before == "num" or closes:
                continue
            if sum(t.text == "$" for t in found[:place]) % 2 == 1:
                continue
        kept.append(token)
    return kept
