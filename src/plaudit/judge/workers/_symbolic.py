"""The symbolic step: two lists of candidates, parsed as math-verify does and compared by it.

It uses functions inside of math-verify, so it is for the versions that it was tested with; others
have `_public_api`. Runs in a worker process alone, which can be killed: what is done here may take
for ever. Three things take most of a comparison's time, and can mostly be avoided, without changing
any verdict:

- antlr predicts what comes next from the full context (LL), although the cheaper SLL prediction
  mostly suffices. If SLL finds a tree, it is the same tree; if not, LL parses the text again.
- sympy reads the number "18" by tokenizing, parsing and evaluating it as a Python expression.
- sympy simplifies, solves and subtracts sets to see that two things differ, although a few values
  show it: `_numeric_values` and `_solutions` find them. Each function of math-verify's grader that
  is replaced here has the same arguments and gives the same result.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import sympy
from antlr4.atn.PredictionMode import PredictionMode
from latex2sympy2_extended.latex2sympy2 import _Latex2Sympy, convert_to_pct
from latex2sympy2_extended.logic import And
from latex2sympy2_extended.sets import FiniteSet
from math_verify import grader, parser

from plaudit.judge._candidates import Arithmetic, Latex, Piece, WrittenNumber
from plaudit.judge._reading import Normalised, normalise
from plaudit.judge._verdict import Rule, Status
from plaudit.judge.workers._numeric_values import clearly_different, differ_in_digits, never_equal
from plaudit.judge.workers._solutions import (
    INEQUALITIES,
    STRICT,
    inequality_differs,
    sets_differ,
    solutions_differ,
)
from plaudit.judge.workers._sympy_objects import UNDECIDED, read_latex

LISTED = (sympy.FiniteSet, sympy.Tuple)
DIGITS = 6  # to which math-verify rounds decimals by default: values that are apart are not equal

# As they were released, by their names in `math_verify.grader`.
RELEASED: dict[str, Callable[..., Any]] = {
    name: getattr(grader, name)
    for name in (
        "sympy_expr_eq",
        "sympy_compare_sets",
        "sympy_deep_compare_set_and_tuple",
        "sympy_solve_and_compare",
        "sympy_symbolic_eq",
    )
}


def expr_eq(
    gold: Any,
    answer: Any,
    float_rounding: int,
    numeric_precision: int,
    allow_set_relation_comp: bool = False,
    strict: bool = True,
) -> bool:
    """Whether two sympy objects are equal, by any of math-verify's rules."""
    if strict and float_rounding == DIGITS:
        if _are_expressions(gold, answer) and gold != answer and never_equal(gold, answer):
            return False
        if isinstance(answer, sympy.Set) and isinstance(gold, (And, *INEQUALITIES)):
            if inequality_differs(gold, answer):
                return False
            gold = _simple_inequality_as_set(gold)
    released = RELEASED["sympy_expr_eq"]
    return bool(
        released(gold, answer, float_rounding, numeric_precision, allow_set_relation_comp, strict)
    )


def _are_expressions(*both: Any) -> bool:
    return all(isinstance(each, (sympy.Expr, sympy.MatrixBase)) for each in both)


def _simple_inequality_as_set(relation: Any) -> Any:
    """The set of `x < 1` and `1 < x < 2`, as sympy would find it; others as they are."""
    parts = relation._unsorted_args if isinstance(relation, And) else [relation]
    rays = [_ray(part) for part in parts]
    if None in rays or len(relation.free_symbols) != 1:
        return relation
    return sympy.Intersection(*rays)


def _ray(relation: Any) -> Any:
    """The set of `x < 1`, where x is a real number; None for what is not as simple."""
    if not isinstance(relation, INEQUALITIES):
        return None
    low, high = relation.lts, relation.gts  # the less side, and the greater one
    is_open = isinstance(relation, STRICT)
    if _is_real_letter(low) and isinstance(high, sympy.Rational):
        return sympy.Interval(-sympy.oo, high, True, is_open)
    if _is_real_letter(high) and isinstance(low, sympy.Rational):
        return sympy.Interval(low, sympy.oo, is_open, True)
    return None


def _is_real_letter(side: Any) -> bool:
    return isinstance(side, sympy.Symbol) and bool(side.is_real)


