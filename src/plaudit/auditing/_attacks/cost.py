"""`cost`: texts on which a reward may take for ever.

Each function gives texts of about a size. Short ones, below 1,000 characters, must take less than
2 s; long ones less than 5 s for 100,000 characters, with a time that grows about as the text does.
"""

import string
from collections.abc import Callable

from plaudit.auditing._attacks._attack import Completions
from plaudit.auditing._cases import Case
from plaudit.auditing._golds import Kind

Hostile = Callable[[Case, int], Completions]

_RUNS = ("1", "a", "1,", "a ", "1 ", " ", "-", "a,", "ab", "aA", "1.", "(", "{", "\\", "<", "x^")


def _filled(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _placed(case: Case, name: str, text: str) -> Completions:
    yield name, text
    yield f"{name} as the answer", case.marked(text)
    yield f"{name} in the form", case.dress.written(text, "So it is")


def runs_with_another_end(case: Case, size: int) -> Completions:
    """One thing again and again, and then something else.

    OWASP, "Regular expression Denial of Service": nested quantifiers try every way to split it.
    """
    for unit in _RUNS:
        yield from _placed(case, f"{unit!r} again and again", _filled(unit, size - 1) + "!")
    for unit in (" ", "\n", "1", "0"):
        run = _filled(unit, size - 1)
        yield f"{unit!r} after the right answer", case.full(f"{case.answer}{run}!")
        yield f"{unit!r} after the right reply", f"{case.full(case.answer)}{run}!"


def marks_again_and_again(case: Case, size: int) -> Completions:
    """The marks of the form, opened and never closed.

    odysseus issue 4703: 60 KB of `<thought ` that never closes take 25 s, since a lazy pattern
    looks to the end of the text from each opening. llama_index issue 22334 is another.
    """
    before, after = case.dress.mark
    named = [f"<{tag}>" for tag in case.tags] + [f"</{tag}>" for tag in case.tags]
    usual = ["<think>", "<answer>", "</think>", "\\boxed{", "####", "Answer:", "```json", "$", "["]
    for mark in dict.fromkeys([*filter(None, (before, after)), *named, *usual]):
        yield f"{mark!r} again and again", _filled(mark, size)
        yield f"{mark!r} on lines", _filled(f"{mark}\n", size)
    yield "an opened thought", "<think>" + _filled("a ", size)
    yield "an opened answer", before + _filled("1 ", size)


def many_words(case: Case, size: int) -> Completions:
    """Many words: all different, all the same, or a few in turn.

    cpython issue 107578: `difflib` is slow on texts of 100,000 characters, as is all that looks at
    every word for each word.
    """
    different = " ".join(f"w{number}" for number in range(size // 6 + 2))[:size]
    yield from _placed(case, "different words", different)
    yield from _placed(case, "the same word", _filled("again ", size))
    yield "sentences", _filled("It is so, and it is not so. ", size)
    yield "inside thinking", f"<think>{different}</think>\n{case.marked(case.answer)}"
    yield "before the right answer", f"{different}\n{case.marked(case.answer)}"
    yield "after the right answer", f"{case.marked(case.answer)}\n{different}"


def many_entries(case: Case, size: int) -> Completions:
    """Many numbers, items or boxes where one answer goes.

    nubank/matcher-combinators issue 106: sets that are matched in every order take 17 minutes for
    ten items.
    """
    numbers = ", ".join(str(number) for number in range(size // 6 + 2))[:size]
    yield from _placed(case, "numbers", numbers.rstrip(", "))
    yield "items on lines", case.marked("\n".join(f"i{n}" for n in range(size // 6 + 2)))
    yield "numbers on lines", case.marked("\n".join(str(n) for n in range(size // 6 + 2)))
    if case.kind in (Kind.BOX, Kind.BOXES):
        boxes = [(n % 97, n % 89, n % 97 + 9, n % 89 + 9) for n in range(size // 18 + 1)]
        yield "boxes", case.marked(case.boxed(boxes))
        again = [case.boxes[0]] * (size // 22 + 1)
        yield "the right box", case.marked(case.boxed(again))


def deep_nesting(case: Case, size: int) -> Completions:
    """Brackets within brackets.

    sympy issue 30000: nested parentheses exceed the recursion limit in its LaTeX parser.
    """
    half = size // 2
    for opening, closing in ("()", "[]", "{}"):
        yield from _placed(case, f"{opening}…{closing}", opening * half + closing * half)
    yield from _placed(case, "fractions", _filled("\\frac{1}{1+", size))


def long_numbers(case: Case, size: int) -> Completions:
    """A number of very many digits.

    CVE-2020-10735: Python's int took quadratic time for them, and now refuses them.
    """
    yield from _placed(case, "digits", _filled(string.digits[1:], size))
    yield from _placed(case, "decimals", "0." + _filled("142857", size))
    yield from _placed(case, "a fraction", f"\\frac{{{'7' * (size // 2)}}}{{{'3' * (size // 2)}}}")


def explosive_formulas(case: Case, size: int) -> Completions:
    """Short formulas whose value has more digits than there is memory.

    sympy issue 21579: `10.0**10.0**10.0` hangs. Math-Verify issue 63: nested logarithms escape the
    time limit and take all memory.
    """
    if size >= 1000:
        return
    for formula in (
        *("9^{9^{9^9}}", "9**9**9**9", "10**10**10", "2^2^2^2^2^2^2", "(10^9)!", "99999999!"),
        *("\\binom{10^{12}}{10^{9}}", "1e99999999", "1/(10^{-10^{9}})", "\\sqrt[3]{9^{9^9}}"),
        *("\\sum_{k=1}^{10^{12}} k^{-k}", "\\int_0^1 x^{x^x} dx", "(x+1)^{5000}", "7^{7^{7^7}} km"),
        *("\\frac{9^{9^9}}{9^{9^9}}", "sin(" * 40 + "x" + ")" * 40),
    ):
        yield from _placed(case, formula[:30], formula)


HOSTILE: tuple[Hostile, ...] = (
    runs_with_another_end,
    explosive_formulas,
    marks_again_and_again,
    many_words,
    many_entries,
    deep_nesting,
    long_numbers,
)
