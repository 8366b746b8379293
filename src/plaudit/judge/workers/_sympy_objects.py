"""A tree of `_latex_tree` -> the sympy object that latex2sympy2 makes of its text.

The operations are latex2sympy2's, one by one and in its order, with its own methods wherever these
take objects: what is evaluated there is evaluated here, and what is not there is not here. What the
tree's reader does not know for sure is left to latex2sympy2 itself: it never guesses.
"""

from functools import lru_cache
from typing import Any, Final

import sympy
from latex2sympy2_extended.latex2sympy2 import (
    _Latex2Sympy,
    comma_number_regex,
    convert_number,
    convert_to_pct,
    is_expr_of_only_symbols,
)
from latex2sympy2_extended.logic import And
from latex2sympy2_extended.sets import FiniteSet
from latex2sympy2_extended.symbols import get_symbol
from math_verify.grader import should_treat_as_complex
from math_verify.parser import get_last_eq
from sympy.core.relational import Relational
from sympy.functions.elementary import hyperbolic, trigonometric

from plaudit.judge._latex_tokens import LatexError, UndecidedError
from plaudit.judge._latex_tree import Tree, tree_of

UNDECIDED: Final = object()
RELATIONS = {
    "<": sympy.StrictLessThan,
    "<=": sympy.LessThan,
    ">": sympy.StrictGreaterThan,
    ">=": sympy.GreaterThan,
    "=": sympy.Eq,
    "==": sympy.Eq,
    "!=": sympy.Ne,
}
SETS = {
    "N": sympy.S.Naturals,
    "Z": sympy.S.Integers,
    "Q": sympy.S.Rationals,
    "R": sympy.S.Reals,
    "C": sympy.S.Complexes,
}
SETS.update(zip("ℕℤℚℝℂ", list(SETS.values()), strict=True))
SET_KINDS = {"empty", "set", "interval", "tuple", "finite set"}
TRIGONOMETRIC = ("sin", "cos", "tan", "csc", "sec", "cot")
HYPERBOLIC = ("sinh", "cosh", "tanh")
INVERSES = {
    **{f"arc{name}": getattr(trigonometric, f"a{name}") for name in TRIGONOMETRIC},
    **{f"{arc}{n}": getattr(hyperbolic, f"a{n}") for arc in ("ar", "arc") for n in HYPERBOLIC},
}
_symbol = lru_cache(maxsize=4096)(get_symbol)


def read_latex(text: str) -> Any:
    """Return what math-verify parses a text as, or UNDECIDED. It raises if math-verify does."""
    try:
        try:
            return _read(text)
        except UndecidedError:
            raise
        except Exception:
            last = get_last_eq(text)
            if last == text:
                raise
            return _read(last)
    except UndecidedError:
        return UNDECIDED


def _read(text: str) -> Any:
    return Objects(real=not should_treat_as_complex(text)).of_text(text)


def is_matrix(value: Any) -> bool:
    return bool(getattr(value, "is_Matrix", False))


