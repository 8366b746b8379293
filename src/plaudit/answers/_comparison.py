r"""The tree of a gold and the tree of an answer: are they equal, and by which rule?

The kind of the gold selects the comparer. Numbers, expressions, equations and sets have modules of
their own; lists, tuples, vectors and matrices are compared here, element by element.
"""

from collections.abc import Callable
from fractions import Fraction

from plaudit.answers._equations import either_equation, is_identity, same_congruence, same_equation
from plaudit.answers._expressions import same_expression, same_members
from plaudit.answers._intervals import same_set
from plaudit.answers._numbers import same_number, unsolved
from plaudit.answers._quantities import as_temperatures, same_quantity, with_unit_letter
from plaudit.answers._rules import (
    SAME,
    Decision,
    Rules,
    deciding,
    different,
    equal,
    says_interval,
    says_interval_or_pair,
)
from plaudit.answers._tree import (
    EMPTY,
    NO_NUMBER,
    Node,
    are_equations,
    as_matrix,
    as_vector,
    elements,
    elements_of_equation,
    is_letter,
    is_name,
    letters,
    named_values,
    names_agree,
    names_differ,
    number,
    ops,
    order_of,
    renamed,
    simplified,
    symbol,
    terms,
    walk,
    with_argument,
    with_binomial,
    with_letter_i,
    with_product_of_letters,
    without_name,
    without_unit,
)
from plaudit.answers._values import UndefinedError, exact, spend
from plaudit.judge import Status

_CHAIN = frozenset(["=", r"\approx"])
_PLAIN = ("num", "dec")
_INTERVAL_WORDS = ("interval", "domain", "range of", "inequalit", "values of", "monoton")


def compare(
    gold: Node, answer: Node, rules: Rules, integers: frozenset[str] = frozenset()
) -> Decision:
    """Decide whether an answer is right by a gold.

    integers: the letters that run over the integers
    """
    try:
        comparer = _Comparer(rules, integers)
        if gold.op in _PLAIN and answer.op in _PLAIN:
            return SAME if gold == answer else comparer.number(gold, answer)
        return comparer.compare(gold, answer)
    except UndefinedError as error:
        return Decision(Status.UNDECIDED, f"no value: {error}")


