r"""LaTeX in normal form -> its tree, as latex2sympy2's grammar builds it.

    x + \frac{1}{2}   ("elements", [[("+", ("symbol", "x", "", None), ("frac", …, …))]])

A tree is a tuple: what it is, then its parts. `_algebra` makes polynomials of trees in the caller's
process, and `workers` makes sympy objects of them.

That grammar is ambiguous, and antlr takes the first alternative with which the whole text can be
parsed: it goes on with what it is in wherever it can. So `x(y)` is a function if its argument is
one atom, `\sin x \cdot y` is the sine of a product, and `\sqrt` ends the argument of a sine. Parts
of the grammar that answers do not use, and scripts on scripts, are left undecided.
"""

from itertools import pairwise
from typing import Any, NamedTuple

from plaudit.judge._latex_tokens import (
    GROUPS,
    MATRICES,
    PRODUCTS,
    RELATIONS,
    WRAPPERS,
    LatexError,
    UndecidedError,
    pairs_of,
    tokens_of,
)

Tree = tuple[Any, ...]


def tree_of(text: str) -> Tree:
    """Return the tree of a text; LatexError if latex2sympy2 raises for it, whichever error."""
    try:
        return AnswerParser(text).answer()
    except (LatexError, UndecidedError):
        raise
    except Exception as error:  # a fault of the reader's, not of the text
        raise UndecidedError from error


# Well below where antlr runs out of Python's stack.
MOST_FUNCTIONS = 10
MOST_SIGNS = 10  # in a row
LONGEST = 400  # tokens
ATOMS = {
    "symbol", "number", "power of ten", "percent", "infinity", "E", "differential",
}  # fmt: skip
FUNCTIONS = {"function", "functions", "sqrt", "sum", "e"}
OPERANDS = {*ATOMS, *GROUPS, *WRAPPERS, *MATRICES, "frac", "binom"}  # but for functions

SET_OPERATIONS = ("setminus", "union", "intersection")  # what binds less comes first
SETS_ALONE = {*SET_OPERATIONS, "notin"}
ENDS = {"(": ")", "[": "]", r"\(": r"\)", r"\lbrack": r"\rbrack", r"\lgroup": r"\rgroup"}
OPEN_ENDS = {"(", ")", r"\(", r"\)", r"\lgroup", r"\rgroup"}
TUPLES = {"(": ")", "[": "]", r"\(": r"\)"}
SETS = {"{": "}", r"\{": r"\}"}


class Script(NamedTuple):
    """A subscript or superscript."""

    tree: Tree
    text: str
    bare: str  # the kind of its token; "" where it stands in braces
    end: int  # the index after it