class Objects:
    """Makes the object of one text's tree. `real` says whether its letters are real numbers."""

    def __init__(self, real: bool) -> None:
        self._real = real
        self._library = _Latex2Sympy(None, real, False)

    def of_text(self, text: str) -> Any:
        """Return the object of a text, or of a function's argument as text."""
        kind, *parts = tree_of(text)
        if kind == "elements" and comma_number_regex.match(text):
            return convert_number(text)
        return self._answer(kind, parts)

    def _answer(self, kind: str, parts: list[Any]) -> Any:
        match kind:
            case "elements":
                return self._set_or_tuple(parts[0])
            case "is":
                elements = self._set_or_tuple(parts[1])
                return sympy.Eq(self._symbols(parts[0]), elements, evaluate=False)
            case "set is":
                return self._set_relation(*parts)
        return self._set((kind, *parts))

    def _set_relation(self, sign: str, symbols: Tree, tree: Tree) -> Any:
        left = self._symbols(symbols)
        kind, *parts = tree
        right = self._answer(kind, parts)
        related = sympy.Eq(left, right, evaluate=False)
        if sign == "notin":
            (sympy.S.Reals if self._real else sympy.S.Complexes) - right  # which may raise
            return sympy.Not(related, evaluate=False)
        return related

    def _symbols(self, tree: Tree) -> Any:
        symbols = [self.of(symbol) for symbol in tree[1]]
        return symbols[0] if len(symbols) == 1 else sympy.Tuple(*symbols)

    def _set_or_tuple(self, rows: list[list[Tree]]) -> Any:
        return self._library.convert_elements_to_set_or_tuple(self._rows(rows))

    def _rows(self, rows: list[list[Tree]]) -> list[list[Any]]:
        return [[value for tree in row for value in self._element(tree)] for row in rows]

    def _element(self, tree: Tree) -> list[Any]:
        kind = tree[0]
        if kind == "plus-minus":
            return self._plus_minus(*tree[1:])
        if kind in SET_KINDS:
            return [self._set(tree)]
        return [self._relation(tree)]

    def _plus_minus(self, left: Tree | None, right: Tree) -> list[Any]:
        unary_minus = self._library.as_unary_minus
        if left is None:
            value = self.of(right)
            return [unary_minus(value), value]
        low, high = self.of(left), self.of(right)
        return [
            sympy.Add(low, high, evaluate=False),
            sympy.Add(low, unary_minus(high), evaluate=False),
        ]

    def _relation(self, tree: Tree) -> Any:
        if tree[0] != "relation":
            return self.of(tree)
        _, sign, left_tree, right_tree = tree
        left, right = self._relation(left_tree), self.of(right_tree)
        if sign == "approx":
            if not is_expr_of_only_symbols(left):
                return left
            if is_matrix(right):
                raise UndecidedError
            return right
        relation = RELATIONS[sign]
        if isinstance(left, And):
            last = left._unsorted_args[-1].rhs
            return And(*left._unsorted_args, relation(last, right, evaluate=False))
        if isinstance(left, Relational):
            return And(left, relation(left.rhs, right, evaluate=False))
        return relation(left, right, evaluate=False)

    def _set(self, tree: Tree) -> Any:
        match tree:
            case ("empty", _):
                return sympy.S.EmptySet
            case ("set", text):
                name = text[-2] if len(text) > 1 else text
                if name not in SETS:
                    raise LatexError
                return SETS[name]
            case ("interval", low, high, left_open, right_open):
                return self._interval(self.of(low), self.of(high), left_open, right_open)
            case ("tuple", rows):
                elements = self._rows(rows)
                if len(elements) == 1 and len(elements[0]) == 1:
                    return elements[0][0]
                return sympy.Tuple(*(value for row in elements for value in row))
            case ("finite set", rows):
                return FiniteSet(*(value for row in self._rows(rows) for value in row))
            case ("setminus", left, right):
                return sympy.Complement(self._set(left), self._set(right), evaluate=False)
        kind, left, right = tree
        sets = [self._set(part) for part in (left, right)]
        sets = [FiniteSet(*one) if isinstance(one, sympy.Tuple) else one for one in sets]
        operation = sympy.Union if kind == "union" else sympy.Intersection
        return operation(*sets, evaluate=False)

    def _interval(self, low: Any, high: Any, left_open: bool, right_open: bool) -> Any:
        """What has no inside is a pair."""
        try:
            if left_open == right_open and (high <= low if left_open else high < low):
                return sympy.Tuple(low, high)
        except Exception:  # as latex2sympy2 has it: what cannot be compared is an interval
            pass
        return sympy.Interval(low, high, left_open=left_open, right_open=right_open)

    def of(self, tree: Tree) -> Any:
        """Return the object of an expression."""
        return MAKERS[tree[0]](self, *tree[1:])

    def _number(self, text: str) -> Any:
        return self._library.parse_number(text)

    def _percent(self, text: str) -> Any:
        return convert_to_pct(self._number(text.replace("\\%", "").replace("%", "")))

    def _infinity(self, text: str) -> Any:
        return sympy.oo

    def _capital_e(self, text: str) -> Any:
        return self._library.create_symbol("E")

    def _differential(self, text: str) -> Any:
        name = self._library.get_differential_var_str(text)
        return sympy.Symbol(f"d{name}", real=self._real)

    def _symbol(self, name: str, below: str, above: Tree | None) -> Any:
        if name == "I":
            return sympy.I  # whatever its scripts
        if name[-1] == "}":
            name = _accented(name)
        if below:
            below = f"_{{{below}}}" if len(below) > 1 else f"_{below}"
        symbol = _symbol(name.strip() + below, self._real, True)
        return symbol if above is None else sympy.Pow(symbol, self.of(above), evaluate=False)

    def _add(self, left_tree: Tree, right_tree: Tree) -> Any:
        left, right = self.of(left_tree), self.of(right_tree)
        if is_matrix(left) or is_matrix(right):
            return self._library.mat_add_flat(left, right)
        return self._library.add_flat(left, right)

    def _subtract(self, left_tree: Tree, right_tree: Tree) -> Any:
        left, right = self.of(left_tree), self.of(right_tree)
        library = self._library
        if is_matrix(left) or is_matrix(right):
            return library.mat_add_flat(left, library.mat_mul_flat(-1, right))
        right = -right if right.func.is_Number else library.mul_flat(-1, right)
        return library.add_flat(left, right)

    def _negative(self, tree: Tree) -> Any:
        value = self.of(tree)
        if is_matrix(value):
            return self._library.mat_mul_flat(-1, value)
        return -value if value.is_Number else self._library.mul_flat(-1, value)

    def _multiply(self, left_tree: Tree, right_tree: Tree) -> Any:
        return self._product(self.of(left_tree), self.of(right_tree))

    def _product(self, left: Any, right: Any) -> Any:
        if is_matrix(left) or is_matrix(right):
            return self._library.mat_mul_flat(left, right)
        return self._library.mul_flat(left, right)

    def _divide(self, above_tree: Tree, below_tree: Tree) -> Any:
        above, below = self.of(above_tree), self.of(below_tree)
        if is_matrix(above) or is_matrix(below):
            return sympy.MatMul(above, sympy.Pow(below, -1, evaluate=False), evaluate=False)
        if above.is_Integer and below.is_Integer:
            return sympy.Rational(above, below)
        return sympy.Mul(above, sympy.Pow(below, -1, evaluate=False), evaluate=False)

    def _derivative(self, above: Tree, below: Tree, derived: str, differential: str) -> Any:
        if derived.startswith("d"):
            variable = self._library.get_differential_var_str(differential)
            value = self.of_text(derived[1:])
            if value:
                return sympy.Derivative(
                    value, self._library.create_symbol(variable, enforce_case=True)
                )
        return self._divide(above, below)

    def _mod(self, left_tree: Tree, right_tree: Tree) -> Any:
        left, right = self.of(left_tree), self.of(right_tree)
        if is_matrix(right):
            raise LatexError
        return sympy.Mod(left, right, evaluate=False)

    def _side_by_side(self, trees: list[Tree]) -> Any:
        """A product, from the right; a whole number and a fraction are a mixed number."""
        *values, right = map(self.of, trees)
        for left in reversed(values):
            matrices = is_matrix(left) or is_matrix(right)
            if not matrices and left.is_Integer and right.is_Rational and right.p > 0:
                whole = left * right.q
                right = sympy.Rational(whole - right.p if left < 0 else whole + right.p, right.q)
            else:
                right = self._product(left, right)
        return right

    def _power(self, base: Tree, exponent: Tree) -> Any:
        return sympy.Pow(self.of(base), self.of(exponent), evaluate=False)

    def _factorial(self, tree: Tree) -> Any:
        return sympy.factorial(self.of(tree), evaluate=False)

    def _transpose(self, tree: Tree) -> Any:
        value = self.of(tree)
        try:
            return value.T
        except Exception:  # as latex2sympy2 has it
            return sympy.transpose(value)

    def _abs(self, tree: Tree) -> Any:
        return sympy.Abs(self.of(tree), evaluate=False)

    def _floor(self, tree: Tree) -> Any:
        return self._library.handle_floor(self.of(tree))

    def _ceil(self, tree: Tree) -> Any:
        return self._library.handle_ceil(self.of(tree))

    def _dot_product(self, tree: Tree) -> Any:
        raise UndecidedError  # latex2sympy2 makes nothing of it

    def _binomial(self, above: Tree, below: Tree) -> Any:
        return sympy.binomial(self.of(above), self.of(below))

    def _matrix(self, rows: list[list[Tree]]) -> Any:
        return sympy.Matrix([[self.of(tree) for tree in row] for row in rows])

    def _sqrt(self, tree: Tree, root: Tree | None) -> Any:
        value = self.of(tree)
        exponent = sympy.S.Half if root is None else 1 / self.of(root)
        return sympy.Pow(value, exponent, evaluate=False)

    def _exponential(self, above: Tree | None) -> Any:
        return sympy.exp(1 if above is None else self.of(above))

    def _function(self, name: str, tree: Tree, below: Tree | None, above: Tree | None) -> Any:
        argument = self.of(tree)
        power = None if above is None else self.of(above)
        if name in INVERSES:
            value = INVERSES[name](argument, evaluate=False)
        elif name in ("log", "ln"):
            base = self.of(below) if below else 10 if name == "log" else sympy.E
            value = sympy.log(argument, base, evaluate=False)
        elif name == "exp":
            value = sympy.exp(argument, evaluate=False)
        elif name in ("floor", "ceil"):
            rounding = self._library.handle_floor if name == "floor" else self._library.handle_ceil
            value = rounding(argument)
        elif name == "det":
            value = argument.det()
        else:
            if power == -1:
                name, power = f"a{name}", None
            module = trigonometric if name.removeprefix("a") in TRIGONOMETRIC else hyperbolic
            value = getattr(module, name)(argument, evaluate=False)
        return sympy.Pow(value, power, evaluate=False) if power else value

    def _sum(self, name: str, tree: Tree, variable: Tree, first: Tree, last: Tree) -> Any:
        value = self.of(tree)
        limits = self.of(variable), self.of(first), self.of(last)
        return (sympy.Sum if name == "sum" else sympy.Product)(value, limits)

    def _function_of_many(self, name: str, arguments: str, above: Tree | None) -> Any:
        values = [self.of_text(argument) for argument in arguments.split(",")]
        if name in ("gcd", "lcm"):
            value = self._library.handle_gcd_lcm(name, values)
        else:
            value = (sympy.Max if name == "max" else sympy.Min)(*values, evaluate=False)
        power = None if above is None else self.of(above)
        return sympy.Pow(value, power, evaluate=False) if power else value

    def _call(self, name: str, arguments: str, above: Tree | None) -> Any:
        texts = arguments.split(",")
        values = [self.of_text(text) for text in (texts[:-1] if texts[-1] == "" else texts)]
        value = sympy.Function(name)(*values)
        return value if above is None else sympy.Pow(value, self.of(above), evaluate=False)