def compare_sets(gold: Any, answer: Any, float_rounding: int, numeric_precision: int) -> bool:
    """Whether two sets or tuples are equal; anything else is the one element of a set."""
    one, other = (
        each if isinstance(each, (sympy.Set, sympy.Tuple)) else sympy.FiniteSet(each)
        for each in (gold, answer)
    )
    if isinstance(one, sympy.Interval) and isinstance(other, sympy.Interval):
        return bool(grader.sympy_compare_interval(one, other, float_rounding, numeric_precision))
    if one == other:
        return True
    # Elements are mostly quicker to compare than sets are to subtract, and either is enough.
    pairs = _as_members(one, other)
    if pairs is not None:
        try:
            if grader.sympy_deep_compare_set_and_tuple(*pairs, float_rounding, numeric_precision):
                return True
        except Exception:  # it is not equal by this rule, whatever was raised
            pass
    return _same_set(one, other)


def _as_members(one: Any, other: Any) -> tuple[Any, Any] | None:
    """What is compared member by member: finite sets, tuples, and open intervals as pairs."""
    if isinstance(one, LISTED) and isinstance(other, LISTED):
        return one, other
    if _is_open_interval(one) and isinstance(other, LISTED) and len(other) == 2:
        return sympy.Tuple(one.start, one.end), other
    if _is_open_interval(other) and isinstance(one, LISTED) and len(one) == 2:
        return one, sympy.Tuple(other.start, other.end)
    return None


def _is_open_interval(one: Any) -> bool:
    return isinstance(one, sympy.Interval) and bool(one.is_open)


def _same_set(one: Any, other: Any) -> bool:
    """Whether sympy finds nothing that is in one of them alone."""
    if not isinstance(one, sympy.Set) or not isinstance(other, sympy.Set):
        return False
    try:
        return not sets_differ(one, other) and bool(one.symmetric_difference(other).is_empty)
    except Exception:
        return False


def compare_members(gold: Any, answer: Any, float_rounding: int, numeric_precision: int) -> bool:
    """Whether the elements of two finite sets or tuples are equal, in the order that they get."""
    if len(gold) != len(answer):
        return False
    if float_rounding == DIGITS and any(
        all(never_equal(each, other) for other in answer.args) for each in gold.args
    ):
        return False
    released = RELEASED["sympy_deep_compare_set_and_tuple"]
    return bool(released(gold, answer, float_rounding, numeric_precision))


def solve_and_compare(gold: Any, answer: Any, float_rounding: int, numeric_precision: int) -> bool:
    """Whether two relations have the same solutions, as sympy gives them."""
    if solutions_differ(gold, answer):
        return False
    released = RELEASED["sympy_solve_and_compare"]
    return bool(released(gold, answer, float_rounding, numeric_precision))


def symbolic_eq(gold: Any, answer: Any) -> bool:
    """Whether sympy can show that their difference is zero."""
    if clearly_different(gold, answer) or differ_in_digits(gold, answer):
        return False
    return bool(RELEASED["sympy_symbolic_eq"](gold, answer))


FASTER: dict[str, Callable[..., Any]] = {
    "sympy_expr_eq": expr_eq,
    "sympy_compare_sets": compare_sets,
    "sympy_deep_compare_set_and_tuple": compare_members,
    "sympy_solve_and_compare": solve_and_compare,
    "sympy_symbolic_eq": symbolic_eq,
}


def compare_faster() -> None:
    """Put these functions in place of math-verify's own, in this process."""
    for name, function in FASTER.items():
        setattr(grader, name, function)


# --- reading --------------------------------------------------------------------------------------

DECIMAL = re.compile(r"[0-9]*\.[0-9]+")

_create_parser = _Latex2Sympy.create_parser
_parse_number = _Latex2Sympy.parse_number


def speed_up() -> None:
    """Put the faster functions in place of math-verify's own."""
    _Latex2Sympy.create_parser = create_parser
    _Latex2Sympy.parse_number = parse_number
    compare_faster()


def create_parser(converter: Any, latex: str) -> "TwoStageParser":
    """What the converter asks for its tree."""
    return TwoStageParser(converter, latex)


class TwoStageParser:
    """Stands in for an antlr parser: SLL prediction first, and the slower LL where that fails."""

    def __init__(self, converter: Any, latex: str) -> None:
        self._converter = converter
        self._latex = latex

    def math(self) -> Any:
        """The tree of the grammar's start rule."""
        parser = _create_parser(self._converter, self._latex)
        parser._interp.predictionMode = PredictionMode.SLL
        try:
            parser.getTokenStream().fill()  # so that what the lexer does not know is known now
            return parser.math()
        except Exception:
            return _create_parser(self._converter, self._latex).math()


def parse_number(converter: Any, text: str) -> Any:
    """The number that digits are."""
    if text.isascii() and text.isdigit():
        return sympy.Integer(int(text))
    if DECIMAL.fullmatch(text):
        return sympy.Float(text)
    return _parse_number(converter, text)


