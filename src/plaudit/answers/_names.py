r"""Names before a value: `f(x) = …`, `P(A) = …`, `\angle ABC = …`, `A^{-1} = …`."""

from plaudit.answers._tokens import Token

_FUNCTIONS = frozenset("fghpquv")


def is_name_of_value(side: list[Token]) -> bool:
    r"""Whether it is no product, but the name of a value: f(x), P(A), y'(x), \angle ABC, AB."""
    texts = [token.text for token in side]
    if texts[0] == r"\int" and not {"_", "^"} & set(texts[1:2]):
        return True  # before an antiderivative
    if texts[:3] == [r"\frac", "{", "d"] and texts[-1] == "}" and "d" in texts[3:]:
        return True
    if texts[:2] == ["m", r"\angle"]:
        return True
    if texts[0] in (r"\angle", r"\triangle", r"\overline", r"\measuredangle", r"\Delta"):
        return True
    if side[0].kind in ("word",):
        return True
    if all(t.kind == "let" and t.text.isupper() for t in side) and 2 <= len(side) <= 4:
        return True
    if (
        texts[0] == "|"
        and texts[-1] == "|"
        and all(x.isupper() for x in texts[1:-1])
        and texts[1:-1]
    ):
        return True
    if side[0].kind not in ("let", "txt", "cmd") or len(side) < 3:
        return False
    at = 1
    while at < len(side) and texts[at].startswith("'"):
        at += 1
    if at < len(texts) and texts[at] in ("^", "_"):
        return side[0].text.isupper() and texts[at] == "^" and _plain_exponent(texts[at + 1 :])
    return (
        texts[at : at + 1] == ["("]
        and texts[-1] == ")"
        and "(" not in texts[at + 1 :]
        and side[0].kind != "cmd"
        and len(side) - at <= 8
        and not _is_product(side[0], side[at + 1 : -1])
    )


def _is_product(head: Token, inside: list[Token]) -> bool:
    """Whether a letter before brackets is a factor: x(x-1), a(b+c); but f(x+1), P(A+B)."""
    texts = {token.text for token in inside}
    if head.text in texts:
        return True
    is_sum = bool(texts & {"+", "-"}) and any(token.kind == "let" for token in inside)
    return is_sum and head.text.islower() and head.text not in _FUNCTIONS


def _plain_exponent(texts: list[str]) -> bool:
    return "".join(texts).strip("{}") in ("-1", "n", "T", "k", "2")
