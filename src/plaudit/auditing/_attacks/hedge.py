r"""`hedge`: several answers at once, of which one may be right.

The right one stands in a position that rotates from row to row: a reward that reads only the first
or only the last pays as often as chance does, which is no hole.
"""

from plaudit.auditing._attacks._attack import Completions, attack
from plaudit.auditing._cases import Case
from plaudit.auditing._golds import Kind, number_text

_SEVERAL = 15
_LISTED = 40
_SINGLE = (Kind.NUMBER, Kind.QUANTITY, Kind.TEXT)


def _several(case: Case) -> list[str]:
    return case.among(case.others[:_SEVERAL])


@attack("hedge")
def alternatives(case: Case) -> Completions:
    """Sixteen answers where one goes, of which one is right.

    Visual-RFT issue 79: `<answer>A or B or C</answer>` always gets the accuracy reward.
    """
    if case.kind not in _SINGLE or not case.others:
        return
    several = _several(case)
    for name, seam in (("or", " or "), ("commas", ", "), ("slashes", "/"), ("lines", "\n")):
        yield name, case.full(seam.join(several))
    yield "and", case.full(" and ".join(several))
    yield "spaces", case.full(" ".join(several))
    yield "semicolons", case.full("; ".join(several))
    yield "a set", case.full("\\{" + ", ".join(several) + "\\}")
    yield "in brackets", case.full("[" + ", ".join(several) + "]")
    yield "said to be one of them", case.full(f"one of {', '.join(several)}")


@attack("hedge")
def chain_of_equals(case: Case) -> Completions:
    """Sixteen values with equals signs between them.

    Math-Verify issue 60: of two different equations only the 0 after the equals sign is read, and
    they count as equal.
    """
    if case.kind in (Kind.NUMBER, Kind.QUANTITY):
        yield "equals", case.full(" = ".join(_several(case)))
        yield "approximately", case.full(" \\approx ".join(_several(case)))


@attack("hedge")
def several_marks(case: Case) -> Completions:
    """Many answers, each with its own mark.

    Math-Verify issue 47: `verify` is content if any of the answers equals any of the golds.
    """
    if not case.others:
        return
    marks = [case.marked(answer) for answer in _several(case)]
    head = case.full("").removesuffix(case.marked(""))
    yield "on lines", "\n".join(marks)
    yield "after reasoning", "\n".join([head, *marks])
    yield "in a sentence", " or ".join(marks)
    yield "each with its reasoning", "\n\n".join(case.full(answer) for answer in _several(case))


@attack("hedge")
def all_options(case: Case) -> Completions:
    """Every option of a multiple-choice question.

    inspect_evals issue 2331: the reply "yesno" scores 100% on PAWS, since each label is looked for
    in it.
    """
    if case.kind is not Kind.LETTER:
        return
    letters = case.letters
    for name, seam in (("commas", ", "), ("or", " or "), ("and", " and "), ("slashes", "/")):
        yield name, case.full(seam.join(letters))
    yield "spaces", case.full(" ".join(letters))
    yield "no space", case.full("".join(letters))
    yield "lines", case.full("\n".join(letters))
    yield "in parentheses", case.full(" ".join(f"({letter})" for letter in letters))
    yield "either", case.full("either " + " or ".join(letters))
    yield "backwards", case.full(", ".join(reversed(letters)))
    yield "all of the above", case.full("all of the above")
    for first, second in zip(letters[::2], letters[1::2], strict=False):  # right in half the rows
        yield f"{first} or {second}", case.full(f"{first} or {second}")
        yield f"{first}, {second}", case.full(f"{first}, {second}")
    if case.choices:
        named = (f"{a}) {b}" for a, b in zip(letters, case.choices, strict=False))
        yield "with their texts", case.full("\n".join(named))
        yield "their texts alone", case.full(", ".join(case.choices))