def _accented(text: str) -> str:
    """The name of a symbol with an accent, or of a word."""
    start = text.index("{")
    accent, inside = text[1:start], text[start + 1 : -1].replace(" ", "")
    if accent in ("bar", "overline"):
        accent = "bar"
    elif accent in ("vec", "overrightarrow"):
        accent = "vec"
    elif accent in ("tilde", "widetilde"):
        accent = "tilde"
    elif "text" in accent or "mbox" in accent:
        return inside.replace("(", "").replace(")", "")
    elif "math" in accent:
        accent = "math"
    return f"{accent}{{{inside}}}"


MAKERS: dict[str, Any] = {
    "number": Objects._number,
    "power of ten": Objects._number,
    "percent": Objects._percent,
    "infinity": Objects._infinity,
    "E": Objects._capital_e,
    "differential": Objects._differential,
    "symbol": Objects._symbol,
    "+": Objects._add,
    "-": Objects._subtract,
    "negative": Objects._negative,
    "*": Objects._multiply,
    "/": Objects._divide,
    "frac": Objects._divide,
    "derivative": Objects._derivative,
    "mod": Objects._mod,
    "side by side": Objects._side_by_side,
    "power": Objects._power,
    "!": Objects._factorial,
    "transpose": Objects._transpose,
    "abs": Objects._abs,
    "floor": Objects._floor,
    "ceil": Objects._ceil,
    "dot product": Objects._dot_product,
    "binom": Objects._binomial,
    "matrix": Objects._matrix,
    "sqrt": Objects._sqrt,
    "e": Objects._exponential,
    "function": Objects._function,
    "sum": Objects._sum,
    "function of many": Objects._function_of_many,
    "call": Objects._call,
}
