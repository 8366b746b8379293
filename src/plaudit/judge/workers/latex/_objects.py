"""A text -> the sympy object that latex2sympy2 makes of it: the objects of its tree, put together.

As with the values that they are made of, the operations are latex2sympy2's, in its order.
"""

from typing import Any

import sympy
from latex2sympy2_extended.latex2sympy2 import (
    comma_number_regex,
    convert_number,
    is_expr_of_only_symbols,
)
from latex2sympy2_extended.logic import And
from latex2sympy2_extended.sets import FiniteSet
from sympy.core.relational import Relational

from plaudit.judge.workers.latex._answers import AnswerParser
from plaudit.judge.workers.latex._expressions import Tree
from plaudit.judge.workers.latex._tokens import LatexError, UndecidedError
from plaudit.judge.workers.latex._values import Values, is_matrix

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


class Objects(Values):
    """Makes objects of answers: relations, lists, sets, tuples and intervals of values."""

    def of_text(self, text: str) -> Any:
        """The object of a text, or of a function's argument as text."""
        try:
            kind, *parts = AnswerParser(text).answer()
        except (LatexError, UndecidedError):
            raise
        except Exception as error:  # a fault of the reader's, not of the text
            raise UndecidedError from error
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