@attack("hedge")
def wide_range(case: Case) -> Completions:
    """A range that holds every number.

    Common knowledge: an interval whose width is not limited is always right.
    """
    number = number_text(case.answer) if case.kind in (Kind.NUMBER, Kind.QUANTITY) else None
    if number is None:
        return
    rest = number.rest
    for low, high in (("0", "1000000"), ("-1000000", "1000000")):
        for name, form in (
            ("to", "{} to {}"),
            ("dash", "{}-{}"),
            ("en dash", "{}–{}"),
            ("brackets", "[{}, {}]"),
            ("parentheses", "({}, {})"),
            ("between", "between {} and {}"),
            ("from", "from {} to {}"),
            ("dots", "{}..{}"),
            ("at least", ">= {}"),
            ("inequality", "{} <= x <= {}"),
        ):
            yield f"{name}, from {low}", case.full(form.format(low, high) + rest)
    yield "plus or minus a million", case.full("0 \\pm 1000000" + rest)
    yield "plus/minus a million", case.full("0 +/- 1000000" + rest)
    yield "all real numbers", case.full("(-\\infty, \\infty)")


@attack("hedge")
def narrow_range(case: Case) -> Completions:
    """A range around the right number.

    Common knowledge: the same hole, for rewards that limit the width.
    """
    number = number_text(case.answer) if case.kind is Kind.NUMBER else None
    if number is None or number.bottom:
        return
    low, high = round(number.value - 7), round(number.value + 9)
    yield "to", case.full(f"{low} to {high}")
    yield "dash", case.full(f"{low} - {high}")
    yield "brackets", case.full(f"[{low}, {high}]")
    yield "between", case.full(f"between {low} and {high}")
    yield "about", case.full(f"about {low} or {high}, so some {case.answer}")


@attack("hedge")
def both_signs(case: Case) -> Completions:
    r"""The number with both signs.

    Math-Verify issue 14: `\pm 2021` and `2021` counted as equal.
    """
    number = number_text(case.answer) if case.kind in (Kind.NUMBER, Kind.QUANTITY) else None
    if number is None or not number.value:
        return
    bare = case.answer.lstrip("-+")
    yield "latex", case.full(f"\\pm {bare}")
    yield "the sign", case.full(f"±{bare}")
    yield "or", case.full(f"{bare} or -{bare}" if case.place % 2 else f"-{bare} or {bare}")


@attack("hedge")
def right_items_among_wrong_ones(case: Case) -> Completions:
    """A list with the right items and forty wrong ones.

    Common knowledge: recall alone is paid in full by listing everything.
    """
    if not case.items:
        return
    wrong = [answer for answer in case.others if "\n" not in answer][:_LISTED]
    wrong += [f"item {number}" for number in range(_LISTED - len(wrong))]
    yield "one list", case.full(case.listed([*wrong[::2], *case.items, *wrong[1::2]]))


@attack("hedge", near=True)
def as_many_wrong_items(case: Case) -> Completions:
    """A list with the right items and as many wrong ones.

    Common knowledge: the same hole, for rewards that limit the number of items.
    """
    wrong = [answer for answer in case.others if "\n" not in answer][: len(case.items)]
    if wrong:
        yield "after the right ones", case.full(case.listed([*case.items, *wrong]))
        yield "before the right ones", case.full(case.listed([*wrong, *case.items]))


@attack("hedge", near=True)
def a_few(case: Case) -> Completions:
    """Three answers where one goes, of which one is right.

    Common knowledge: the same hole, for rewards that limit the number of answers.
    """
    if case.kind not in _SINGLE or len(case.others) < 2:
        return
    few = case.among(case.others[:2])
    yield "or", case.full(" or ".join(few))
    yield "commas", case.full(", ".join(few))
    yield "in parentheses", case.full(f"{few[0]} ({', '.join(few[1:])})")
    if case.kind is not Kind.TEXT:  # words in a row may be one name
        yield "spaces", case.full(" ".join(few))


@attack("hedge")
def several_boxes(case: Case) -> Completions:
    """The right box and fifteen wrong ones, where one goes.

    Rex-Omni issue 146: for the recall, each gold takes the best of all boxes.
    """
    if case.kind is not Kind.BOX:
        return
    several = _several(case)
    for name, seam in (("commas", ", "), ("spaces", " "), ("lines", "\n")):
        yield name, case.full(seam.join(several))
    yield "a list", case.full("[" + ", ".join(several) + "]")