class ExpressionParser:
    """Recursive descent over the tokens of one text, for expressions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds, self.texts, self.starts = tokens_of(text)
        functions = self.kinds.count("function") + self.kinds.count("sum")
        if "unknown" in self.kinds or len(self.kinds) > LONGEST or functions > MOST_FUNCTIONS:
            raise UndecidedError
        if "misplaced" in self.kinds:
            raise LatexError
        self.end = len(self.kinds)
        self.kinds.append("end")
        self.pair = pairs_of(self.kinds)
        self.at = 0

    def expression_in(self, start: int, end: int) -> Tree:
        """The tree of the tokens from `start` to before `end`."""
        self.at = start
        tree = self.expression()
        if self.at != end:
            raise LatexError
        return tree

    def expression(self) -> Tree:
        tree = self._product(True)
        while (kind := self.kinds[self.at]) in ("+", "-"):
            self.at += 1
            tree = (kind, tree, self._product(True))
        return tree

    def _product(self, functions: bool) -> Tree:
        """Without `functions`: the argument of a function that stands without parentheses."""
        tree = self._signed(functions)
        while (kind := self.kinds[self.at]) in PRODUCTS:
            self.at += 1
            tree = (kind, tree, self._signed(functions))
        return tree

    def _signed(self, functions: bool) -> Tree:
        kind = self.kinds[self.at]
        if kind in ("+", "-"):
            if {"+", "-"}.issuperset(self.kinds[self.at : self.at + MOST_SIGNS]):
                raise UndecidedError
            self.at += 1
            tree = self._signed(functions)
            return tree if kind == "+" else ("negative", tree)
        factors = [self._factor(True)]
        while (kind := self.kinds[self.at]) in OPERANDS or (functions and kind in FUNCTIONS):
            if kind == "symbol" and not functions and self._is_call_of_many():
                break
            factors.append(self._factor(functions))
        return factors[0] if len(factors) == 1 else ("side by side", factors)

    def _factor(self, functions: bool) -> Tree:
        """A power, with factorial signs and the like after it."""
        tree = self._power(functions)
        while (kind := self.kinds[self.at]) in ("!", "transpose", "degree"):
            self.at += 1
            if kind != "degree":  # math-verify leaves degrees as they are
                tree = (kind, tree)
        return tree

    def _power(self, functions: bool) -> Tree:
        tree = self._base(functions)
        while self.kinds[self.at] == "^":
            tree = ("power", tree, self._exponent())
        return tree

    def _exponent(self) -> Tree:
        self.at += 1
        tree = self._braced() if self.kinds[self.at] == "{" else self.atom()
        if self.kinds[self.at] == "_":
            raise UndecidedError
        return tree

    def _base(self, functions: bool) -> Tree:
        kind = self.kinds[self.at]
        if kind == "symbol":
            return self._symbol_or_call() if functions else self.atom()
        if kind in ATOMS:
            return self.atom()
        if kind in GROUPS:
            return self._group(GROUPS[kind])
        if kind in WRAPPERS:
            what, closing = WRAPPERS[kind]
            return (what, self._group(closing))
        if kind in ("frac", "binom"):
            return self._fraction(kind)
        if kind in MATRICES:
            return self._matrix()
        if kind in FUNCTIONS:
            return self._function(kind)
        raise LatexError

    def _fraction(self, kind: str) -> Tree:
        """Two expressions in braces; or a derivative, where `dx` and the like stands below."""
        self.at += 1
        start = self.at
        above = self._braced()
        middle = self.at
        below = self._braced()
        differential = self.at == middle + 3 and self.kinds[middle + 1] == "differential"
        if kind == "binom" or not differential:
            return (kind, above, below)
        last = middle - 2
        if self.texts[start + 1 : middle - 1] == ["d"]:
            raise UndecidedError
        derived = self.text[self.starts[start + 1] : self.starts[last] + len(self.texts[last])]
        return ("derivative", above, below, derived, self.texts[middle + 1])

    def _group(self, closing: str) -> Tree:
        """What stands in brackets."""
        end = self.pair[self.at]
        if self.kinds[end] != closing:
            raise LatexError
        tree = self.expression_in(self.at + 1, end)
        self.at = end + 1
        return tree

    def _braced(self) -> Tree:
        if self.kinds[self.at] != "{":
            raise LatexError
        return self._group("}")

    def atom(self) -> Tree:
        """A number, a symbol or the like, with its scripts."""
        kind, text = self.kinds[self.at], self.texts[self.at] if self.at < self.end else ""
        if kind == "symbol":
            return self.symbol()
        if kind not in ATOMS:
            raise LatexError
        self.at += 1
        if kind == "number" and self.kinds[self.at] == "_":  # which is ignored
            base = self.script().bare
            if self.kinds[self.at] == "_" or (base == "symbol" and self.kinds[self.at] == "^"):
                raise UndecidedError
        return (kind, text)

    def symbol(self) -> Tree:
        """A symbol with a subscript and a superscript, in either order."""
        return _symbol(self.texts[self.at], self._scripts())

    def _scripts(self) -> dict[str, Script]:
        """Those of the symbol here, by `_` and `^`, in their order."""
        self.at += 1
        scripts: dict[str, Script] = {}
        while (mark := self.kinds[self.at]) in ("^", "_"):
            if mark in scripts:
                if mark == "_" or any(script.bare == "symbol" for script in scripts.values()):
                    raise UndecidedError
                break  # a power of this
            scripts[mark] = self.script()
        return scripts

    def script(self) -> Script:
        """A subscript or superscript: an atom without scripts of its own, or braces."""
        below = self.kinds[self.at] == "_"
        self.at += 1
        start, kind = self.at, self.kinds[self.at]
        if kind == "{":
            tree = self._subscript() if below else self._braced()
            text = "".join(self.texts[start + 1 : self.at - 1])
            return Script(tree, text.strip(), "", self.at)
        if kind not in ATOMS:
            raise LatexError
        self.at += 1
        text = self.texts[start]
        tree = _symbol(text, {}) if kind == "symbol" else (kind, text)
        return Script(tree, text.strip(), kind, self.at)

    def _subscript(self) -> Tree:
        """An expression in braces, or some with commas between them."""
        end = self.pair[self.at]
        if self.kinds[end] != "}":
            raise LatexError
        trees = self._comma_separated(self.at + 1, end)
        self.at = end + 1
        return trees[0] if len(trees) == 1 else ("list", trees)

    def _comma_separated(self, start: int, end: int) -> list[Tree]:
        self.at = start
        trees = [self.expression()]
        while self.kinds[self.at] == ",":
            self.at += 1
            trees.append(self.expression())
        if self.at != end:
            raise LatexError
        return trees

    def _symbol_or_call(self) -> Tree:
        """A symbol; or a function, where one atom or a list stands in brackets after it."""
        start = self.at
        scripts = self._scripts()
        after, opening = self.at, self._opening_of_arguments()
        if not opening:
            return _symbol(self.texts[start], scripts)
        end = self.pair[opening]
        if self.kinds[end] != GROUPS[self.kinds[opening]]:
            raise LatexError
        if not self._are_arguments(opening + 1, end):
            self.at = after
            return _symbol(self.texts[start], scripts)
        if len(scripts) > 1 and (list(scripts) != ["_", "^"] or scripts["_"].bare == "symbol"):
            raise UndecidedError
        self.at = end + 1 + opening - after  # and the brace, where one is around the brackets
        name = "".join(self.texts[start : scripts["_"].end if "_" in scripts else start + 1])
        above = scripts["^"].tree if "^" in scripts else None
        return ("call", name, "".join(self.texts[opening + 1 : end]), above)

    def _opening_of_arguments(self) -> int:
        """Where the bracket is that could hold the arguments of the symbol before; 0 for none."""
        opening = self.at
        if self.kinds[opening] == "{" and self.kinds[opening + 1] in ("(", "["):
            opening += 1
            if self.pair[opening] + 1 != self.pair[opening - 1]:
                return 0
        return opening if self.kinds[opening] in ("(", "[") else 0

    def _is_call_of_many(self) -> bool:
        """Whether a symbol can only be a function: what stands in brackets after it is a list."""
        start = self.at
        self.symbol()
        opening, self.at = self._opening_of_arguments(), start
        return bool(opening) and "," in self.top_level(opening + 1, self.pair[opening])

    def _are_arguments(self, start: int, end: int) -> bool:
        """Whether tokens in brackets are one atom, or a list, whose last comma may end it."""
        self.at = start
        commas = self.top_level(start, end).count(",")
        if commas:
            if commas == 1 and self.kinds[end - 1] == ",":
                self.expression_in(start, end - 1)
            else:
                self._comma_separated(start, end)
            return True
        try:
            self.atom()
        except LatexError:
            return False
        return self.at == end

    def top_level(self, start: int, end: int) -> list[str]:
        """The kinds of the tokens that stand in no bracket but those around them all."""
        return [self.kinds[index] for index in self.top_indices(start, end)]

    def top_indices(self, start: int, end: int) -> list[int]:
        indices = []
        while start < end:
            indices.append(start)
            start = self.pair.get(start, start) + 1
        return indices

    def _function(self, kind: str) -> Tree:
        name = self.texts[self.at][1:]
        self.at += 1
        if kind == "sqrt":
            root = self._group("]") if self.kinds[self.at] == "[" else None
            return ("sqrt", self._braced(), root)
        if kind == "e":
            if self.kinds[self.at] != "^":
                return ("e", None)
            return ("e", self._exponent())
        if kind == "sum":
            return self._sum(name)
        scripts: dict[str, Script] = {}
        bare = ""  # the last script may take the next one for its own
        while (mark := self.kinds[self.at]) in ("^", "_"):
            if mark in scripts or bare == "symbol" or (bare == "number" and mark == "_"):
                raise UndecidedError
            scripts[mark] = self.script()
            bare = scripts[mark].bare
        below, above = (scripts[mark].tree if mark in scripts else None for mark in "_^")
        if kind == "functions":
            return self._function_of_many(name, above)
        in_parentheses = self.kinds[self.at] == "("
        argument = self._group(")") if in_parentheses else self._product(False)
        return ("function", name, argument, below, above)

    def _sum(self, name: str) -> Tree:
        """A sum or a product, with its limits in either order."""
        if self.kinds[self.at] == "_":
            variable, first = self._lower_limit()
            if self.kinds[self.at] != "^":
                raise LatexError
            last = self._exponent()
        elif self.kinds[self.at] == "^":
            last = self.script().tree
            variable, first = self._lower_limit()
        else:
            raise LatexError
        return ("sum", name, self._product(True), variable, first, last)

    def _lower_limit(self) -> tuple[Tree, Tree]:
        """The equation in a subscript."""
        if self.kinds[self.at] != "_" or self.kinds[self.at + 1] != "{":
            raise UndecidedError if self.kinds[self.at] == "^" else LatexError
        end = self.pair[self.at + 1]
        self.at += 2
        variable = self.expression()
        if self.kinds[self.at] not in ("=", "==") or self.kinds[end] != "}":
            raise LatexError
        first = self.expression_in(self.at + 1, end)
        self.at = end + 1
        return variable, first

    def _function_of_many(self, name: str, above: Tree | None) -> Tree:
        if self.kinds[self.at] != "(":
            raise LatexError
        start, end = self.at + 1, self.pair[self.at]
        self._comma_separated(start, end)
        if self.kinds[end] != ")":
            raise LatexError
        self.at = end + 1
        return ("function of many", name, "".join(self.texts[start:end]), above)

    def _matrix(self) -> Tree:
        kind, end = self.kinds[self.at], self.pair[self.at]
        if self.kinds[end] != MATRICES[kind]:
            raise LatexError
        rows: list[list[Tree]] = []
        while not rows or (self.kinds[self.at] == r"\\" and self.at + 1 != end):
            self.at += 1
            rows.append([self.expression()])
            while self.kinds[self.at] == "&":
                self.at += 1
                rows[-1].append(self.expression())
        if self.kinds[self.at] == r"\\":
            self.at += 1
        if self.at != end:
            raise LatexError
        self.at += 1
        return ("matrix", rows)


class AnswerParser(ExpressionParser):
    """Recursive descent over spans of tokens, down to expressions.

    The grammar's alternatives, in its order: something that equals, or is in, a list (`x = 1, 2`);
    a list of anything (`x = 1, y = 2`); operations on sets. What stands in brackets is an interval
    first, then a tuple or a set, and an expression last. A span of tokens between commas or
    brackets can be one thing only, so each is tried on its own.
    """

    def answer(self) -> Tree:
        """The tree of the whole text."""
        top = self.top_indices(0, self.end)
        if not SETS_ALONE.isdisjoint(self.kinds[index] for index in top):
            return self._set_relation(0, self.end)
        relations = [index for index in top if self.kinds[index] in RELATIONS]
        if len(relations) == 1 and self.kinds[relations[0]] in ("=", "in"):
            try:
                left = self._symbols(0, relations[0])
                return ("is", left, self._rows(relations[0] + 1, self.end, related=False))
            except LatexError:
                pass
        try:
            return ("elements", self._rows(0, self.end))
        except LatexError:
            return self._set_relation(0, self.end)

    def _symbols(self, start: int, end: int) -> Tree:
        """One symbol, or some in parentheses."""
        self.at = start
        if self.kinds[start] != "(":
            symbols = [self._symbol()]
        else:
            symbols = []
            while self.at == start or self.kinds[self.at] == ",":
                self.at += 1
                symbols.append(self._symbol())
            if self.kinds[self.at] != ")":
                raise LatexError
            self.at += 1
        if self.at != end:
            raise LatexError
        return ("symbols", symbols)

    def _symbol(self) -> Tree:
        if self.kinds[self.at] != "symbol":
            raise LatexError
        return self.symbol()

    def _rows(self, start: int, end: int, related: bool = True) -> list[list[Tree]]:
        """Elements between commas, in rows between semicolons."""
        rows: list[list[Tree]] = [[]]
        first = start
        for index in [*self.top_indices(start, end), end]:
            if index == end or self.kinds[index] in (",", ";"):
                rows[-1].append(self._element(first, index, related))
                first = index + 1
                if index < end and self.kinds[index] == ";":
                    rows.append([])
        return rows

    def _element(self, start: int, end: int, related: bool) -> Tree:
        """With `related`, relations are elements too."""
        if start == end:
            raise LatexError
        top = self.top_indices(start, end)
        kinds = [self.kinds[index] for index in top]
        if "plus-minus" in kinds:
            sign = top[kinds.index("plus-minus")]
            left = self.expression_in(start, sign) if sign > start else None
            return ("plus-minus", left, self.expression_in(sign + 1, end))
        if len(top) == 1:
            try:
                return self._set_atom(start, end)
            except LatexError:
                return self.expression_in(start, end)
        signs = [index for index in top if self.kinds[index] in RELATIONS]
        if signs and not related:
            raise LatexError
        ends = [*signs, end]
        tree = self.expression_in(start, ends[0])
        for sign, until in pairwise(ends):
            tree = ("relation", self.kinds[sign], tree, self.expression_in(sign + 1, until))
        if "in" in kinds:
            raise UndecidedError
        return tree

    def _set_atom(self, start: int, end: int) -> Tree:
        """What is a set, a tuple or an interval as it stands."""
        opening, closing = self.kinds[start], self.kinds[end - 1]
        if end == start + 1:
            if opening in ("set", "empty"):
                return (opening, self.texts[start])
            raise LatexError
        if self.pair.get(start) != end - 1:
            raise LatexError
        inside = self.top_level(start + 1, end - 1)
        if opening in ENDS and closing in ENDS.values() and inside.count(",") == 1:
            try:
                return self._interval(start, end)
            except LatexError:
                pass
        if TUPLES.get(opening) == closing:
            return ("tuple", self._rows(start + 1, end - 1))
        if (opening, closing) == ("{", "}") and not inside:
            return ("empty", "{}")
        if SETS.get(opening) == closing:
            return ("finite set", self._rows(start + 1, end - 1))
        raise LatexError

    def _interval(self, start: int, end: int) -> Tree:
        self.at = start + 1
        low = self.expression()
        if self.kinds[self.at] != ",":
            raise LatexError
        high = self.expression_in(self.at + 1, end - 1)
        return ("interval", low, high, *(self.kinds[at] in OPEN_ENDS for at in (start, end - 1)))

    def _set_relation(self, start: int, end: int) -> Tree:
        """Something that is in, or equals, what operations on sets give; or those alone."""
        for index in self.top_indices(start, end):
            if self.kinds[index] in ("in", "notin", "="):
                left = self._symbols(start, index)
                return ("set is", self.kinds[index], left, self._set_relation(index + 1, end))
        return self._set_operation(start, end, SET_OPERATIONS)

    def _set_operation(self, start: int, end: int, operations: tuple[str, ...]) -> Tree:
        if not operations:
            return self._set_group(start, end)
        operation, *tighter = operations
        signs = [at for at in self.top_indices(start, end) if self.kinds[at] == operation]
        tree: Tree = ()
        for first, until in zip([start, *(at + 1 for at in signs)], [*signs, end], strict=True):
            part = self._set_operation(first, until, tuple(tighter))
            tree = (operation, tree, part) if tree else part
        return tree

    def _set_group(self, start: int, end: int) -> Tree:
        if start >= end:
            raise LatexError
        if (self.kinds[start], self.kinds[end - 1]) == ("(", ")") and self.pair[start] == end - 1:
            try:
                return self._set_operation(start + 1, end - 1, SET_OPERATIONS)
            except LatexError:
                pass
        return self._set_atom(start, end)


def _symbol(name: str, scripts: dict[str, Script]) -> Tree:
    below, above = scripts.get("_"), scripts.get("^")
    return ("symbol", name, below.text if below else "", above.tree if above else None)