speed_up()
_parse_with_antlr = parser.parse_latex_cached.__wrapped__
_parse_arithmetic = lru_cache(maxsize=512)(parser.parse_expr_cached.__wrapped__)


def compare(answers: list[Any], golds: list[Any], rule: Rule) -> tuple[Status, str, str]:
    """The status, and what was read as answer and as gold."""
    gold, gold_text = _read(golds, Rule.ANYWHERE)
    if not gold:
        return Status.BAD_GOLD, "", ""
    answer, answer_text = _read(answers, rule)
    if not answer:
        return Status.NO_ANSWER, "", gold_text
    same = any(_same(g, a) for g, a in product(gold, answer))
    return Status.EQUAL if same else Status.DIFFERENT, answer_text, gold_text


def _same(gold: Any, answer: Any) -> bool:
    """What math-verify says. What it cannot compare is different, except where memory ran out."""
    try:
        return bool(grader.verify(gold, answer, timeout_seconds=None, raise_on_error=True))
    except MemoryError:
        raise
    except Exception:
        return False


def _read(candidates: list[Any], rule: Rule) -> tuple[list[Any], str]:
    """What math-verify's `parse` gives: the first candidate that parses, and the first text."""
    text, parsed = "", None
    for candidate in candidates:
        if isinstance(candidate, WrittenNumber) and not candidate.readable:
            return [], ""
        parsed, read = _parse(candidate, rule)
        text = text or read
        if parsed is not None:
            break
    return [found for found in (parsed, text) if found is not None and found != ""], text


def _parse(candidate: Any, rule: Rule) -> tuple[Any, str]:
    match candidate:
        case WrittenNumber(digits, percent):
            sign, digits_alone = (-1, digits[1:]) if digits[0] == "-" else (1, digits)
            number = sign * parse_number(None, digits_alone)
            return convert_to_pct(number) if percent else number, digits
        case Arithmetic(text):
            return _or_none(_parse_arithmetic, text.replace("\n", " ").replace("^", "**")), text
        case Normalised(text, percent):
            return _parse_piece(text, percent), text
        case Latex(pieces):
            texts = [normalise(piece, rule) for piece in pieces]
            return _parse_pieces(pieces, texts)
    raise TypeError(candidate)


def _parse_pieces(pieces: tuple[Piece, ...], texts: list[str]) -> tuple[Any, str]:
    parsed = [_parse_piece(text, piece.percent) for piece, text in zip(pieces, texts, strict=True)]
    if len(parsed) == 1 or any(expression is None for expression in parsed):
        return parsed[0], texts[0]
    elements: list[Any] = []
    for expression in parsed:
        elements += expression.args if isinstance(expression, FiniteSet) else [expression]
    return FiniteSet(*elements), " and ".join(texts)


def _parse_piece(text: str, percent: bool) -> Any:
    parsed = _or_none(_parse_latex, text)
    return _or_none(convert_to_pct, parsed) if percent and parsed is not None else parsed


@lru_cache(maxsize=2048)
def _parse_latex(text: str) -> Any:
    parsed = read_latex(text)
    return _parse_with_antlr(text) if parsed is UNDECIDED else parsed


def _or_none(parse: Any, value: Any) -> Any:
    """None if math-verify's parser gives up: it raises anything from Exception to KeyError."""
    try:
        return parse(value)
    except MemoryError:
        raise
    except Exception:
        return None


def warm_up() -> None:
    """Have sympy's caches filled before workers are forked; antlr's tables can wait."""
    for latex in MOST_OFTEN:
        _or_none(_parse_latex, latex)
    _compare_normalised("(x+1)^2", "x^2 + 2x + 1")
    _compare_normalised("(-15, 40)", "-15 < x < 40")


def _prepare() -> Iterator[bool]:
    """More of the same, a step at a time, for a worker that has nothing to do; and what antlr needs
    for the few texts that the reader leaves to it."""
    for answer, gold in ALSO:
        _compare_normalised(answer, gold)
        yield True
    for latex in (*MOST_OFTEN, *FOR_ANTLR):
        _or_none(_parse_with_antlr, latex)
        yield True


def _compare_normalised(answer: str, gold: str) -> None:
    compare([Normalised(answer, percent=False)], [Normalised(gold, percent=False)], Rule.LATEX)


preparations = _prepare()

