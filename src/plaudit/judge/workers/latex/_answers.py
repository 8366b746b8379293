r"""Tokens -> the tree of an answer: expressions, relations, lists, sets, tuples, intervals.

The grammar's alternatives, in its order: something that equals, or is in, a list (`x = 1, 2`); a
list of anything (`x = 1, y = 2`); operations on sets. What stands in brackets is an interval first,
then a tuple or a set, and an expression last. A span of tokens between commas or brackets can be
one thing only, so each is tried on its own.
"""

from itertools import pairwise

from plaudit.judge.workers.latex._brackets import RELATIONS
from plaudit.judge.workers.latex._expressions import ExpressionParser, Tree
from plaudit.judge.workers.latex._tokens import LatexError, UndecidedError

SET_OPERATIONS = ("setminus", "union", "intersection")  # what binds less comes first
SETS_ALONE = {*SET_OPERATIONS, "notin"}
ENDS = {"(": ")", "[": "]", r"\(": r"\)", r"\lbrack": r"\rbrack", r"\lgroup": r"\rgroup"}
OPEN_ENDS = {"(", ")", r"\(", r"\)", r"\lgroup", r"\rgroup"}
TUPLES = {"(": ")", "[": "]", r"\(": r"\)"}
SETS = {"{": "}", r"\{": r"\}"}


class AnswerParser(ExpressionParser):
    """Recursive descent over spans of tokens, down to expressions."""

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
