"""The tree of an expression -> the sympy object that latex2sympy2 makes of it.

The operations are latex2sympy2's, one by one and in its order, with its own methods wherever these
take objects: what is evaluated there is evaluated here, and what is not there is not here.
"""

from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended.latex2sympy2 import _Latex2Sympy, convert_to_pct
from latex2sympy2_extended.symbols import get_symbol
from sympy.functions.elementary import hyperbolic, trigonometric

from plaudit.judge.workers.latex._expressions import Tree
from plaudit.judge.workers.latex._tokens import LatexError, UndecidedError

TRIGONOMETRIC = ("sin", "cos", "tan", "csc", "sec", "cot")
HYPERBOLIC = ("sinh", "cosh", "tanh")
INVERSES = {
    **{f"arc{name}": getattr(trigonometric, f"a{name}") for name in TRIGONOMETRIC},
    **{f"{arc}{n}": getattr(hyperbolic, f"a{n}") for arc in ("ar", "arc") for n in HYPERBOLIC},
}
_symbol = lru_cache(maxsize=4096)(get_symbol)


def is_matrix(value: Any) -> bool:
    return bool(getattr(value, "is_Matrix", False))


class Values:
    """Makes objects of one text's tree. `real` says whether its letters are real numbers."""

    def __init__(self, real: bool) -> None:
        self._real = real
        self._library = _Latex2Sympy(None, real, False)

    def of_text(self, text: str) -> Any:
        """The object of a function's argument, which is parsed as an answer of its own."""
        raise NotImplementedError

    def of(self, tree: Tree) -> Any:
        """The object of an expression."""
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
    "number": Values._number,
    "power of ten": Values._number,
    "percent": Values._percent,
    "infinity": Values._infinity,
    "E": Values._capital_e,
    "differential": Values._differential,
    "symbol": Values._symbol,
    "+": Values._add,
    "-": Values._subtract,
    "negative": Values._negative,
    "*": Values._multiply,
    "/": Values._divide,
    "frac": Values._divide,
    "derivative": Values._derivative,
    "mod": Values._mod,
    "side by side": Values._side_by_side,
    "power": Values._power,
    "!": Values._factorial,
    "transpose": Values._transpose,
    "abs": Values._abs,
    "floor": Values._floor,
    "ceil": Values._ceil,
    "dot product": Values._dot_product,
    "binom": Values._binomial,
    "matrix": Values._matrix,
    "sqrt": Values._sqrt,
    "e": Values._exponential,
    "function": Values._function,
    "sum": Values._sum,
    "function of many": Values._function_of_many,
    "call": Values._call,
}