class _Comparer:
    def __init__(self, rules: Rules, integers: frozenset[str], nested: bool = False) -> None:
        self.rules, self.integers, self.nested = rules, integers, nested

    def inside(self) -> "_Comparer":
        """The comparison of elements, in which a calculation need not be carried out."""
        return _Comparer(self.rules, self.integers, nested=True)

    def compare(self, gold: Node, answer: Node) -> Decision:
        spend(20 + 2 * sum(1 for side in (gold, answer) for _ in walk(side)))
        gold, answer = simplified(gold), simplified(with_binomial(gold, answer))
        if gold == answer:
            return SAME
        return _COMPARERS[_comparer_kind(gold, answer, self.rules)](self, gold, answer)

    # -- one value

    def _value(self, gold: Node, answer: Node) -> Decision:
        if answer.op == "rel" and set(answer.val) <= _CHAIN:
            return self._chain(gold, answer)
        if answer.op == "rel":
            return different("a relation, where the gold is a value")
        items = elements(answer)
        if items is not None:
            if self.nested and answer.op == "set":
                return different("a set, where the gold is a value")
            if len(items) == 1:
                return self.compare(gold, items[0])
            family = self._family([gold], items)
            return self._several(gold, items) if family is None else family
        for op, comparer in _VALUE_COMPARERS.items():
            if op in (gold.op, answer.op):
                return comparer(self, gold, answer)
        vector = unit_vector(gold)
        if vector is not None and answer.op in ("tuple", "matrix"):
            return self._tuple(vector, answer)
        if answer.op in NO_NUMBER:
            return different(f"a {answer.op}, where the gold is a value")
        if letters(gold) and answer.op == "unit":
            gold = with_unit_letter(gold)
        if letters(answer) and not letters(gold):
            answer = with_unit_letter(answer)
        elif letters(answer):
            gold, answer = as_temperatures(gold, answer)
        if letters(gold) or letters(answer):
            return self._expression(gold, answer)
        return self.number(gold, answer)

    def _base(self, gold: Node, answer: Node) -> Decision:
        return different("another base" if answer.op == gold.op else "a base on one side only")

    def _number_set(self, gold: Node, answer: Node) -> Decision:
        return different("a set of numbers")

    def _several(self, gold: Node, items: list[Node]) -> Decision:
        found = [self.inside().compare(gold, item) for item in items]
        if all(result.equal for result in found):
            return deciding(found)
        return Decision(Status.SEVERAL, "more than one answer")

    def number(self, gold: Node, answer: Node) -> Decision:
        if gold.op in _PLAIN and answer.op in _PLAIN:
            same, decided_by = same_number(gold, answer, self.rules)
            return equal(decided_by) if same else different(decided_by)
        left = unsolved(answer) - unsolved(gold)
        restated = bool(left) and not self.nested and not self.rules.unsolved
        said = Decision(Status.UNSOLVED, f"not carried out: {', '.join(sorted(left))}")
        try:
            same, decided_by = same_quantity(gold, answer, self.rules)
        except UndefinedError:
            if restated:
                return said
            raise
        if not same:
            return different(decided_by)
        return said if restated else equal(decided_by)

    def _expression(self, gold: Node, answer: Node) -> Decision:
        mine, yours = without_unit(gold), without_unit(answer)
        if mine.op == "unit" or yours.op == "unit":
            return different("their units")
        return same_expression(mine, yours, self.integers)

    def _chain(self, gold: Node, answer: Node) -> Decision:
        """A chain of equal things is one answer if each of its members is the gold."""
        members = list(answer.args)
        while len(members) > 1 and is_name(members[0]) and members[0] != gold:
            members = members[1:]
        if len(members) == 1:
            return self.compare(gold, members[0])
        if len(members) == 2 and letters(members[0]) and letters(gold) and not letters(members[1]):
            return different("an equation, where the gold is a value")
        found = [self.compare(gold, member) for member in members]
        loose = [result.equal or result.status is Status.UNSOLVED for result in found]
        if all(loose) and any(result.equal for result in found):
            solved = all(result.equal for result in found)
            return deciding(found) if solved else equal("the result of the calculation")
        if all(loose):
            return found[-1]
        if any(loose):
            if self._same_chain(gold, members, found):
                return deciding(found)
            return Decision(Status.SEVERAL, "a chain of unequal things")
        return found[-1] if found else different("a chain")

    def _same_chain(self, gold: Node, members: list[Node], found: list[Decision]) -> bool:
        """Whether the members that are not the gold equal one that is."""
        right = [member for member, result in zip(members, found, strict=True) if result.equal]
        return bool(right) and all(
            result.equal or any(self.inside().compare(member, one).equal for one in right)
            for member, result in zip(members, found, strict=True)
        )

    # -- equations

    def _relation(self, gold: Node, answer: Node) -> Decision:
        value = without_name(gold)
        if value.op == "rel":
            if value == gold and letters(gold) and not is_identity(gold):
                return self._equation(gold, answer)
            return self._gold_chain(value, answer)
        if letters(value) and "pm" in ops(value) and any(p.op == "rel" for p in walk(answer)):
            found = self._equation(gold, answer)
            if found.equal:
                return found
        if not letters(value) or not is_letter(gold.args[0]) or elements(value) is not None:
            return self._named(gold, value, answer)
        return self._named_expression(gold, value, answer)

    def _gold_chain(self, gold: Node, answer: Node) -> Decision:
        """A gold such as 31031/7776 \\approx 3.99: its first member is the exact one."""
        values = [member for member in gold.args if not is_name(member)]
        if not values:  # a = b = c
            return self._equation(gold, answer)
        found = [self.compare(member, answer) for member in values]
        return next((result for result in found if result.equal), found[0])

    def _named(self, gold: Node, value: Node, answer: Node) -> Decision:
        """x = 5 takes 5 and x = 5; if both have names, x = 5 does not take y = 5."""
        other = without_name(answer)
        if other is not answer and is_letter(gold.args[0]) and is_letter(answer.args[0]):
            names = gold.args[0].val, answer.args[0].val
            if names[0] != names[1] and set(names) <= {"x", "y", "z"}:
                return different("another letter")
        if other is answer and answer.op == "rel" and letters(answer) == letters(gold):
            return self._equation(gold, answer)
        return self.compare(value, answer)

    def _named_expression(self, gold: Node, value: Node, answer: Node) -> Decision:
        found = elements(answer)
        if found is not None and len(found) > 1:
            return self._family([value], found) or self._several(gold, found)
        if answer.op != "rel":
            return self.compare(value, answer)
        if not set(answer.val) <= _CHAIN:
            return different("a relation of another kind")
        other = without_name(answer)
        if other is not answer and other.op != "rel":
            same = self.compare(value, with_argument(other, answer.args[0], gold.args[0]))
            if same.equal and names_agree(gold.args[0], answer.args[0]):
                return same
        return self._equation(gold, answer)

    def _equation(self, gold: Node, answer: Node) -> Decision:
        branches = elements_of_equation(gold)
        others = elements_of_equation(answer)
        if len(branches) > 1 or len(others) > 1:
            if len(branches) == 1 and (either := either_equation(answer, others)) is not None:
                return same_equation(gold, either)
            if len(branches) != len(others):
                return different("the number of their equations")
            return self.inside()._matched(branches, others)
        if answer.op not in NO_NUMBER and "y" in letters(gold) - letters(answer):
            answer = Node("rel", (symbol("y"), answer), ("=",))
        if answer.op != "rel" or set(answer.val) - {"="} or set(gold.val) - {"="}:
            if answer.op == "list":
                return Decision(Status.SEVERAL, "more than one answer")
            return different("an answer that is no equation")
        if any(part.op in NO_NUMBER for part in walk(answer) if part is not answer):
            return different("an answer that is no equation")
        return same_equation(
            with_product_of_letters(gold, answer), with_product_of_letters(answer, gold)
        )

    # -- sets, lists, tuples, matrices

    def _congruence(self, gold: Node, answer: Node) -> Decision:
        return same_congruence(gold, answer)

    def _interval(self, gold: Node, answer: Node) -> Decision:
        same = same_set(gold, answer)
        if same is not None:
            return equal("the same set") if same else different("what the sets hold")
        if says_interval_or_pair(answer):
            return Decision(Status.UNDECIDED, "a set that cannot be read")
        return different("an answer that is no set")

    def _empty(self, gold: Node, answer: Node) -> Decision:
        for one, other in ((gold, answer), (answer, gold)):
            if one.op == "empty" and other in (EMPTY, Node("set")):
                return equal("the empty set")
        if answer.op == "list" and EMPTY in answer.args:
            return Decision(Status.SEVERAL, "more than one answer")
        return different("the empty set on one side only")

    def _ratio(self, gold: Node, answer: Node) -> Decision:
        if gold.op != "ratio" and len(answer.args) == 2 and "to" not in answer.val:
            return self.inside()._value(gold, Node("div", answer.args))
        mine, yours = terms(gold), terms(answer)
        if answer.op == "ratio" and "to" in answer.val and gold.op != "ratio":
            return Decision(Status.SEVERAL, "a range")
        if mine is None or yours is None or len(mine) != len(yours):
            return different("the number of their terms")
        for left, right in zip(mine[1:], yours[1:], strict=True):
            one, other = Node("mul", (left, yours[0])), Node("mul", (mine[0], right))
            if len(mine) == 2:
                one, other = Node("div", (mine[0], left)), Node("div", (yours[0], right))
            if not self.inside()._value(one, other).equal:
                return different("their terms")
        return equal("the same ratio")

    def _matrix(self, gold: Node, answer: Node) -> Decision:
        vector = as_vector(gold)
        answer = without_name(answer)
        answer = as_matrix(answer) or answer
        if answer.op != "matrix":
            if vector is None:
                return different("an answer that is no matrix")
            return self._tuple(vector, answer)
        column = all(len(row.args) == 1 for row in gold.args)
        other = as_vector(answer)
        if column and vector is not None and other is not None:
            return self._ordered(list(vector.args), list(other.args))
        mine = [entry for row in gold.args for entry in row.args]
        yours = [entry for row in answer.args for entry in row.args]
        if len(gold.args) != len(answer.args) or len(mine) != len(yours):
            return different("their shapes")
        return self._ordered(mine, yours)

    def _tuple(self, gold: Node, answer: Node) -> Decision:
        answer = simplified(without_name(answer))
        answer = as_vector(answer) or unit_vector(answer) or answer
        if answer.op == "tuple":
            return self._ordered(list(gold.args), list(answer.args))
        if answer.op == "list":
            values = named_values(list(answer.args))
            if values is not None:
                order = order_of(values, self.rules.question)
                return self._ordered(list(gold.args), [values[name] for name in order])
            if all(item.op == "tuple" for item in answer.args):
                return Decision(Status.SEVERAL, "more than one answer")
            return self._ordered(list(gold.args), [without_name(item) for item in answer.args])
        items = elements(answer)
        if items is not None and len(items) > 1 and answer.op != "set":
            return Decision(Status.SEVERAL, "more than one answer")
        if items is not None and len(items) == 1:
            return self._tuple(gold, items[0])
        return different("an answer that is no tuple")

    def _ordered(self, mine: list[Node], yours: list[Node]) -> Decision:
        if len(mine) != len(yours):
            return different("the number of their entries")
        found = [self.inside().compare(g, a) for g, a in zip(mine, yours, strict=True)]
        if not found:
            return equal("nothing on both sides")
        return next((result for result in found if not result.equal), None) or deciding(found)

    def _list(self, gold: Node, answer: Node) -> Decision:
        if self.nested and gold.op == "set" and answer.op not in ("set", "list", "rel"):
            return different("a value, where the gold is a set")
        items = elements(gold) or []
        values = named_values(items)
        stripped = simplified(without_name(answer))
        stripped = as_vector(stripped) or stripped
        if stripped.op == "tuple" and not all(item.op == "tuple" for item in items):
            if stripped.val == "[]" and len(stripped.args) > 2:
                return self.inside()._matched(items, list(stripped.args))
            if gold.op == "set":
                return different("a tuple, where the gold is a set")
            return self._ordered([without_name(item) for item in items], list(stripped.args))
        others = elements(answer)
        if others is None:
            others = list(stripped.args) if stripped.op == "list" else [answer]
        their = named_values(others)
        if values is not None and their is not None and set(values) == set(their):
            return self._ordered(
                [values[name] for name in values], [their[name] for name in values]
            )
        if values is None and len(items) > 0 and not are_equations(items):
            others = [without_name(item) for item in others]
        if values is not None:
            items = [without_name(item) for item in items]
            others = [without_name(item) for item in others]
            if their is None and names_differ(values):
                return self._ordered(items, others)
        return self._family(items, others) or self.inside()._matched(items, others)

    def _family(self, items: list[Node], others: list[Node]) -> Decision | None:
        """Whether families of values, over all integers, have the same members."""
        same = same_members(
            [without_name(i) for i in items], [without_name(o) for o in others], self.integers
        )
        if same is None:
            return None
        return equal("the members of both families") if same else different("their members")

    def _matched(self, items: list[Node], others: list[Node]) -> Decision:
        """Whether each element of one is one of the other, in any order."""
        if len(items) != len(others):
            return different("the number of their elements")
        left = list(others)
        undecided: Decision | None = None
        for item in items:
            for index, other in enumerate(left):
                found = self.compare(item, other)
                if found.equal:
                    del left[index]
                    break
                if found.status is Status.UNDECIDED:
                    undecided = found
            else:
                return undecided or different("an element that only one of them has")
        return equal("each element")