# Less than a second's worth, of the kinds that come most often.
MOST_OFTEN = (
    r"x^2 + 3x - \frac{1}{2}",
    r"-\frac{3\sqrt{5}}{2}\pi + 2(x+1)(y-2)",
    r"(1, 2) \cup [3, \infty)",
    r"\{1, 2, 3\}",
    r"(1, 2), (3, 4), (-5, \frac{1}{2})",
    r"y = 2x + 3",
    r"f(x) = x + 1",
    r"1 < x \leq 2",
    r"\sin^2 \theta + \cos \frac{\pi}{3}",
    r"\text{even}",
    r"50\%",
    r"-14\sin 13x",
    r"4.25 \times 10^{-15}",
    r"(k, 6)",
    r"31_7",
)
FOR_ANTLR = (r"\int_0^1 x^2 dx", r"\lim_{x \to 0} \frac{x}{2}", r"2 \gamma x", r"\|x\| = 1")
ALSO = (  # the first are equal, or nearly so: sympy has to simplify, to solve and to subtract
    (r"\sin^2 x + \cos^2 x", "1"),
    (r"\frac{1 - e^{-2x}}{x}", r"\frac{1}{x} - \frac{e^{-2x}}{x}"),
    (r"2x + 2y = 4", r"x + y = 2"),
    (r"4 - x^2 > 0", r"x^2 < 4"),
    (r"(-2, 2)", r"x^2 < 4"),
    (r"\{\frac{\pi}{6}, \frac{1}{4}\pi\}", r"\frac{1}{6}\pi, \frac{\pi}{4}"),
    (r"(1, 2) \cup (2, 3)", r"(2, 3) \cup (1, 2)"),
    (r"x \in (-1, 7)", r"-1 < x < 7"),
    (r"2x - y + 7 = 0", r"y = 2x + 7"),
    (r"[2, \infty)", r"[2, 12)"),
    (r"(-\infty, -1] \cup (2, 3]", r"x \leq -1"),
    (r"x \in (-1, 2] \cup [3, 5)", r"(-1, 2] \cup [3, 5)"),
    (r"\frac{2}{3}", r"-0.5 + x"),
    (r"\sqrt[3]{2} + 2^{\frac{1}{3}}", r"\sqrt{x + 1}"),
    (r"\frac{x+1}{x-2}", r"1 + \frac{3}{x-2}"),
    (
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        r"\begin{bmatrix} 1 & 2 \\ 3 & 5 \end{bmatrix}",
    ),
    (r"x = 1, y = -2", r"(1, -2)"),
    (r"3 \pm 2\sqrt{2}", r"3 + 2\sqrt{2}, 3 - 2\sqrt{2}"),
    (r"a_{n+1} + b_1", r"2a_n"),
    (r"\log_2 3 + \ln x", r"e^{2x}"),
    (r"3^{m-k}", r"\binom{n}{k}"),
    (r"n! + 1", r"|x| + \lfloor y \rfloor"),
    (r"12 + 13i", r"13i + 12"),
    (r"\sin(2x) + \tan x", r"2 \sin x \cos x"),
    (r"\frac{3\pi}{\phi}", r"90^\circ"),
    (r"4095_{10}", r"77"),
    (r"\sqrt 6", r"\frac12"),
    (r"f(x) = 2x", r"f(x) = x^2 + 1"),
    (r"x^2 + y^2 = 1", r"(x-1)^2 + y^2 = 4"),
    (r"x^{2} + y^{2} = 49", r"x^{2} = 36 - y^2"),
    (r"14\sin 13x", r"-16 \cos 11x + \tan(2x)"),
    (
        r"\begin{pmatrix} -3 \\ 14 \end{pmatrix}",
        r"\begin{bmatrix} -17 & -4 \\ -8 & x \end{bmatrix}",
    ),
    (r"31_7", r"x \in [21, 37)"),
    (r"(k, 6)", r"\left( x, y \right)"),
    (r"\frac{n(n+1)}{2}", r"\frac{x^2-1}{x+1}"),
    (r"\{(1, 2), (3, 4)\}", r"(1, 2), (3, 4)"),
    (r"\sin(\frac{\pi}{7})^2", r"\frac{\cos^2(2\pi/7)}{8}"),
    (r"4.25 \times 10^{-15}", r"3.1 \cdot 10^5"),
    (r"\arctan\left(\frac{1}{2}\right)", r"\log_{3} 5"),
    (r"e^{2\pi i}", r"\angle ABC = 30^\circ"),
    (r"y^2 = 4x", r"a_n = 2n + 1"),
    (r"\frac{x^{2}}{4} + \frac{y^{2}}{3} = 1", r"\frac{x^2}{9} - \frac{y^2}{4} = 1"),
    (r"|x-1| \le 3", r"x \neq \frac{3}{11}"),
    (r"\int_0^1 x dx", r"\sum_{k=1}^{n} k"),
    (r"2n\pi + \frac{\pi}{4}, n \in \mathbb{Z}", r"\max(a, b)"),
)