# The comparer for each kind of gold.
_COMPARERS: dict[str, Callable[[_Comparer, Node, Node], Decision]] = {
    "equation": _Comparer._relation,
    "congruence": _Comparer._congruence,
    "interval": _Comparer._interval,
    "empty": _Comparer._empty,
    "matrix": _Comparer._matrix,
    "tuple": _Comparer._tuple,
    "list": _Comparer._list,
    "value": _Comparer._value,
}
# The comparer for values that are written in a special way, on either side.
_VALUE_COMPARERS: dict[str, Callable[[_Comparer, Node, Node], Decision]] = {
    "base": _Comparer._base,
    "numbers": _Comparer._number_set,
    "ratio": _Comparer._ratio,
}


def _comparer_kind(gold: Node, answer: Node, rules: Rules) -> str:
    """The kind of a gold for `_COMPARERS`: coarser than `kind_of`, and `x = 5` is an equation."""
    if gold.op == "rel" and set(gold.val) <= _CHAIN:
        return "equation"
    if gold.op == "rel" and gold.val == (r"\equiv",):
        return "congruence"
    if _is_set(gold, answer, rules):
        return "interval"
    if "empty" in (gold.op, answer.op):
        return "empty"
    if gold.op == "matrix":
        return "matrix"
    if gold.op == "tuple" and "pm" not in ops(gold):
        return "tuple"
    return "value" if elements(gold) is None else "list"


def _is_set(gold: Node, answer: Node, rules: Rules) -> bool:
    if says_interval(gold):
        return True
    if not says_interval_or_pair(gold) or gold.op == "set":
        return False
    if rules.kind == "interval" or says_interval(answer):
        return True
    question = rules.question.lower()
    return (
        rules.kind is None
        and any(word in question for word in _INTERVAL_WORDS)
        and (answer.op == "tuple" and answer.val != gold.val)
    )


# -- Vectors in i, j and k


def unit_vector(node: Node) -> Node | None:
    r"""The tuple of the factors of i, j and k; None if it is not a sum of these."""
    names = letters(node)
    if "j" not in names or not names <= {"j", "k"} or node.op not in ("add", "neg", "mul"):
        return None
    free = with_letter_i(node)
    axes = ["i", "j", "k"] if "k" in names else ["i", "j"]
    if _at(free, dict.fromkeys(axes, 0)) != 0:
        return None
    parts = [_at(free, {name: int(name == axis) for name in axes}) for axis in axes]
    if any(part is None for part in parts):
        return None
    twice = _at(free, dict.fromkeys(axes, 2))
    known = [part for part in parts if part is not None]
    if twice != 2 * sum(known, Fraction(0)):
        return None
    return Node("tuple", tuple(number(part) for part in known), "()")


def _at(node: Node, values: dict[str, int]) -> Fraction | None:
    return exact(renamed(node, {name: number(value) for name, value in values.items()}))
